/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/layouts.h"

#include "base/buf.h"
#include "base/clock.h"
#include "contract/clock.h"
#include "observe/collect/collector.h"
#include "observe/collect/names.h"
#include "params/striping.h"
#include "trace/format.h"

#define LIMIT_NS NS_PER_S

/* Of a file on CephFS: which objects hold its bytes (observe/chain/storage.h). */
static void put_objects(struct buf *value, const struct striping *striping)
{
	buf_printf(value, ";inode=%llu;stripe_count=%llu;object_size=%llu",
		   (unsigned long long)striping->inode, (unsigned long long)striping->stripe_count,
		   (unsigned long long)striping->object_bytes);
	if (*striping->pool)
		buf_printf(value, ";pool=%s", striping->pool);
}

static void note_striping(struct collector *collector, const char *path,
			  const struct striping *striping)
{
	AUTO_BUF struct buf value = { 0 };
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = (char *)filesystem_name(striping->filesystem),
			     .kind = (char *)NOTE_LAYOUT,
			     .name = (char *)path };

	buf_printf(&value, "striping_factor=%llu;striping_unit=%llu",
		   (unsigned long long)striping->count, (unsigned long long)striping->unit);
	if (striping->set_bytes)
		buf_printf(&value, ";set_stripes=%llu;set_bytes=%llu",
			   (unsigned long long)striping->set_count,
			   (unsigned long long)striping->set_bytes);
	if (striping->inode)
		put_objects(&value, striping);
	note.value = (char *)buf_text(&value);
	collector_note(collector, &note);
}

void layouts_note(struct collector *collector)
{
	uint64_t until = clock_monotonic_ns() + LIMIT_NS;
	const struct names *names;

	collector_poll(collector); /* the last calls may have opened further files */
	names = collector_names(collector);
	for (file_id id = 1; id <= names->count && clock_monotonic_ns() < until; id++) {
		const char *path = names_text(names, id);
		struct striping striping;

		if (path[0] == '/' && striping_read(&striping, path))
			note_striping(collector, path, &striping);
	}
}
