/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many calls of each process were fast or slow since a reasoner last asked, for plug-ins that
 * grade calls. A zeroed tempo is empty.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_TEMPO_H
#define SLUICE_OBSERVE_PLUGINS_TEMPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct sluice_health;

struct tempo {
	struct map processes; /* struct sluice_health by process + 1 */
};

/* speed is an index of the counts of struct sluice_health. */
void tempo_count(struct tempo *tempo, uint32_t process, int speed, int64_t excess_ns);

/* Adds what was counted for the process to *health, and forgets it. False: nothing was. */
bool tempo_take(struct tempo *tempo, uint32_t process, struct sluice_health *health);

void tempo_release(struct tempo *tempo);

#endif
