/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/lustre.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/region.h"

#define COMPONENTS_MAX 1024 /* more than Lustre allows */
#define COMPONENT_BYTES (7 * 8 + 16)
#define STRIPES_MAX (1 << 20)

static void keep_stripes(struct map *map, uint64_t id, int64_t bytes, int64_t count)
{
	struct stripes *stripes;

	if (!id || bytes <= 0 || count <= 0 || bytes > (int64_t)HEAD_COUNT_MAX ||
	    map->count >= IMPORT_ROWS_MAX)
		return;
	stripes = map_get(map, id);
	if (!stripes) {
		stripes = xcalloc(1, sizeof(*stripes));
		map_put(map, id, stripes);
	}
	*stripes = (struct stripes){ bytes, count };
}

/* Version 1: id, rank, OSTs, MDTs, first OST, stripe size, stripe count, numbers of the OSTs. */
static int read_simple(struct import *import, struct region *region, struct map *map,
		       struct err *err)
{
	unsigned char bytes[7 * 8];
	int64_t count;
	int r = region_read(region, bytes, sizeof(bytes), err);

	if (r <= 0)
		return r;
	count = (int64_t)darshan_word(&import->log, bytes + 6 * 8);
	if (count < 0 || count > STRIPES_MAX)
		return err_set(err, EBADMSG, "a file has %lld stripes", (long long)count);
	keep_stripes(map, darshan_word(&import->log, bytes),
		     (int64_t)darshan_word(&import->log, bytes + 5 * 8), count);
	return region_skip(region, (uint64_t)count * 8, err);
}

/* Version 2: id, rank, numbers of components and of stripes, components, numbers of the OSTs. */
static int read_composite(struct import *import, struct region *region, struct map *map,
			  struct err *err)
{
	unsigned char bytes[4 * 8], component[COMPONENT_BYTES];
	int64_t components, stripes;
	int r = region_read(region, bytes, sizeof(bytes), err);

	if (r <= 0)
		return r;
	components = (int64_t)darshan_word(&import->log, bytes + 2 * 8);
	stripes = (int64_t)darshan_word(&import->log, bytes + 3 * 8);
	if (components < 0 || components > COMPONENTS_MAX || stripes < 0 || stripes > STRIPES_MAX)
		return err_set(err, EBADMSG, "a file has %lld components of %lld stripes",
			       (long long)components, (long long)stripes);
	for (int64_t i = 0; i < components; i++) {
		r = region_read(region, component, sizeof(component), err);
		if (r <= 0)
			return r ? r : err_set(err, EBADMSG, "a record is incomplete");
		keep_stripes(map, darshan_word(&import->log, bytes),
			     (int64_t)darshan_word(&import->log, component),
			     (int64_t)darshan_word(&import->log, component + 8));
	}
	return region_skip(region, (uint64_t)stripes * 8, err);
}

void lustre_read(struct import *import, struct map *stripes)
{
	struct err err;
	struct region *region;
	int r;

	if (!darshan_log_has(&import->log, DARSHAN_LUSTRE))
		return;
	region = darshan_log_module(&import->log, DARSHAN_LUSTRE, &err);
	r = region ? 1 : -EBADMSG;
	while (r > 0)
		r = import->log.modules[DARSHAN_LUSTRE].version == 1
			    ? read_simple(import, region, stripes, &err)
			    : read_composite(import, region, stripes, &err);
	region_close(region);
	if (r < 0)
		import_damaged(import, DARSHAN_LUSTRE, &err);
}

void stripes_release(struct map *stripes)
{
	for (size_t i = 0; i < stripes->cap; i++)
		free(stripes->entries[i].value);
	map_release(stripes);
}
