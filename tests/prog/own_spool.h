/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For test programs that look at their own spool, or damage it. Without capture they have none.
 */
#ifndef SLUICE_TESTS_PROG_OWN_SPOOL_H
#define SLUICE_TESTS_PROG_OWN_SPOOL_H

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "contract/spool.h"
#include "prog.h"

struct own_spool {
	unsigned char *base; /* NULL: none */
	uint64_t bytes;
	char path[600];
};

static inline void own_spool_map(struct own_spool *spool, const char *path)
{
	int fd = open(path, O_RDWR);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < (off_t)SPOOL_HEADER_BYTES)
		return;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	if (((struct spool_header *)p)->pid == getpid()) {
		spool->base = p;
		spool->bytes = (uint64_t)st.st_size;
		snprintf(spool->path, sizeof(spool->path), "%s", path);
	}
}

/* Maps the spool of this process a second time, as large as it is now. */
static inline void own_spool_find(struct own_spool *spool)
{
	const char *directory = getenv("SLUICE_SPOOL");
	DIR *dir = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	char path[600];

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%.300s/%.200s", directory, entry->d_name);
		if (strstr(entry->d_name, SPOOL_SUFFIX))
			own_spool_map(spool, path);
	}
	if (dir)
		closedir(dir);
}

/* Chunks that threads own, or that they have left and the collector has not emptied yet. */
static inline uint32_t own_spool_used(const struct own_spool *spool)
{
	const struct spool_header *header = (const struct spool_header *)spool->base;
	uint32_t chunks = 0, segments = 0;

	/* First the free chunks: a new segment then counts as used, never as less than nothing. */
	for (unsigned i = 0; i < SPOOL_MAP_WORDS; i++)
		chunks += (uint32_t)__builtin_popcountll(header->free_map[i]);
	for (unsigned i = 0; i < SPOOL_SEGMENTS_MAX / 64; i++)
		segments += (uint32_t)__builtin_popcountll(header->segment_map[i]);
	return SPOOL_FIRST_CHUNKS + (segments - 1) * SPOOL_SEGMENT_CHUNKS - chunks;
}

#endif
