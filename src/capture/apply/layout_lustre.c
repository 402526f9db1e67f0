/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-11.
 */
#include "capture/apply/layout_internal.h"

#ifndef SLUICE_LINKED
#include <dlfcn.h>
#endif
#include <errno.h>
#include <string.h>

#include "capture/apply/apportion.h"
#include "capture/apply/inject.h"
#include "capture/apply/placed.h"
#include "capture/record/capture.h"
#include "capture/record/handles.h"
#include "capture/record/kernel.h"
#include "capture/record/load.h"
#include "capture/record/symbols.h"
#include "contract/striping.h"

#define MAGIC_LUSTRE 0x0BD00BD0u
#define MOST_STRIPES 2000		/* LOV_MAX_STRIPE_COUNT, for one file */
#define OVERSTRIPING 4u			/* LLAPI_LAYOUT_OVERSTRIPING: several stripes per target */
#define NO_STRIPES (O_NOCTTY | O_ASYNC) /* O_LOV_DELAY_CREATE: the open sets no stripes */

/* The functions of liblustreapi, NULL if missing. */
static struct {
	int (*create)(const char *name, unsigned long long stripe_size, int stripe_offset,
		      int stripe_count, int stripe_pattern);
	int (*level_get)(void);
	void (*level_set)(int level); /* of the messages that it prints */
	/* For files with given targets: since version 2.7, for several targets since 2.9. */
	void *(*alloc)(void);
	void (*release)(void *stripes);
	int (*count_set)(void *stripes, uint64_t count);
	int (*size_set)(void *stripes, uint64_t bytes);
	int (*pattern_set)(void *stripes, uint64_t pattern);
	int (*target_set)(void *stripes, int number, uint64_t target);
	int (*file_open)(const char *path, int flags, mode_t mode, const void *stripes);
} lustre;

/* The library or the servers are older than 2.13, which brought overstriping. */
static atomic_bool is_overstriping_refused;

static __thread bool is_within TLS_FAST;

static void lustre_load(void)
{
#ifndef SLUICE_LINKED
	const struct link_map *library;

	if (lustre.create)
		return;
	library = object_load("liblustreapi.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = object_load("liblustreapi.so", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	lustre.level_get = (int (*)(void))(uintptr_t)symbol_find(library, "llapi_msg_get_level");
	lustre.level_set = (void (*)(int))(uintptr_t)symbol_find(library, "llapi_msg_set_level");
	lustre.alloc = (void *(*)(void))(uintptr_t)symbol_find(library, "llapi_layout_alloc");
	lustre.release = (void (*)(void *))(uintptr_t)symbol_find(library, "llapi_layout_free");
	lustre.count_set = (__typeof__(lustre.count_set))(uintptr_t)symbol_find(
		library, "llapi_layout_stripe_count_set");
	lustre.size_set = (__typeof__(lustre.size_set))(uintptr_t)symbol_find(
		library, "llapi_layout_stripe_size_set");
	lustre.target_set = (__typeof__(lustre.target_set))(uintptr_t)symbol_find(
		library, "llapi_layout_ost_index_set");
	lustre.pattern_set = (__typeof__(lustre.pattern_set))(uintptr_t)symbol_find(
		library, "llapi_layout_pattern_set");
	lustre.file_open = (__typeof__(lustre.file_open))(uintptr_t)symbol_find(
		library, "llapi_layout_file_open");
	lustre.create =
		(__typeof__(lustre.create))(uintptr_t)symbol_find(library, "llapi_file_create");
#endif
}

bool lustre_is_within(void)
{
	return is_within;
}

/* The requested layout of a new file. Too large for a stack. */
struct lustre_request {
	uint64_t unit; /* 0: the default */
	int first;     /* first target, or -1 */
	int count;     /* 0: the default */
	unsigned targets;
	uint32_t target[MOST_STRIPES]; /* of each stripe */
	bool is_uneven;		       /* by the shares, a target gets several stripes */
	bool is_overstriped;	       /* it does */
	/* Working memory. */
	uint32_t numbers[PARAMETERS_DESTINATIONS]; /* of the targets of the list */
	uint16_t order[MOST_STRIPES];
	struct apportionment shares;
};

static bool has_layouts(void)
{
	return lustre.alloc && lustre.release && lustre.count_set && lustre.size_set &&
	       lustre.target_set && lustre.file_open;
}

static bool describe_targets(void *stripes, const struct lustre_request *request)
{
	bool good = lustre.count_set(stripes, request->targets) == 0 &&
		    (!request->unit || lustre.size_set(stripes, request->unit) == 0);

	if (request->is_overstriped)
		good = good && lustre.pattern_set && lustre.pattern_set(stripes, OVERSTRIPING) == 0;
	for (unsigned i = 0; good && i < request->targets; i++)
		good = lustre.target_set(stripes, (int)i, request->target[i]) == 0;
	return good;
}

static bool set_targets(const char *path, const struct lustre_request *request)
{
	void *stripes = lustre.alloc();
	int fd = -1;

	if (stripes && describe_targets(stripes, request))
		fd = lustre.file_open(path, O_WRONLY | O_CLOEXEC | NO_STRIPES, 0, stripes);
	if (stripes)
		lustre.release(stripes);
	if (fd < 0)
		return false;
	if (capture_handles)
		handle_take(fd);
	kernel_call(SYS_close, fd);
	return true;
}

static bool set_stripes(const char *path, const struct lustre_request *request)
{
	if (request->targets && has_layouts())
		return set_targets(path, request);
	return lustre.create(path, request->unit,
			     request->targets ? (int)request->target[0] : request->first,
			     request->targets ? 1 : request->count, 0) == 0;
}

/* Sets the stripes of a file that has none. */
static bool set_stripes_quietly(const char *path, const struct lustre_request *request)
{
	int level = lustre.level_get ? lustre.level_get() : 0;
	bool good;

	is_within = true;
	if (lustre.level_get && lustre.level_set)
		lustre.level_set(0);
	good = set_stripes(path, request);
	if (lustre.level_get && lustre.level_set)
		lustre.level_set(level);
	is_within = false;
	return good;
}

/* The numbers and weights of the targets in a list; false if it is malformed. */
static bool read_targets(struct lustre_request *request, const struct parameters_line *rule)
{
	struct apportionment *shares = &request->shares;
	struct parameters_destination next;
	const char *text = rule->value;
	uint64_t number;

	while (shares->count < PARAMETERS_DESTINATIONS && parameters_destination(&text, &next)) {
		const char *at = next.name;

		if (!rules_number(&at, &number) || number > UINT16_MAX)
			return false;
		request->numbers[shares->count] = (uint32_t)number;
		shares->weights[shares->count++] = next.weight;
	}
	return !*text && shares->count;
}

/* Gives one stripe each to targets that have none, by their turns. */
static void give_by_turns(struct apportionment *shares, unsigned left,
			  const struct parameters_line *rule, uint64_t turn)
{
	for (uint64_t end = turn + PARAMETERS_WEIGHTS; left && turn < end; turn++) {
		unsigned chosen = weighted_rotation_index(rule, turn);

		if (chosen >= shares->count)
			return;
		left -= !shares->parts[chosen];
		shares->parts[chosen] += !shares->parts[chosen];
	}
}

/* A number below n that has no pattern from one turn to the next. */
static unsigned scatter(uint64_t turn, unsigned n)
{
	return (unsigned)((turn * UINT64_C(0x9e3779b97f4a7c15) >> 32) % n);
}

/* Divides the stripes of a file among the targets. Takes the turns that this needs, unless the file
 * has some already. */
static void choose_targets(struct lustre_request *request, const struct parameters_line *rule,
			   struct layout *layout, bool may_repeat)
{
	unsigned wanted = request->count < MOST_STRIPES ? (unsigned)request->count : MOST_STRIPES;
	struct apportionment *shares = &request->shares;
	unsigned left = apportion_divide(shares, wanted), first;

	request->is_uneven = apportion_repeats(shares);
	request->is_overstriped = request->is_uneven && may_repeat;
	if (request->is_uneven && !request->is_overstriped)
		left = apportion_divide_once(shares, wanted);
	if (layout->turn == WEIGHTED_ROTATION_NONE)
		layout->turn = weighted_rotation_take(capture_membership.control->turns, rule,
						      left ? left : 1);
	give_by_turns(shares, left, rule, layout->turn);
	request->targets = apportion_order(shares, request->order, MOST_STRIPES);
	first = request->targets ? scatter(layout->turn, request->targets) : 0;
	for (unsigned i = 0; i < request->targets; i++)
		request->target[i] =
			request->numbers[request->order[(first + i) % request->targets]];
}

/* Chooses one target. The backlog knows one per file. */
static void choose_target(struct lustre_request *request, const struct parameters_line *rule,
			  struct layout *layout, struct layout_workspace *space)
{
	unsigned chosen;

	layout->turn = weighted_rotation_take(capture_membership.control->turns, rule, 1);
	layout->placed = placed_choose(rule, &layout->turn, &space->view);
	chosen = weighted_rotation_index(rule, layout->turn);
	request->targets = chosen < request->shares.count;
	request->target[0] = request->targets ? request->numbers[chosen] : 0;
}

/* Plans the stripes by the list; false if that is not possible. */
static bool plan_stripes(struct lustre_request *request, const struct parameters_line *rule,
			 struct layout *layout, struct layout_workspace *space)
{
	if (!read_targets(request, rule))
		return false;
	if (request->count > 1) {
		placed_shares(rule, request->shares.weights, &space->view);
		choose_targets(request, rule, layout, !is_overstriping_refused);
	} else {
		choose_target(request, rule, layout, space);
	}
	/* An older library can set the first target only. */
	return request->targets == 1 || (request->targets && has_layouts());
}

/* Sets the planned stripes; if there cannot be several on a target, one on each. */
static void set_planned(struct lustre_request *request, const struct parameters_line *rule,
			struct layout *layout, const char *path)
{
	bool good = set_stripes_quietly(path, request);

	if (!good && request->is_overstriped) {
		choose_targets(request, rule, layout, false);
		good = set_stripes_quietly(path, request);
		/* Otherwise there was another reason. */
		if (good)
			is_overstriping_refused = true;
	}
	if (good)
		layout->refusal =
			request->is_uneven && !request->is_overstriped ? "overstriping" : NULL;
}

/* Reads the request from the rules; false if there is none. */
static bool request_read(struct lustre_request *request, const char *full)
{
	uint64_t count = 0, first = 0;
	bool has_unit = layout_number(full, "striping_unit", &request->unit);
	bool has_count = layout_number(full, "striping_factor", &count) && count <= INT32_MAX;
	bool has_first = layout_number(full, "start_iodevice", &first) && first < INT32_MAX;

	request->count = has_count ? (int)count : 0;
	request->first = has_first ? (int)first : -1;
	return has_unit || has_count || has_first;
}

/*
 * Creates the file without stripes. liblustreapi can do that itself, but does not say whether the
 * file is there after a failure, and whose it is.
 */
static bool make_file(struct layout *layout, const char *path)
{
	long fd = kernel_call(SYS_openat, AT_FDCWD, path,
			      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | NO_STRIPES, 0644);

	if (fd < 0) {
		layout->refusal = fd == -EEXIST ? "exists" : "failed";
		return false;
	}
	kernel_call(SYS_close, fd);
	layout_made(layout);
	return true;
}

/* Creates the file with its stripes. */
static void create_as_requested(struct lustre_request *request, struct layout *layout,
				struct layout_workspace *space)
{
	const struct parameters_line *rule = layout_rule(space->full, PARAMETERS_SPREAD_OSTS);
	bool is_requested = request_read(request, space->full);

	if (!is_requested && !rule)
		return;
	layout->refusal = layout->is_absent ? "failed" : "exists";
	if (!lustre.create || !layout_may_make(layout))
		return;
	if (rule && !plan_stripes(request, rule, layout, space))
		return;
	if (make_file(layout, space->path))
		set_planned(request, rule, layout, space->path);
}

static void lustre_begin(struct layout *layout, struct layout_workspace *space)
{
	layout->request = kernel_map_private(sizeof(*layout->request));
	if (layout->request)
		create_as_requested(layout->request, layout, space);
}

void lustre_request_free(struct lustre_request *request)
{
	if (request)
		kernel_call(SYS_munmap, request, sizeof(*request));
}

#define STRIPES_BYTES 65536 /* with all objects; too large for a stack */

/* "3*2,7": with the number of stripes on each target, if that is not 1. A list that is too long for
 * a record is left out. */
#define TARGETS_BYTES 2048

static unsigned count_target(const uint32_t *targets, unsigned count, uint32_t target)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count; i++)
		n += targets[i] == target;
	return n;
}

static void put_targets(struct info_text *text, char list[TARGETS_BYTES], const uint32_t *targets,
			unsigned count)
{
	char *at = list, *end = list + TARGETS_BYTES - 24;

	for (unsigned i = 0; i < count && at < end; i++) {
		unsigned stripes;

		if (count_target(targets, i, targets[i]))
			continue;
		if (i)
			*at++ = ',';
		at = rules_put_number(at, targets[i]);
		stripes = count_target(targets, count, targets[i]);
		if (stripes == 1)
			continue;
		*at++ = '*';
		at = rules_put_number(at, stripes);
	}
	if (count && at < end)
		info_text_put(text, PARAMETERS_SPREAD_OSTS, list);
}

/* What is too large for a stack. */
struct workspace {
	uint32_t targets[MOST_STRIPES];
	char list[TARGETS_BYTES];
	union {
		struct lustre_stripes stripes;
		char bytes[STRIPES_BYTES];
	};
};

/* The objects of the file, which follow the head; NULL if they are not complete. */
static const struct lustre_object *find_objects(const struct lustre_stripes *stripes, long bytes)
{
	const struct lustre_object *objects =
		(const struct lustre_object *)((const char *)(stripes + 1) +
					       (stripes->magic == LUSTRE_STRIPES_3
							? LUSTRE_POOL_BYTES
							: 0));

	return (const char *)(objects + stripes->count) <= (const char *)stripes + bytes ? objects
											 : NULL;
}

/* Reports stripes that were read: the head and `bytes` in total. */
static void put_stripes(struct workspace *space, long bytes, bool with_targets,
			struct info_text *effective)
{
	const struct lustre_stripes *stripes = &space->stripes;
	const struct lustre_object *objects = find_objects(stripes, bytes);
	unsigned count = stripes->count;

	layout_put_number(effective, "striping_factor", count);
	layout_put_number(effective, "striping_unit", stripes->size);
	if (!objects || !count || count > MOST_STRIPES)
		return;
	layout_put_number(effective, "start_iodevice", objects[0].target);
	for (unsigned i = 0; with_targets && i < count; i++)
		space->targets[i] = objects[i].target;
	if (with_targets)
		put_targets(effective, space->list, space->targets, count);
}

static void report_stripes(struct workspace *space, int fd, bool with_targets,
			   struct info_text *effective)
{
	const struct lustre_stripes *stripes = &space->stripes;
	long bytes = layout_get_attribute(fd, LUSTRE_STRIPES, space->bytes, STRIPES_BYTES);

	if (bytes >= (long)sizeof(*stripes) &&
	    (stripes->magic == LUSTRE_STRIPES_1 || stripes->magic == LUSTRE_STRIPES_3))
		put_stripes(space, bytes, with_targets, effective);
}

static void lustre_report(const struct layout *layout, int fd, struct layout_workspace *texts)
{
	const struct parameters_line *rule = layout_rule(texts->full, PARAMETERS_SPREAD_OSTS);
	bool is_spread = rule && layout->request && layout->request->targets && layout->is_made;
	struct workspace *space = kernel_map_private(sizeof(*space));

	if (!space)
		return;
	if (rule && layout->refusal)
		inject_refuse(&texts->requested, PARAMETERS_SPREAD_OSTS, layout->refusal);
	else if (is_spread)
		put_targets(&texts->requested, space->list, layout->request->target,
			    layout->request->targets);
	report_stripes(space, fd, is_spread, &texts->effective);
	kernel_call(SYS_munmap, space, sizeof(*space));
}

const struct layout_system layout_lustre = {
	.magic = MAGIC_LUSTRE,
	.name = "Lustre",
	.spread = PARAMETERS_SPREAD_OSTS,
	.load = lustre_load,
	.create = lustre_begin,
	.get = lustre_report,
};
