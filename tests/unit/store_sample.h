/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A store in a directory of its own, which goes with it.
 */
#ifndef SLUICE_TESTS_STORE_SAMPLE_H
#define SLUICE_TESTS_STORE_SAMPLE_H

#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "store/store.h"

struct sample {
	char directory[64];
	char *path; /* of the store, which need not be there yet */
};

static inline void sample_make(struct sample *sample)
{
	strcpy(sample->directory, "/tmp/sluice-store.XXXXXX");
	REQUIRE(mkdtemp(sample->directory));
	sample->path = xprintf("%s/folder/store.db", sample->directory);
}

static inline struct store *sample_open(const struct sample *sample)
{
	struct store *store = NULL;
	struct err err = { 0 };

	if (store_open(&store, sample->path, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(store);
	return store;
}

static inline void sample_remove(struct sample *sample)
{
	AUTO_FREE char *command = xprintf("rm -rf '%s'", sample->directory);

	CHECK(system(command) == 0);
	free(sample->path);
}

#endif
