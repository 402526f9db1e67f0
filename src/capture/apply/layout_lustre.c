/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-11.
 */
#include "capture/apply/layout_internal.h"

#ifndef SLUICE_LINKED
#include <dlfcn.h>
#endif
#include <string.h>

#include "capture/apply/inject.h"
#include "capture/apply/placed.h"
#include "capture/record/capture.h"
#include "capture/record/handles.h"
#include "capture/record/kernel.h"
#include "capture/record/load.h"
#include "capture/record/symbols.h"
#include "contract/striping.h"

#define MAGIC_LUSTRE 0x0BD00BD0u

/* The functions of liblustreapi, NULL if missing. */
static struct {
	int (*create)(const char *name, unsigned long long stripe_size, int stripe_offset,
		      int stripe_count, int stripe_pattern);
	int (*level_get)(void);
	void (*level_set)(int level); /* of the messages that it prints */
	/* For files with given targets: since version 2.7. */
	void *(*alloc)(void);
	void (*release)(void *stripes);
	int (*count_set)(void *stripes, uint64_t count);
	int (*size_set)(void *stripes, uint64_t bytes);
	int (*target_set)(void *stripes, int number, uint64_t target);
	int (*file_create)(const char *path, int flags, mode_t mode, const void *stripes);
} lustre;

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
	lustre.file_create = (__typeof__(lustre.file_create))(uintptr_t)symbol_find(
		library, "llapi_layout_file_create");
	lustre.create =
		(__typeof__(lustre.create))(uintptr_t)symbol_find(library, "llapi_file_create");
#endif
}

bool lustre_is_within(void)
{
	return is_within;
}

/* The requested layout of a new file. */
struct request {
	uint64_t unit; /* 0: the default */
	int first;     /* first target, or -1 */
	int count;     /* 0: the default */
	unsigned targets;
	uint32_t target[PARAMETERS_DESTINATIONS]; /* one target per stripe */
};

static int create_on_targets(const char *path, const struct request *request)
{
	void *stripes = lustre.alloc();
	int fd = -1;
	bool good = stripes && lustre.count_set(stripes, request->targets) == 0 &&
		    (!request->unit || lustre.size_set(stripes, request->unit) == 0);

	for (unsigned i = 0; good && i < request->targets; i++)
		good = lustre.target_set(stripes, (int)i, request->target[i]) == 0;
	if (good)
		fd = lustre.file_create(path, O_WRONLY | O_CLOEXEC, 0644, stripes);
	if (stripes)
		lustre.release(stripes);
	if (fd < 0)
		return -1;
	handle_take(fd);
	kernel_call(SYS_close, fd);
	return 0;
}

static int create_with_stripes(const char *path, const struct request *request)
{
	bool is_new = lustre.alloc && lustre.release && lustre.count_set && lustre.size_set &&
		      lustre.target_set && lustre.file_create;

	if (request->targets && is_new)
		return create_on_targets(path, request);
	/* An older library can set the first target only. */
	if (request->targets > 1 || !lustre.create)
		return -1;
	return lustre.create(path, request->unit,
			     request->targets ? (int)request->target[0] : request->first,
			     request->targets ? 1 : request->count, 0);
}

static int lustre_create(const char *path, const struct request *request)
{
	int level = lustre.level_get ? lustre.level_get() : 0, result;

	is_within = true;
	if (lustre.level_get && lustre.level_set)
		lustre.level_set(0);
	result = create_with_stripes(path, request);
	if (lustre.level_get && lustre.level_set)
		lustre.level_set(level);
	is_within = false;
	return result;
}

static bool is_among(const uint32_t *targets, unsigned count, uint32_t target)
{
	for (unsigned i = 0; i < count; i++)
		if (targets[i] == target)
			return true;
	return false;
}

/* Chooses the targets of the next turns, each once: a file has at most one stripe per target. */
static void choose_targets(struct request *request, const struct parameters_line *rule,
			   uint64_t turn)
{
	struct parameters_destination next;
	unsigned most = weighted_rotation_count(rule),
		 wanted = request->count > 0 ? (unsigned)request->count : 1;
	uint64_t number;

	wanted = wanted < most ? wanted : most;
	for (uint64_t end = turn + PARAMETERS_WEIGHTS; request->targets < wanted && turn < end;
	     turn++) {
		const char *at;

		if (!weighted_rotation_destination(rule, turn, &next))
			return;
		at = next.name;
		if (rules_number(&at, &number) && number <= UINT16_MAX &&
		    !is_among(request->target, request->targets, (uint32_t)number))
			request->target[request->targets++] = (uint32_t)number;
	}
}

/* Reads the request from the rules; false if there is none. */
static bool request_read(struct request *request, const char *full)
{
	uint64_t count = 0, first = 0;
	bool has_unit = layout_number(full, "striping_unit", &request->unit);
	bool has_count = layout_number(full, "striping_factor", &count) && count <= INT32_MAX;
	bool has_first = layout_number(full, "start_iodevice", &first) && first < INT32_MAX;

	request->count = has_count ? (int)count : 0;
	request->first = has_first ? (int)first : -1;
	return has_unit || has_count || has_first;
}

/* Creates the file with its stripes. */
static void create_as_requested(struct request *request, struct layout *layout,
				struct layout_workspace *space)
{
	const struct parameters_line *rule = layout_rule(space->full, PARAMETERS_SPREAD_OSTS);
	bool is_requested = request_read(request, space->full);

	if (!is_requested && !rule)
		return;
	layout->refusal = layout->is_absent ? "failed" : "exists";
	if (!lustre.create || !layout_may_make(layout))
		return;
	if (rule) {
		layout->turn =
			weighted_rotation_take(capture_membership.control->turns, rule,
					       request->count > 0 ? (unsigned)request->count : 1);
		/* The backlog knows one target per file. */
		if (request->count <= 1)
			layout->placed = placed_choose(rule, &layout->turn, &space->view);
		choose_targets(request, rule, layout->turn);
	}
	if (lustre_create(space->path, request) != 0)
		return;
	layout->refusal = NULL;
	layout_made(layout);
}

static void lustre_begin(struct layout *layout, struct layout_workspace *space)
{
	struct request *request = kernel_map_private(sizeof(*request));

	if (!request)
		return;
	create_as_requested(request, layout, space);
	kernel_call(SYS_munmap, request, sizeof(*request));
}

#define STRIPES_BYTES 65536 /* with all objects; too large for a stack */

/* "3,7"; a list that is too long for a record is left out. */
#define TARGETS_BYTES 2048

static void put_targets(struct info_text *text, char list[TARGETS_BYTES], const uint32_t *targets,
			unsigned count)
{
	char *at = list;

	for (unsigned i = 0; i < count && at - list < TARGETS_BYTES - 16; i++) {
		if (i)
			*at++ = ',';
		at = rules_put_number(at, targets[i]);
	}
	if (count && at - list < TARGETS_BYTES - 16)
		info_text_put(text, PARAMETERS_SPREAD_OSTS, list);
}

/* What is too large for a stack. */
struct workspace {
	struct request request;
	uint32_t targets[PARAMETERS_DESTINATIONS];
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
	if (!objects || !count || count > PARAMETERS_DESTINATIONS)
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
	bool is_spread = rule && layout->turn != WEIGHTED_ROTATION_NONE;
	struct workspace *space = kernel_map_private(sizeof(*space));

	if (!space)
		return;
	if (is_spread && layout->is_made) {
		request_read(&space->request, texts->full);
		choose_targets(&space->request, rule, layout->turn);
		put_targets(&texts->requested, space->list, space->request.target,
			    space->request.targets);
	} else if (rule && layout->refusal) {
		inject_refuse(&texts->requested, PARAMETERS_SPREAD_OSTS, layout->refusal);
	}
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
