/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-10.
 */
#include "predict/model/machine.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "params/striping.h"
#include "predict/describe.h"
#include "predict/model/stripes.h"

/* MPICH's default of cb_buffer_size. */
#define DEFAULT_BUFFER_BYTES (16 << 20)

#define FIELD(name) offsetof(struct machine, name)

/* The ranges keep products of counts within 64 bits. */
static const struct describe_row rows[] = {
	{ "romio", "list_messages", DESCRIBE_WHOLE, 0, 1, 2, FIELD(list_messages) },
	{ "nodes", "cores", DESCRIBE_WHOLE, 1, 1, 1e5, FIELD(cores) },
	{ "forwarding", "bridges", DESCRIBE_WHOLE, 0, 1, 1e3, FIELD(bridges) },
	{ "forwarding", "bridge_nodes", DESCRIBE_WHOLE, 0, 1, 1e6, FIELD(bridge_nodes) },
	{ "forwarding", "pset_nodes", DESCRIBE_WHOLE, 0, 1, 1e6, FIELD(pset_nodes) },
	{ "storage", "cache", DESCRIBE_SIZE, 0, 0, 1e12, FIELD(cache_bytes) },
	{ "storage", "block", DESCRIBE_SIZE, 1, 1, 1e12, FIELD(block_bytes) },
	{ "storage", "stripes", DESCRIBE_WHOLE, 0, 1, STRIPES_MOST, FIELD(file_stripes) },
	{ "storage", "stripe", DESCRIBE_SIZE, 0, 1, 2147483647, FIELD(file_stripe_bytes) },
	{ "defaults", "aggregators", DESCRIBE_WHOLE, 0, 1, 1e6, FIELD(aggregators) },
	{ "defaults", "node_aggregators", DESCRIBE_WHOLE, 0, 1, 1e5, FIELD(node_aggregators) },
	{ "defaults", "cb_buffer_size", DESCRIBE_SIZE, 1, 1, 2147483647, FIELD(buffer_bytes) },
	{ "defaults", "striping_factor", DESCRIBE_WHOLE, 0, 1, 1e6, FIELD(stripes) },
	{ "defaults", "striping_unit", DESCRIBE_SIZE, 0, 1, 2147483647, FIELD(stripe_bytes) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The machine while it is being read; it is copied to the caller once it is valid. */
struct reading {
	struct machine machine; /* must be the first member: rows hold offsets into it */
	bool has_romio;
};

static void set_text(struct describe *d, char *to, size_t cap, const char *key, const char *text)
{
	if (*to)
		describe_complain(d, "%s is given twice", key);
	else if (!*text)
		describe_complain(d, "%s is empty", key);
	else if (*text == ';') /* machine_write() would turn it into a comment */
		describe_complain(d, "%s must not begin with ';'", key);
	else if (strlen(text) >= cap)
		describe_complain(d, "%s is longer than %zu bytes", key, cap - 1);
	else
		memcpy(to, text, strlen(text) + 1);
}

static void set_romio(struct describe *d, struct reading *reading, const char *text)
{
	int romio = option_choice(ROMIO_WORDS, text, strlen(text));

	if (reading->has_romio)
		describe_complain(d, "romio is given twice");
	else if (romio < 0)
		describe_complain(d, "romio is '%s'; expected one of " ROMIO_WORDS, text);
	else
		reading->machine.romio = (enum romio)romio;
	reading->has_romio = true;
}

static bool take_machine_key(struct describe *d, const char *section, const char *key,
			     const char *text)
{
	struct reading *reading = d->into;
	struct machine *machine = &reading->machine;

	if (strcmp(section, "machine") != 0)
		return false;
	if (strcmp(key, "name") == 0)
		set_text(d, machine->name, sizeof(machine->name), key, text);
	else if (strcmp(key, "title") == 0)
		set_text(d, machine->title, sizeof(machine->title), key, text);
	else if (strcmp(key, "romio") == 0)
		set_romio(d, reading, text);
	else
		describe_complain(d, "unknown key '%s' in [machine]; expected name, title or romio",
				  key);
	return true;
}

static int report_missing(struct describe *d, const char *what, const char *why)
{
	return err_set(&d->err, EINVAL, "%s: %s is missing%s", d->name, what, why);
}

static int check_machine(struct describe *d)
{
	struct reading *reading = d->into;
	struct machine *machine = &reading->machine;
	int r = describe_complete(d, 1);

	if (r < 0)
		return r;
	if (!*machine->name || !reading->has_romio)
		return report_missing(d, *machine->name ? "[machine] romio" : "[machine] name", "");
	if (!machine->bridges != !machine->bridge_nodes)
		return report_missing(
			d, machine->bridges ? "[forwarding] bridge_nodes" : "[forwarding] bridges",
			"; bridges and bridge_nodes belong together");
	if (machine->bridges && !machine->aggregators)
		return report_missing(d, "[defaults] aggregators",
				      "; machines with bridges need a default per pset");
	if (machine->romio == ROMIO_BLUEGENE && !machine->bridges)
		return report_missing(d, "[forwarding] bridges", "; romio = bluegene needs it");
	if (machine->romio == ROMIO_LUSTRE && (!machine->stripes || !machine->stripe_bytes))
		return report_missing(d,
				      machine->stripes ? "[defaults] striping_unit"
						       : "[defaults] striping_factor",
				      "; romio = lustre needs it");
	if (!machine->bridges && !machine->node_aggregators)
		machine->node_aggregators = 1; /* ROMIO's default of cb_config_list is *:1 */
	if (!*machine->title)
		memcpy(machine->title, machine->name, sizeof(machine->name));
	return 0;
}

int machine_read_text(struct machine *machine, const char *name, const char *text, size_t bytes,
		      struct err *err)
{
	struct reading reading = { 0 };
	struct describe d = {
		.name = name, .rows = rows, .row_count = ROWS, .take = take_machine_key
	};

	d.into = &reading;
	d.sections = "machine, romio, nodes, forwarding, storage, defaults and replica";
	d.skipped = "replica";
	if (describe_read(&d, text, bytes) < 0 || check_machine(&d) < 0)
		return err_set(err, d.err.code, "%s", d.err.text);
	*machine = reading.machine;
	return 0;
}

static int load_text(const char *name, char **path, struct buf *text, struct err *err)
{
	static const struct describe_folder folder = { "machines", "SLUICE_MACHINES", "machine",
						       NULL };

	return describe_load(&folder, name, path, text, err);
}

int machine_open(struct machine *machine, const char *name, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *path = NULL;
	int r = load_text(name, &path, &text, err);

	return r < 0 ? r : machine_read_text(machine, path, buf_text(&text), text.len, err);
}

uint64_t machine_cache_bytes(const struct machine *machine, uint64_t nodes)
{
	uint64_t caches = nodes;

	if (machine->pset_nodes)
		caches = (nodes + machine->pset_nodes - 1) / machine->pset_nodes;
	return caches * machine->cache_bytes;
}

static uint64_t physical_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

int machine_detect(struct machine *machine, const char *directory, struct err *err)
{
	struct machine here = { .romio = ROMIO_GENERIC,
				.node_aggregators = 1,
				.buffer_bytes = DEFAULT_BUFFER_BYTES };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct striping striping;
	struct statfs fs;
	struct stat st;
	bool is_memory;

	if (statfs(directory, &fs) < 0 || stat(directory, &st) < 0)
		return err_set(err, errno, "%s: %s", directory, strerror(errno));
	is_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
	here.cores = cores > 0 ? (uint64_t)cores : 1;
	here.cache_bytes = is_memory ? 0 : physical_memory();
	here.block_bytes = (uint64_t)st.st_blksize;
	if (striping_inherited(&striping, directory)) {
		here.file_stripes = striping.count;
		here.file_stripe_bytes = striping.unit;
	}
	if (gethostname(here.name, sizeof(here.name) - 1) < 0 || !*here.name)
		memcpy(here.name, "here", sizeof("here"));
	snprintf(here.title, sizeof(here.title), "%.63s (MPICH's generic code%s)", here.name,
		 is_memory ? ", files in memory" : "");
	*machine = here;
	return 0;
}

/* Rows of the same section are consecutive, so a heading is written when the section changes. */
void machine_write(const struct machine *machine, struct buf *out)
{
	const char *section = "";
	char romio[16];

	option_choice_name(ROMIO_WORDS, machine->romio, romio, sizeof(romio));
	buf_printf(out, "[machine]\nname = %s\ntitle = %s\nromio = %s\n", machine->name,
		   machine->title, romio);
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t value;

		memcpy(&value, (const char *)machine + rows[i].offset, sizeof(value));
		if (!value && rows[i].min > 0)
			continue;
		if (strcmp(section, rows[i].section) != 0)
			buf_printf(out, "\n[%s]\n", rows[i].section);
		section = rows[i].section;
		buf_printf(out, "%s = %lu\n", rows[i].key, value);
	}
}
