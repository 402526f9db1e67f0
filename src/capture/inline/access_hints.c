/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-2, SIOX-39.
 */
#include "capture/inline/access_hints.h"

#include "capture/inline/access_agree.h"
#include "capture/inline/host.h"
#include "capture/inline/suggested.h"
#include "capture/libraries/info.h"
#include "capture/libraries/mpi_io.h"
#include "capture/record/capture.h"
#include "contract/calls.h"
#include "contract/clock.h"
#include "contract/hints.h"

/* The functions of the library that are called: name, symbol if linked, type. */
#define USES(X)                                                                                   \
	X(PMPI_File_get_info, __real_PMPI_File_get_info, int (*)(MPI_File, MPI_Info *))           \
	X(PMPI_File_set_info, __real_PMPI_File_set_info, int (*)(MPI_File, MPI_Info))             \
	X(PMPI_File_get_position, __real_PMPI_File_get_position, int (*)(MPI_File, MPI_Offset *)) \
	X(PMPI_File_get_byte_offset, __real_PMPI_File_get_byte_offset,                            \
	  int (*)(MPI_File, MPI_Offset, MPI_Offset *))

LIBRARY_TYPED(USES)

#define FILES_MAX 128u /* open at the same time */
#define VALUE_BYTES 16 /* "automatic", or a number up to INT_MAX */
#define TEXT_BYTES 264 /* of all hints that can change */
#define CHANGES 32     /* at most so many, unless a plan says otherwise */

_Static_assert(HINTS_CHANGEABLE *(20 + VALUE_BYTES) <= TEXT_BYTES, "the text must fit");

enum { FILE_FREE, FILE_RESERVED };

struct file {
	_Atomic uint64_t handle;
	atomic_bool is_busy;	      /* another thread is before an access */
	atomic_bool is_left_alone;    /* from now on */
	_Atomic uint64_t etype_bytes; /* of the view; 0: no view was set, offsets are bytes */
	struct access_opening opening;
	uint32_t accesses;			    /* so far */
	unsigned choice;			    /* in force */
	char opened[HINTS_CHANGEABLE][VALUE_BYTES]; /* values that the file was opened with */
	uint64_t opened_hash;			    /* of these and of the plan */
	struct control_changes *changes, alone;
};

static struct file files[FILES_MAX];
_Atomic uint32_t access_files;

static struct file *find_file(MPI_File handle)
{
	if ((uint64_t)handle <= FILE_RESERVED)
		return NULL; /* MPI_FILE_NULL */
	for (unsigned i = 0; i < FILES_MAX; i++)
		/* Pairs with the release in access_opened(). */
		if (atomic_load_explicit(&files[i].handle, memory_order_acquire) ==
		    (uint64_t)handle)
			return &files[i];
	return NULL;
}

static struct file *reserve_file(void)
{
	for (unsigned i = 0; i < FILES_MAX; i++) {
		uint64_t found = FILE_FREE;

		if (atomic_compare_exchange_strong(&files[i].handle, &found, FILE_RESERVED))
			return &files[i];
	}
	return NULL;
}

/* Choices are lines of the plan, so ranks with other lines must not take part: they may be of
 * another program. */
static uint64_t plan_hash(const struct history_plan *plan)
{
	uint64_t hash = mpi_mix(mpi_text_hash(plan->extension), (uint64_t)plan->mode);

	for (const char *p = plan->first; p < plan->end; p++)
		hash = mpi_mix(hash, (unsigned char)*p);
	return hash;
}

/*
 * Reads the values in effect. A hint that the library does not show must not change. False if no
 * hint may: with deferred opening, only aggregators have the file open, so accesses cannot become
 * independent; with persistent file realms, each aggregator keeps its part of the file.
 */
static bool read_values(const void *near, MPI_File handle, struct file *f)
{
	void *const *functions = library_use(&uses, near);
	char deferred[VALUE_BYTES] = "", fixed[VALUE_BYTES] = "";
	MPI_Info info = 0;
	bool ok;

	if (!functions || !OF(functions, PMPI_File_get_info) ||
	    !OF(functions, PMPI_File_set_info) ||
	    OF(functions, PMPI_File_get_info)(handle, &info) != MPI_SUCCESS)
		return false;
	ok = info_get(near, info, "romio_no_indep_rw", deferred, sizeof(deferred)) &&
	     !strcmp(deferred, "false") &&
	     !(info_get(near, info, "romio_cb_pfr", fixed, sizeof(fixed)) &&
	       !strcmp(fixed, "enable"));
	f->opened_hash = plan_hash(&f->opening.plan);
	for (int i = 0; i < HINTS_CHANGEABLE; i++) {
		f->opened[i][0] = 0;
		if (!info_get(near, info, hints_changeable[i], f->opened[i], VALUE_BYTES))
			f->opening.own |= 1u << i;
		f->opened_hash = mpi_mix(f->opened_hash, mpi_text_hash(f->opened[i])) | 1;
	}
	info_free(near, &info);
	return ok;
}

static bool make_file(const void *near, MPI_File handle, struct file *f,
		      const struct access_opening *opening)
{
	f->opening = *opening;
	f->accesses = 0;
	f->choice = 0;
	atomic_store(&f->is_busy, false);
	atomic_store(&f->is_left_alone, false);
	atomic_store(&f->etype_bytes, 0);
	if (!read_values(near, handle, f))
		return false;
	if (opening->ranks > 1) {
		f->changes = access_entry(capture_membership.control, opening->number);
		return f->changes;
	}
	memset(&f->alone, 0, sizeof(f->alone));
	f->changes = &f->alone;
	return true;
}

void access_opened(const void *near, MPI_File handle, const struct access_opening *opening)
{
	struct file *f;

	if ((!opening->plan.first && !opening->suggested) || mpi_io_of(handle) != MPI_IO_MPICH)
		return;
	f = reserve_file();
	if (!f)
		return;
	if (!make_file(near, handle, f, opening)) {
		atomic_store(&f->handle, FILE_FREE);
		return;
	}
	atomic_store_explicit(&f->handle, (uint64_t)handle, memory_order_release);
	atomic_fetch_add(&access_files, 1);
}

void access_closed_slow(MPI_File handle)
{
	struct file *f = find_file(handle);

	if (!f)
		return;
	atomic_fetch_sub(&access_files, 1);
	atomic_store(&f->handle, FILE_FREE);
}

void access_info_set_slow(MPI_File handle)
{
	struct file *f = find_file(handle);

	if (f)
		atomic_store(&f->is_left_alone, true);
}

void access_started_slow(MPI_File handle, enum access_way way)
{
	struct file *f = find_file(handle);

	/* Only collective calls are made by all ranks. */
	if (f && (way == ACCESS_TOGETHER || f->opening.ranks == 1))
		atomic_store(&f->is_left_alone, true);
}

void access_view_begin_slow(const void *near, MPI_File handle, MPI_Info info)
{
	struct file *f = find_file(handle);
	int saved = errno;

	if (f && info_is_valid(near, info)) {
		for (int i = 0; i < HINTS_CHANGEABLE; i++)
			if (info_has(near, info, hints_changeable[i]))
				f->opening.own |= 1u << i;
		access_keep(f->changes, f->opening.own);
	}
	errno = saved;
}

void access_view_end_slow(const void *near, MPI_File handle, MPI_Datatype etype)
{
	struct file *f = find_file(handle);
	int saved = errno;
	uint64_t bytes;

	if (f) {
		bytes = mpi_bytes(near, etype, 1);
		atomic_store(&f->etype_bytes, bytes ? bytes : 1);
	}
	errno = saved;
}

/* The bytes of an access that the program is about to make, with a type that may be invalid. */
static uint64_t access_bytes(const void *near, int64_t count, MPI_Datatype datatype)
{
	if (count <= 0 || !mpich_handle_is_valid(datatype, MPICH_DATATYPE))
		return 0;
	return mpi_bytes(near, datatype, count);
}

/* The bytes in the file from the first to the last one of the access, see mpi_span(). If they are
 * unknown, they count as adjacent. */
static uint64_t access_span(const void *near, const struct file *f, MPI_File handle, int64_t offset,
			    uint64_t bytes)
{
	uint64_t etype = atomic_load(&f->etype_bytes);
	void *const *functions = library_use(&uses, near);
	MPI_Offset first = 0, last = 0;

	if (!etype || bytes < etype || !functions || offset == ACCESS_AT_SHARED ||
	    !OF(functions, PMPI_File_get_position) || !OF(functions, PMPI_File_get_byte_offset))
		return bytes;
	if (offset == ACCESS_AT_POSITION &&
	    OF(functions, PMPI_File_get_position)(handle, &offset) != MPI_SUCCESS)
		return bytes;
	if (offset < 0 ||
	    OF(functions, PMPI_File_get_byte_offset)(handle, offset, &first) != MPI_SUCCESS ||
	    OF(functions, PMPI_File_get_byte_offset)(handle, offset + (int64_t)(bytes / etype) - 1,
						     &last) != MPI_SUCCESS ||
	    last < first)
		return bytes;
	return (uint64_t)(last - first) + etype;
}

/* The value of a hint with this choice. */
static const char *value_of(const struct file *f, unsigned choice, int key, char value[VALUE_BYTES])
{
	const char *hints = suggested_hints(capture_membership.control->suggestions, choice);
	char name[SLUICE_KEY_BYTES];

	if (!hints)
		hints = history_plan_hints(&f->opening.plan, choice);
	while (hints && hints_next(&hints, name, sizeof(name), value, VALUE_BYTES))
		if (hints_change_index(name) == key && hints_is_safe(name, value, false))
			return value;
	return f->opened[key];
}

static uint32_t choices_differ(const void *arg, unsigned from, unsigned to)
{
	const struct file *f = arg;
	char a[VALUE_BYTES], b[VALUE_BYTES];
	uint32_t keys = 0;

	for (int i = 0; i < HINTS_CHANGEABLE; i++)
		if (strcmp(value_of(f, from, i, a), value_of(f, to, i, b)) != 0)
			keys |= 1u << i;
	return keys;
}

/* The hints that change as KEY=VALUE;KEY=VALUE. The value is empty if the hint is back to what the
 * file was opened with. */
static size_t step_text(const struct file *f, const struct access_step *step, char text[TEXT_BYTES])
{
	char value[VALUE_BYTES];
	size_t used = 0;

	for (int i = 0; i < HINTS_CHANGEABLE; i++) {
		const char *to = value_of(f, step->choice, i, value);
		const char *parts[] = { used ? ";" : "", hints_changeable[i], "=",
					strcmp(to, f->opened[i]) ? to : "" };

		if (!(step->keys >> i & 1))
			continue;
		for (unsigned p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
			size_t n = strlen(parts[p]);

			memcpy(text + used, parts[p], n);
			used += n;
		}
	}
	return used;
}

/* Writes the record of the MPI_File_set_info, in the order of fields of its row in call_table. */
static void record_step(struct frame *f, const struct file *file, MPI_File handle,
			const struct access_step *step, int error)
{
	const struct call_info *call = &call_table[CALL_MPI_File_set_info];
	const struct handle_entry *entry =
		handle_table_find(handle_key(SPACE_MPI, (uint64_t)handle));
	char text[TEXT_BYTES];
	size_t bytes = error ? 0 : step_text(file, step, text);
	unsigned fixed = call->field_count - 1u; /* the hints are the only string, and last */
	unsigned words = RECORD_HEAD_WORDS + fixed + text_words(bytes);
	uint64_t values[FIELD_COUNT] = { [FIELD_LINK] = handle_entry_link(entry) };
	uint64_t *w = frame_leave(f, CALL_MPI_File_set_info, words, error);

	for (unsigned i = 0; i < fixed; i++)
		w[RECORD_HEAD_WORDS + i] = values[call->fields[i]];
	frame_text(f, w + RECORD_HEAD_WORDS + fixed, text, bytes);
	frame_commit(f, w, words);
}

static int set_info(const void *near, const struct file *f, MPI_File handle,
		    const struct access_step *step)
{
	void *const *functions = library_use(&uses, near);
	char value[VALUE_BYTES];
	MPI_Info info = 0;
	int error = -1;

	if (info_copy(near, 0, &info)) {
		for (int i = 0; i < HINTS_CHANGEABLE; i++)
			if (step->keys >> i & 1)
				info_set(near, info, hints_changeable[i],
					 value_of(f, step->choice, i, value));
		error = OF(functions, PMPI_File_set_info)(handle, info);
		info_free(near, &info);
	}
	return error;
}

/* Counts a change for the plug-in that has made it. One back to what the file was opened with is
 * made by that whose hints were in force. */
static void count_step(struct control *control, const struct file *f,
		       const struct access_step *step)
{
	unsigned choice = step->choice ? step->choice : f->choice;

	if (suggested_hints(control->suggestions, choice))
		inline_acted(inline_index(control, inline_model_hints.name), 1);
	else
		atomic_fetch_add_explicit(&control->hint_changes, 1, memory_order_relaxed);
}

/* All ranks of the file are here, or will be: they have the same step. */
static void make_step(const void *near, struct file *f, MPI_File handle,
		      const struct access_step *step)
{
	struct frame frame;
	bool recorded = frame_enter(&frame);
	int error = set_info(near, f, handle, step);

	if (recorded) {
		frame_stop(&frame);
		record_step(&frame, f, handle, step,
			    error > MPI_SUCCESS ? mpi_error_class(near, error) : error);
	}
	if (step->is_mine && error == MPI_SUCCESS)
		count_step(capture_membership.control, f, step);
	f->choice = step->choice;
}

/* What history has learned has precedence over suggestions. */
static void choose(struct file *f, const struct history_access *access, struct access_rank *rank)
{
	struct control *control = capture_membership.control;

	rank->has_opinion = history_plan_choose(&f->opening.plan, access, &rank->wanted);
	if (rank->wanted || !f->opening.suggested)
		return;
	if (!suggestions_are_measured(&control->suggestions_until, clock_ticks(control->clock))) {
		/* Those in force end, whatever the access is. */
		rank->has_opinion |= suggested_hints(control->suggestions, f->choice) != NULL;
	} else if (access->bytes) {
		rank->wanted =
			suggested_find(control->suggestions, f->opening.suggested, f->opening.ranks,
				       atomic_load(&f->changes->own), access);
		rank->has_opinion |= rank->wanted != 0;
	}
}

static void before(const void *near, struct file *f, MPI_File handle,
		   const struct history_access *access)
{
	struct access_rank rank = { .access = ++f->accesses,
				    .ranks = f->opening.ranks,
				    .limit = f->opening.plan.first ? f->opening.plan.changes
								   : CHANGES,
				    .differ = choices_differ,
				    .arg = f };
	struct access_step step;

	if (rank.access == 1)
		access_join(f->changes, f->opened_hash, f->opening.own);
	choose(f, access, &rank);
	step = access_decide(f->changes, &rank);
	if (step.keys)
		make_step(near, f, handle, &step);
}

void access_before_slow(unsigned call, const char *name, const void *near, MPI_File handle,
			enum access_way way, int64_t offset, int64_t count, MPI_Datatype datatype)
{
	struct file *f = find_file(handle);
	struct history_access access = { .call = name,
					 .is_write = call_table[call].class == CLASS_WRITE,
					 .is_collective = way == ACCESS_TOGETHER };
	int saved = errno;

	if (!f || atomic_load(&f->is_left_alone) || (way == ACCESS_ALONE && f->opening.ranks > 1))
		return;
	/* The program orders collective accesses. */
	if (f->opening.ranks == 1 && atomic_exchange(&f->is_busy, true))
		return;
	access.bytes = access_bytes(near, count, datatype);
	access.span = access_span(near, f, handle, offset, access.bytes);
	access.is_strided = access.span > access.bytes;
	before(near, f, handle, &access);
	atomic_store(&f->is_busy, false);
	errno = saved;
}
