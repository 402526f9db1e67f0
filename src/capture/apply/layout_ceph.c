/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layouts of CephFS, which are extended attributes of empty files: a stripe consists of
 * stripe_count units, and each unit of a stripe is in another object. When the objects have
 * object_size bytes, the next ones follow, on other servers. On Lustre, a file has as many objects
 * as stripes. To give striping_factor and striping_unit the same meaning, objects become as large
 * as possible (ceph_object_size_like_lustre()).
 *
 * A mount by ceph-fuse has the magic of FUSE; its attributes tell it from other file systems.
 * Papers: H5T-11.
 */
#include "capture/apply/layout_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/apply/inject.h"
#include "capture/apply/placed.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "contract/striping.h"

#define MAGIC_CEPH 0x00C36400u
#define MAGIC_FUSE 0x65735546u

#define CEPH_TEXT_BYTES 256 /* of the value of that attribute */
#define CEPH_POOL_BYTES 64
#define CEPH_STEP 65536u /* all sizes are multiples of it */

/*
 * The default of osd_max_object_size, in bytes. Larger objects fail when they are written, unless
 * the site has raised the limit; if it has, the directory's layout says so.
 */
#define CEPH_OBJECT_BYTES (UINT64_C(128) << 20)

/* A layout; of one that is requested, 0 stands for "as it is". */
struct ceph_layout {
	uint64_t unit, count, object;
	char pool[CEPH_POOL_BYTES]; /* "": unknown */
};

/* What applies where no directory has a layout. */
static const struct ceph_layout ceph_default = { .unit = 4u << 20, .count = 1, .object = 4u << 20 };

/* Finds the value of a field in "stripe_unit=4194304 stripe_count=1 ...", or NULL. */
static const char *ceph_field(const char *text, const char *field)
{
	size_t n = strlen(field);

	for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
		if (!strncmp(text, field, n) && text[n] == '=')
			return text + n + 1;
	return NULL;
}

static bool ceph_read_number(const char *text, const char *field, uint64_t *number)
{
	const char *value = ceph_field(text, field);

	return value && rules_number(&value, number);
}

/* Reads the value of the attribute; false if it is no layout. */
static bool ceph_read(const char *text, struct ceph_layout *layout)
{
	const char *pool = ceph_field(text, "pool");
	size_t n = pool ? strcspn(pool, " ") : 0;

	*layout = (struct ceph_layout){ 0 };
	if (n && n < CEPH_POOL_BYTES)
		memcpy(layout->pool, pool, n);
	return ceph_read_number(text, "stripe_unit", &layout->unit) &&
	       ceph_read_number(text, "stripe_count", &layout->count) &&
	       ceph_read_number(text, "object_size", &layout->object);
}

static char *ceph_append(char *to, const char *field, uint64_t number)
{
	strcpy(to, field);
	return rules_put_number(to + strlen(to), number);
}

/* Writes the sizes as a value of the attribute. All of them are set by one call, since some
 * combinations are invalid. */
static void ceph_write(char to[CEPH_TEXT_BYTES], const struct ceph_layout *layout)
{
	to = ceph_append(to, "stripe_unit=", layout->unit);
	to = ceph_append(to, " stripe_count=", layout->count);
	ceph_append(to, " object_size=", layout->object);
}

/* The pool that the first placed file of the process had before, for directories whose layout does
 * not name one. Written once. */
static char usual_pool[CEPH_POOL_BYTES];
static _Atomic uint32_t has_usual_pool;

static void note_usual_pool(const char *pool)
{
	if (*pool && !atomic_exchange(&has_usual_pool, 1))
		memcpy(usual_pool, pool, strlen(pool) + 1);
}

/* Reads the layout of an open file. */
static bool ceph_get(int fd, struct ceph_layout *layout)
{
	char text[CEPH_TEXT_BYTES];
	long n = layout_get_attribute(fd, CEPH_LAYOUT, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	return n > 0 && ceph_read(text, layout);
}

static bool ceph_sizes_equal(const struct ceph_layout *a, const struct ceph_layout *b)
{
	return a->unit == b->unit && a->count == b->count && a->object == b->object;
}

/*
 * The layout that a new file at this path gets: that of the nearest directory that has one. `path`
 * is changed. A directory above the root of the mount is not found.
 */
static void ceph_inherit(char *path, struct ceph_layout *layout)
{
	char text[CEPH_TEXT_BYTES], *slash;

	*layout = ceph_default;
	while ((slash = strrchr(path, '/')) && path[1]) {
		long n;

		slash[slash == path] = 0;
		n = layout_get_path_attribute(path, "ceph.dir.layout", text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = 0;
		/* Directories of another file system are above the root of this one. */
		if ((n > 0 && ceph_read(text, layout)) || n == -EOPNOTSUPP)
			return;
	}
}

/* The largest object that is possible everywhere, or as large as the present ones; 0: none. */
static uint64_t ceph_object_size_like_lustre(uint64_t unit, uint64_t present)
{
	uint64_t most = present > CEPH_OBJECT_BYTES ? present : CEPH_OBJECT_BYTES;

	return unit ? most - most % unit : 0;
}

/*
 * The layout that results from what is requested, by the names of all file systems (general) and by
 * those of CephFS (own), which have priority. Returns why CephFS would reject it, or NULL.
 */
static const char *ceph_plan(const struct ceph_layout *general, const struct ceph_layout *own,
			     const struct ceph_layout *now, struct ceph_layout *plan)
{
	*plan = *now;
	plan->unit = own->unit ? own->unit : general->unit ? general->unit : now->unit;
	plan->count = own->count ? own->count : general->count ? general->count : now->count;
	if (own->object)
		plan->object = own->object;
	else if (general->unit || general->count)
		plan->object = ceph_object_size_like_lustre(plan->unit, now->object);
	if (!plan->unit || plan->unit % CEPH_STEP || !plan->object || plan->object % plan->unit ||
	    plan->object > UINT32_MAX || !plan->count || plan->count > UINT32_MAX)
		return "invalid";
	return NULL;
}

/* The layout that the rules request for the file; false if they request nothing. */
static bool ceph_request(const char *full, const struct ceph_layout *now, struct ceph_layout *plan,
			 const char **refusal)
{
	struct ceph_layout general = { 0 }, own = { 0 };

	layout_number(full, "striping_unit", &general.unit);
	layout_number(full, "striping_factor", &general.count);
	layout_number(full, "ceph_stripe_unit", &own.unit);
	layout_number(full, "ceph_stripe_count", &own.count);
	layout_number(full, "ceph_object_size", &own.object);
	if (ceph_sizes_equal(&general, &(struct ceph_layout){ 0 }) &&
	    ceph_sizes_equal(&own, &(struct ceph_layout){ 0 }))
		return false;
	*refusal = ceph_plan(&general, &own, now, plan);
	return true;
}

static long ceph_put(int fd, const struct ceph_layout *layout)
{
	char text[CEPH_TEXT_BYTES];

	ceph_write(text, layout);
	return layout_set_attribute(fd, CEPH_LAYOUT, text, strlen(text));
}

static long ceph_put_pool(int fd, const char *pool)
{
	return layout_set_attribute(fd, CEPH_LAYOUT ".pool", pool, strlen(pool));
}

/* The pool that is assigned to the file; NULL: none. */
static const char *ceph_assigned_pool(const struct layout *layout, const char *full,
				      char pool[CEPH_POOL_BYTES])
{
	const struct parameters_line *rule = layout_rule(full, PARAMETERS_SPREAD_POOLS);
	struct parameters_destination in;

	if (!rule || layout->turn == WEIGHTED_ROTATION_NONE ||
	    !weighted_rotation_destination(rule, layout->turn, &in) || in.bytes >= CEPH_POOL_BYTES)
		return NULL;
	memcpy(pool, in.name, in.bytes);
	pool[in.bytes] = 0;
	return pool;
}

/* The pool that the rules request, or NULL. */
static const char *ceph_requested_pool(const struct layout *layout, const char *full,
				       char pool[CEPH_POOL_BYTES])
{
	const char *assigned = ceph_assigned_pool(layout, full, pool);

	return assigned ? assigned : rules_value(&rules_own, PLACE_LAYOUT, full, "", "ceph_pool");
}

/*
 * Why the layout of an open file must not change; NULL: it may. Of several processes that create a
 * file at the same time, each sets its layout before it writes, so a file that another process has
 * just created is one that still has the layout of its directory.
 */
static const char *ceph_reason_to_keep(const struct layout *layout, int fd,
				       const struct ceph_layout *now, char path[RULES_PATH_BYTES])
{
	struct ceph_layout inherited;
	struct stat st;

	if (kernel_call(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode))
		return "failed";
	if (st.st_size)
		return "not_empty";
	if (layout->is_absent)
		return NULL;
	if (!layout_descriptor_path(fd, path))
		return "exists";
	ceph_inherit(path, &inherited);
	return ceph_sizes_equal(now, &inherited) ? NULL : "exists";
}

/* Of several processes that create a shared file at once, the first one's pool stays: another one
 * may have begun to write there. */
static void ceph_keep_pool(struct layout *layout, const struct ceph_layout *now,
			   struct layout_workspace *space)
{
	struct ceph_layout inherited;

	if (layout->turn == WEIGHTED_ROTATION_NONE)
		return;
	strcpy(space->target, space->path);
	ceph_inherit(space->target, &inherited);
	if (!*inherited.pool || !strcmp(now->pool, inherited.pool))
		return;
	placed_cancel(&layout->placed);
	layout->turn = WEIGHTED_ROTATION_NONE;
}

static void ceph_set(struct layout *layout, int fd, struct layout_workspace *space)
{
	char name[CEPH_POOL_BYTES];
	struct ceph_layout now, plan;
	bool is_requested;
	const char *pool;
	long error = 0;

	if (!ceph_get(fd, &now)) {
		layout->refusal = "filesystem";
		return;
	}
	ceph_keep_pool(layout, &now, space);
	pool = ceph_requested_pool(layout, space->full, name);
	is_requested = ceph_request(space->full, &now, &plan, &layout->refusal);
	/* Another process has set it already: there is nothing to do, nor to refuse. */
	if (is_requested && ceph_sizes_equal(&plan, &now))
		is_requested = false;
	if (layout->refusal || (!is_requested && !pool))
		return;
	layout->refusal = ceph_reason_to_keep(layout, fd, &now, space->target);
	if (!layout->refusal && pool) {
		note_usual_pool(now.pool);
		error = ceph_put_pool(fd, pool);
	}
	if (!layout->refusal && is_requested && !error)
		error = ceph_put(fd, &plan);
	if (error < 0)
		layout->refusal = layout_refusal_of(error);
	/* The server answers before it writes its journal, up to 5 s later. Nobody can write to the
	 * file until then, unless somebody asks for the journal. */
	if (!layout->refusal)
		layout_commit(fd);
}

/* Takes the pool of a new file. */
static void ceph_create(struct layout *layout, struct layout_workspace *space)
{
	const struct parameters_line *rule = layout_rule(space->full, PARAMETERS_SPREAD_POOLS);

	if (!rule || !layout->is_absent)
		return;
	layout->turn = weighted_rotation_take(capture_membership.control->turns, rule, 1);
	layout->placed = placed_choose(rule, &layout->turn, &space->view);
}

static void ceph_report(const struct layout *layout, int fd, struct layout_workspace *space)
{
	char name[CEPH_POOL_BYTES];
	const char *turn = ceph_assigned_pool(layout, space->full, name);
	struct info_text *effective = &space->effective;
	struct ceph_layout now;

	if (!ceph_get(fd, &now))
		return;
	layout_put_number(effective, "striping_factor", now.count);
	layout_put_number(effective, "striping_unit", now.unit);
	layout_put_number(effective, "ceph_stripe_count", now.count);
	layout_put_number(effective, "ceph_stripe_unit", now.unit);
	layout_put_number(effective, "ceph_object_size", now.object);
	if (now.pool[0])
		info_text_put(effective, "ceph_pool", now.pool);
	if (!turn)
		return;
	inject_accept(&space->requested, PARAMETERS_SPREAD_POOLS, turn);
	if (now.pool[0])
		info_text_put(effective, PARAMETERS_SPREAD_POOLS, now.pool);
}

/* Moves an empty file back from a pool of the rules. True: it was in one. */
static bool ceph_yield_pool(int fd, const struct ceph_layout *now,
			    const struct ceph_layout *inherited, const char *full)
{
	const struct parameters_line *rule = layout_rule(full, PARAMETERS_SPREAD_POOLS);
	const char *list = rule ? rule->value : "";
	const char *pool = *inherited->pool ? inherited->pool : usual_pool;
	struct parameters_destination next;

	while (parameters_destination(&list, &next))
		if (*pool && strlen(now->pool) == next.bytes && strcmp(now->pool, pool) != 0 &&
		    !memcmp(now->pool, next.name, next.bytes))
			return ceph_put_pool(fd, pool) >= 0;
	return false;
}

/* Gives an empty file the layout of its directory again, so that the attributes that the program
 * sets have the same result as without Sluice. */
static bool ceph_yield(int fd, const char *attribute, struct layout_workspace *space)
{
	struct ceph_layout now, plan, inherited;
	const char *refusal = NULL;
	struct stat st;
	bool is_moved;

	if (strncmp(attribute, CEPH_LAYOUT, strlen(CEPH_LAYOUT)) != 0 ||
	    kernel_call(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size ||
	    !ceph_get(fd, &now))
		return false;
	ceph_inherit(space->path, &inherited);
	is_moved = ceph_yield_pool(fd, &now, &inherited, space->full);
	if (is_moved)
		placed_yield(fd);
	if (!ceph_request(space->full, &inherited, &plan, &refusal) || refusal ||
	    !ceph_sizes_equal(&now, &plan) || ceph_sizes_equal(&now, &inherited))
		return is_moved;
	ceph_put(fd, &inherited);
	return true;
}

/* Attributes that every directory of CephFS has. */
static bool ceph_is_on(const char *directory)
{
	char value[24];

	return layout_get_path_attribute(directory, "ceph.dir.entries", value, sizeof(value)) > 0;
}

const struct layout_system layout_ceph = {
	.magic = MAGIC_CEPH,
	.name = "CephFS",
	.spread = PARAMETERS_SPREAD_POOLS,
	.create = ceph_create,
	.set = ceph_set,
	.get = ceph_report,
	.yield = ceph_yield,
};

const struct layout_system layout_ceph_fuse = {
	.magic = MAGIC_FUSE,
	.name = "CephFS by FUSE",
	.spread = PARAMETERS_SPREAD_POOLS,
	.is_on = ceph_is_on,
	.create = ceph_create,
	.set = ceph_set,
	.get = ceph_report,
	.yield = ceph_yield,
};
