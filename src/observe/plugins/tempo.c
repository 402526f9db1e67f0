/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/tempo.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sluice/plugin.h"

void tempo_count(struct tempo *tempo, uint32_t process, int speed, int64_t excess_ns)
{
	struct sluice_health *health = map_get(&tempo->processes, (uint64_t)process + 1);

	if (!health) {
		health = xcalloc(1, sizeof(*health));
		map_put(&tempo->processes, (uint64_t)process + 1, health);
	}
	health->counts[speed]++;
	health->excess_ns += excess_ns;
}

bool tempo_take(struct tempo *tempo, uint32_t process, struct sluice_health *health)
{
	struct sluice_health *mine = map_remove(&tempo->processes, (uint64_t)process + 1);

	if (!mine)
		return false;
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		health->counts[i] += mine->counts[i];
	health->excess_ns += mine->excess_ns;
	free(mine);
	return true;
}

void tempo_release(struct tempo *tempo)
{
	for (size_t i = 0; i < tempo->processes.cap; i++)
		if (tempo->processes.entries[i].key)
			free(tempo->processes.entries[i].value);
	map_release(&tempo->processes);
}
