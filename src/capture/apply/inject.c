/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/inject.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include "capture/apply/layout.h"
#include "capture/libraries/mpi_io.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/kernel.h"
#include "contract/calls.h"
#include "contract/hints.h"
#include "contract/sources.h"

/* The functions of the library that are called: name, and the symbol if linked. */
#define USES(X) X(PMPI_File_get_info, __real_PMPI_File_get_info)

LIBRARY_TABLE(table, USES)
static struct library_uses uses = LIBRARY_LISTED(table);

#define MAGIC_GPFS 0x47504653

void inject_record(unsigned call, uint64_t link, const struct info_text *requested,
		   struct info_text *effective)
{
	size_t r = requested->used ? requested->used - 1 : 0; /* without the last ';' */
	size_t e = strlen(info_text_end(effective));
	unsigned words = RECORD_HEAD_WORDS + 1 + text_words(r) + text_words(e);
	struct frame f;
	uint64_t *w, *text;

	if (!link || !frame_enter(&f))
		return;
	f.stop = f.start;
	w = frame_leave(&f, call, words, 0);
	w[RECORD_HEAD_WORDS] = link;
	text = frame_text(&f, w + RECORD_HEAD_WORDS + 1, requested->text, r);
	frame_text(&f, text, effective->text, e);
	frame_commit(&f, w, words);
}

void inject_accept(struct info_text *requested, const char *key, const char *value)
{
	rules_note_applied(&rules_own, key);
	info_text_put(requested, key, value);
}

void inject_refuse(struct info_text *requested, const char *key, const char *reason)
{
	char text[32] = "!";

	rules_note_refusal(&rules_own, key, reason);
	strncat(text, reason, sizeof(text) - 2);
	info_text_put(requested, key, text);
}

/* The type of the file system that an absolute path is on, or will be on; 0 if unknown. */
static uint64_t file_system_magic(const char *path)
{
	char text[RULES_PATH_BYTES];
	struct statfs fs = { 0 };
	char *slash;

	strcpy(text, path);
	while (kernel_call(SYS_statfs, text, &fs) != 0) {
		slash = strrchr(text, '/');
		if (!slash || slash == text)
			return 0;
		*slash = 0;
	}
	return (uint64_t)fs.f_type & UINT32_MAX;
}

/* Why a prefix is not used; NULL: it is. OMPIO supports none, ROMIO only those of its drivers. */
static const char *prefix_refusal(const void *near, const struct parameters_line *rule,
				  const char *path)
{
	if (mpi_io_is_ompio(near))
		return "ompio";
	if (!strcmp(rule->name, "bglockless") && file_system_magic(path) != MAGIC_GPFS)
		return "gpfs";
	return NULL;
}

static void prefix_apply(struct inject_opening *opening, const char *path, const char *spelled)
{
	const struct parameters_line *rule = rules_next(&rules_own, NULL, PLACE_PREFIX, path, "");
	const char *refusal, *name;

	if (!rule)
		return;
	name = rules_prefix(opening->prefixed, rule->name, rule->value, spelled);
	refusal = name ? prefix_refusal(opening->near, rule, path) : NULL;
	if (refusal) {
		inject_refuse(&opening->requested, rule->name, refusal);
		return;
	}
	inject_accept(&opening->requested, rule->name, rule->value);
	if (name)
		opening->name = name;
}

/* Collective transfers of MPI-IO become independent by hints: only the reverse is done here. */
static bool is_made_collective(const struct inject_opening *opening, const char *path)
{
	const char *mode = rules_value(&rules_own, PLACE_TRANSFER, path, "", "transfer");

	return mode && !strcmp(mode, "collective") && inject_is_program(opening->caller);
}

static void transfer_apply(struct inject_opening *opening, int ranks, const char *path)
{
	if (!is_made_collective(opening, path))
		return;
	opening->is_collective = ranks > 1;
	if (opening->is_collective)
		inject_accept(&opening->requested, "transfer", "collective");
	else
		inject_refuse(&opening->requested, "transfer", "serial");
}

/* Why a hint is not set; NULL: it is. */
static const char *hint_refusal(const struct inject_opening *opening,
				const struct parameters_line *rule, MPI_Info info)
{
	if (!hints_is_safe(rule->name, rule->value, false))
		return "unsafe";
	if (!mpi_io_hint_is_safe(opening->near, rule->name, rule->value))
		return "ompio";
	if (!rules_own.application_wins)
		return NULL;
	if (info_is_valid(opening->near, info) && info_has(opening->near, info, rule->name))
		return "application";
	if (mpi_io_hints_file_sets(opening->near, rule->name))
		return "hints_file";
	return NULL;
}

/* Notes it if the program and the rule want different values. */
static void note_conflict(const struct inject_opening *opening, const struct parameters_line *rule,
			  MPI_Info info, bool program_wins)
{
	char own[OUTCOMES_VALUE_BYTES];

	if (!rules_own.outcomes || !info_is_valid(opening->near, info) ||
	    !info_get(opening->near, info, rule->name, own, sizeof(own)) ||
	    !strcmp(own, rule->value))
		return;
	if (program_wins)
		outcomes_note_conflict(rules_own.outcomes, rule->name, SOURCE_PROGRAM, own,
				       OUTCOME_PARAMETERS, rule->value);
	else
		outcomes_note_conflict(rules_own.outcomes, rule->name, OUTCOME_PARAMETERS,
				       rule->value, SOURCE_PROGRAM, own);
}

static void hint_apply(struct inject_opening *opening, const struct parameters_line *rule,
		       MPI_Info info)
{
	const char *refusal = hint_refusal(opening, rule, info);

	if (!refusal || !strcmp(refusal, "application"))
		note_conflict(opening, rule, info, refusal);

	if (!refusal && !opening->is_copied)
		opening->is_copied = info_copy(opening->near, info, &opening->copy);
	if (!refusal && (!opening->is_copied ||
			 !info_set(opening->near, opening->copy, rule->name, rule->value)))
		refusal = "failed";
	if (refusal)
		inject_refuse(&opening->requested, rule->name, refusal);
	else
		inject_accept(&opening->requested, rule->name, rule->value);
}

/* Will all ranks that open the file pass the same? */
static bool ranks_agree(const struct inject_opening *opening, MPI_Comm comm, int ranks)
{
	bool known = true;

	if (ranks == 1)
		return true;
	mpi_members_hash(opening->near, comm, ranks, &known);
	return known && mpi_job_shares_parameters();
}

static void refuse_all_rules(struct inject_opening *opening, enum parameters_place place,
			     const char *path)
{
	const struct parameters_line *rule = NULL;

	while ((rule = rules_next(&rules_own, rule, place, path, "")))
		inject_refuse(&opening->requested, rule->name, "ranks");
}

/* Is the program's own hint used, and not that of the rule? */
static bool is_program_hint(const struct inject_opening *opening,
			    const struct parameters_line *rule, MPI_Info info)
{
	return rules_own.application_wins &&
	       ((info_is_valid(opening->near, info) && info_has(opening->near, info, rule->name)) ||
		mpi_io_hints_file_sets(opening->near, rule->name));
}

/* The file that this call creates does not get a layout for which the program has hints. */
static void keep_own_layout(const struct inject_opening *opening, const char *path, MPI_Info info)
{
	const struct parameters_line *rule = NULL;

	layout_keep_hint(NULL);
	while (layout_is_wanted() && (rule = rules_next(&rules_own, rule, PLACE_HINT, path, "")))
		if (is_program_hint(opening, rule, info))
			layout_keep_hint(rule->name);
}

static void apply_rules(struct inject_opening *opening, MPI_Comm comm, int ranks,
			const char *spelled, MPI_Info info)
{
	char path[RULES_PATH_BYTES];
	const struct parameters_line *rule = NULL;

	rules_path(path, spelled);
	keep_own_layout(opening, path, info);
	if (!ranks_agree(opening, comm, ranks)) {
		refuse_all_rules(opening, PLACE_HINT, path);
		refuse_all_rules(opening, PLACE_PREFIX, path);
		if (is_made_collective(opening, path))
			inject_refuse(&opening->requested, "transfer", "ranks");
		return;
	}
	while ((rule = rules_next(&rules_own, rule, PLACE_HINT, path, "")))
		hint_apply(opening, rule, info);
	prefix_apply(opening, path, spelled);
	transfer_apply(opening, ranks, path);
}

MPI_Info inject_open_slow(struct inject_opening *opening, MPI_Comm comm, const char *path,
			  MPI_Info info)
{
	int saved = errno, ranks;

	mpi_bind(opening->near);
	ranks = mpi_size(opening->near, comm);
	/* No call has accepted the communicator or the path yet. */
	if (ranks && path_bytes(path, EINVAL)) {
		opening->is_ours = true;
		opening->requested.used = 0;
		apply_rules(opening, comm, ranks, path, info);
	}
	errno = saved;
	return opening->is_copied ? opening->copy : info;
}

/* Is the hint recorded? Only those that were requested, and those that affect performance. */
static bool hint_is_recorded(const struct info_text *requested, const char *key)
{
	static const char *const prefixes[] = { "cb_", "romio_", "striping_", "ind_" };
	size_t n = strlen(key);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(key, prefixes[i], strlen(prefixes[i])))
			return true;
	for (size_t at = 0; at < requested->used;) {
		const char *entry = requested->text + at;

		if (!strncmp(entry, key, n) && entry[n] == '=')
			return true;
		at += strcspn(entry, ";") + 1;
	}
	return false;
}

/* Does the text KEY=VALUE;KEY=VALUE contain the key? */
static bool text_has_key(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; *text; text += strcspn(text, ";"), text += *text == ';')
		if (!strncmp(text, key, n) && text[n] == '=')
			return true;
	return false;
}

static bool is_hint(const char *name)
{
	for (unsigned i = 0; i < rules_own.count; i++)
		if (rules_own.rule[i].place == PLACE_HINT && !strcmp(rules_own.rule[i].name, name))
			return true;
	return false;
}

/* Does the file get this parameter from its file system, without the MPI library? */
static bool is_layout(const struct inject_opening *opening, const char *key)
{
	char path[RULES_PATH_BYTES];

	return layout_is_hint(key) && layout_is_supported(rules_path(path, opening->name));
}

/* Notes the hints that were passed, but that the library does not report back. */
static void note_unread_hints(const struct inject_opening *opening, const char *reported)
{
	const char *at = opening->requested.used ? opening->requested.text : "";
	char key[64], value[256];

	while (hints_next(&at, key, sizeof(key), value, sizeof(value)))
		if (value[0] != '!' && !text_has_key(reported, key) && is_hint(key) &&
		    !is_layout(opening, key))
			rules_note_refusal(&rules_own, key, "unread");
}

static void read_effective_hints(struct inject_opening *opening, MPI_File file,
				 struct info_text *effective)
{
	static const char *const names[] = { [MPI_IO_MPICH] = PARAMETERS_MPICH,
					     [MPI_IO_OPENMPI_ROMIO] = PARAMETERS_OPENMPI_ROMIO,
					     [MPI_IO_OMPIO] = PARAMETERS_OMPIO };
	void *const *functions = library_use(&uses, opening->near);
	int (*get)(MPI_File, MPI_Info *) =
		functions ? (int (*)(MPI_File, MPI_Info *))(uintptr_t)functions[0] : NULL;
	char key[64], value[256];
	struct info_text all;
	MPI_Info info = 0;
	const char *at;

	info_text_put(effective, PARAMETERS_MPI, names[mpi_io_of(file)]);
	if (!get || get(file, &info) != MPI_SUCCESS)
		return;
	at = info_read(&all, opening->near, info, 0);
	note_unread_hints(opening, at);
	while (hints_next(&at, key, sizeof(key), value, sizeof(value)))
		if (hint_is_recorded(&opening->requested, key))
			info_text_put(effective, key, value);
	info_free(opening->near, &info);
}

void inject_opened_slow(struct inject_opening *opening, const MPI_File *file)
{
	struct info_text effective;
	uint64_t link = 0;
	int saved = errno;

	layout_keep_hint(NULL);
	if (opening->is_copied)
		info_free(opening->near, &opening->copy);
	if (file && opening->is_collective)
		opening->is_collective = inject_collective_add(mpi_handle_at(opening->near, file));
	if (file)
		link = handle_entry_link(handle_table_find(
			handle_key(SPACE_MPI, mpi_handle_at(opening->near, file))));
	if (link) {
		effective.used = 0;
		read_effective_hints(opening, *file, &effective);
		if (opening->is_collective)
			info_text_put(&effective, "transfer", "collective");
		inject_record(CALL_MPI_File_parameters, link, &opening->requested, &effective);
	}
	errno = saved;
}
