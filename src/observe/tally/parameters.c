/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-12.
 */
#include "observe/tally/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "contract/parameters.h"
#include "observe/tally/sums.h"
#include "observe/tally/traffic.h"

/* Kinds of calls: values of enum parameters_of, or one of these. */
enum { KIND_COLLECTIVE_WRITE = PARAMETERS_FILE_POSIX + 1, KIND_COLLECTIVE_READ, KIND_DATA };

static const struct {
	const char *name;
	enum parameters_of of;
} records[] = {
	{ PARAMETERS_OF_MPI, PARAMETERS_FILE_MPI },
	{ PARAMETERS_OF_HDF5_FILE, PARAMETERS_FILE_HDF5 },
	{ PARAMETERS_OF_DATASET, PARAMETERS_DATASET },
	{ PARAMETERS_OF_POSIX, PARAMETERS_FILE_POSIX },
};

static uint8_t kind_of_call(const struct call_info *call)
{
	unsigned ways = traffic_ways(call);

	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
		if (strcmp(call->name, records[i].name) == 0)
			return (uint8_t)records[i].of;
	if (call->layer == LAYER_HDF5 && ways && strncmp(call->name, "H5D", 3) == 0)
		return KIND_DATA;
	if (call->layer != LAYER_MPI ||
	    (!strstr(call->name, "_all") && !strstr(call->name, "_ordered")))
		return PARAMETERS_NONE;
	if (ways & 1u << WRITING)
		return KIND_COLLECTIVE_WRITE;
	return ways & 1u << READING ? KIND_COLLECTIVE_READ : PARAMETERS_NONE;
}

void parameters_init(struct parameters *p, const struct trace_head *head)
{
	*p = (struct parameters){ .head = head };
	parameters_follow_head(p);
}

void parameters_follow_head(struct parameters *p)
{
	const struct trace_head *head = p->head;

	free(p->kinds);
	p->kinds = xcalloc(head->call_count + 1, sizeof(*p->kinds));
	for (size_t i = 0; i < head->call_count; i++)
		p->kinds[i] = kind_of_call(&head->calls[i]);
}

static void evidence_free(struct evidence *e)
{
	free(e->took_part);
	free(e->wrote);
	free(e->driver);
	map_release(&e->places);
	free(e);
}

void parameters_release(struct parameters *p)
{
	for (size_t i = 0; i < p->files.cap; i++)
		if (p->files.entries[i].key)
			evidence_free(p->files.entries[i].value);
	for (size_t i = 0; i < p->count; i++)
		free(p->order[i]);
	map_release(&p->files);
	map_release(&p->records);
	free(p->order);
	free(p->kinds);
	*p = (struct parameters){ 0 };
}

static struct evidence *evidence_find(const struct parameters *p, file_id file)
{
	return map_get(&p->files, (uint64_t)file + 1);
}

const struct evidence *parameters_evidence(const struct parameters *p, file_id file)
{
	return evidence_find(p, file);
}

struct evidence *parameters_put_evidence(struct parameters *p, file_id file)
{
	struct evidence *e = evidence_find(p, file);
	size_t words = p->head->process_count / 64 + 1;

	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->took_part = xcalloc(words, sizeof(*e->took_part));
	e->wrote = xcalloc(words, sizeof(*e->wrote));
	map_put(&p->files, (uint64_t)file + 1, e);
	return e;
}

/* Sets the bit of the process. Returns 1 if it was not set before, else 0. */
static size_t set_process_bit(uint64_t *bits, uint32_t process)
{
	uint64_t bit = UINT64_C(1) << process % 64;
	bool is_new = !(bits[process / 64] & bit);

	bits[process / 64] |= bit;
	return is_new;
}

static uint64_t record_key(const struct parameter_record *r)
{
	uint64_t key = r->of;

	key = key * UINT64_C(0x9e3779b97f4a7c15) + r->file;
	key = key * UINT64_C(0x9e3779b97f4a7c15) + r->requested;
	key = key * UINT64_C(0x9e3779b97f4a7c15) + r->effective;
	return key ? key : 1;
}

/* Returns true if the record is the first of its kind. */
static bool record_count(struct parameters *p, const struct parameter_record *seen)
{
	uint64_t key = record_key(seen);
	struct parameter_record *first = map_get(&p->records, key), *r = first;

	while (r && (r->of != seen->of || r->file != seen->file ||
		     r->requested != seen->requested || r->effective != seen->effective))
		r = r->next;
	if (!r) {
		r = xcalloc(1, sizeof(*r));
		*r = *seen;
		r->next = first;
		r->number = p->count;
		map_put(&p->records, key, r);
		p->order = xgrow(p->order, &p->cap, p->count + 1, sizeof(*p->order));
		p->order[p->count++] = r;
	}
	return r->count++ == 0;
}

static const char *head_text(const struct parameters *p, file_id id)
{
	return id && id < p->head->file_count ? p->head->files[id] : "";
}

/* Finds the value of a key in "KEY=VALUE;KEY=VALUE" and its length; NULL if the key is missing. */
static const char *find_value(const char *text, const char *key, size_t *n)
{
	size_t k = strlen(key);

	for (; *text; text += strcspn(text, ";"), text += *text == ';') {
		if (strncmp(text, key, k) == 0 && text[k] == '=') {
			*n = strcspn(text + k + 1, ";");
			return text + k + 1;
		}
	}
	return NULL;
}

const char *parameters_mpi(const char *name, size_t n)
{
	static const char *const words[] = { PARAMETERS_MPICH, PARAMETERS_OPENMPI_ROMIO,
					     PARAMETERS_OMPIO };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == n && strncmp(words[i], name, n) == 0)
			return words[i];
	return NULL;
}

/* The MPI library and its driver are known from any open of the file. */
static void middleware_learn(struct evidence *e, const char *effective)
{
	size_t n;
	const char *value = find_value(effective, PARAMETERS_MPI, &n);

	if (value && parameters_mpi(value, n))
		e->mpi = parameters_mpi(value, n);
	value = find_value(effective, "romio_filesystem_type", &n);
	if (value && !e->driver)
		e->driver = xstrndup(value, n);
}

static bool parse_number(const char *text, const char *key, uint64_t *number)
{
	size_t n;
	const char *value = find_value(text, key, &n);
	char *end;

	if (!value || !n || *value < '0' || *value > '9')
		return false;
	*number = strtoull(value, &end, 10);
	return end == value + n;
}

/*
 * Learns the offset of a dataset. All ranks that create it report the same offset. One offset holds
 * one dataset; if the file was created again, the larger size is kept.
 */
static void place_learn(struct evidence *e, const char *effective)
{
	uint64_t offset, size;

	if (parse_number(effective, PARAMETERS_OFFSET, &offset) && offset != UINT64_MAX &&
	    parse_number(effective, PARAMETERS_SIZE, &size) &&
	    size > (uintptr_t)map_get(&e->places, offset + 1))
		map_put(&e->places, offset + 1, (void *)(uintptr_t)size);
}

static void source_learn(struct evidence *e, const char *effective)
{
	size_t n;
	const char *value = find_value(effective, PARAMETERS_FROM, &n);

	if (value && n == strlen(PARAMETERS_FROM_FILE) &&
	    strncmp(value, PARAMETERS_FROM_FILE, n) == 0)
		e->is_read_back = true;
}

static void record_add(struct parameters *p, const struct activity *a, enum parameters_of of)
{
	struct parameter_record seen = { .of = of, .file = a->file };
	struct evidence *e = parameters_put_evidence(p, a->file);
	const char *effective;

	if (a->present & PRESENT(NAME))
		seen.requested = a->name;
	if (a->present & PRESENT(HINTS))
		seen.effective = a->hints;
	if (!record_count(p, &seen))
		return;
	effective = head_text(p, seen.effective);
	if (of == PARAMETERS_FILE_MPI && !e->mpi)
		middleware_learn(e, effective);
	else if (of == PARAMETERS_FILE_HDF5)
		source_learn(e, effective);
	else if (of == PARAMETERS_DATASET)
		place_learn(e, effective);
}

void parameters_put(struct parameters *p, const struct parameter_record *record)
{
	struct parameter_record seen = *record, *r;

	seen.count = 0;
	record_count(p, &seen);
	for (r = map_get(&p->records, record_key(&seen)); r; r = r->next) {
		if (r->of == seen.of && r->file == seen.file && r->requested == seen.requested &&
		    r->effective == seen.effective)
			r->count += record->count - 1; /* record_count() has counted one */
	}
}

static void merge_record(struct parameters *p, const struct parameter_record *from,
			 const struct renumbering *to)
{
	const struct parameter_record record = {
		.of = from->of,
		.file = to->files[from->file],
		.requested = to->files[from->requested],
		.effective = to->files[from->effective],
		.count = from->count,
	};

	parameters_put(p, &record);
}

static void merge_evidence(struct evidence *e, const struct evidence *from)
{
	e->writing += from->writing;
	e->writers += from->writers;
	if (from->largest > e->largest)
		e->largest = from->largest;
	e->transfers += from->transfers;
	e->collectives += from->collectives;
	e->mpi = e->mpi ? e->mpi : from->mpi;
	if (!e->driver)
		e->driver = xstrdup(from->driver);
	e->is_read_back |= from->is_read_back;
	for (size_t i = 0; i < from->places.cap; i++) {
		const struct map_entry *place = &from->places.entries[i];

		if (place->key &&
		    (uintptr_t)place->value > (uintptr_t)map_get(&e->places, place->key))
			map_put(&e->places, place->key, place->value);
	}
}

void parameters_merge(struct parameters *p, const struct parameters *other,
		      const struct renumbering *to)
{
	for (size_t i = 0; i < other->files.cap; i++) {
		const struct map_entry *entry = &other->files.entries[i];

		if (entry->key)
			merge_evidence(parameters_put_evidence(p, to->files[entry->key - 1]),
				       entry->value);
	}
	for (size_t i = 0; i < other->count; i++)
		merge_record(p, other->order[i], to);
}

/* Does a call of that kind enclose it? */
static bool is_enclosed_by(const struct parameters *p, unsigned kind,
			   const struct nest_call *enclosing, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (p->kinds[enclosing[i].call] == kind)
			return true;
	return false;
}

static void evidence_add_write(struct evidence *e, const struct activity *a,
			       const struct call_info *call)
{
	uint64_t bytes = traffic_bytes(a, call);

	e->writers += set_process_bit(e->wrote, a->process);
	if (bytes > e->largest)
		e->largest = bytes;
}

void parameters_add(struct parameters *p, const struct activity *a,
		    const struct nest_call *enclosing, size_t depth)
{
	unsigned kind = p->kinds[a->call];
	const struct call_info *call = &p->head->calls[a->call];
	struct evidence *e;

	if (kind && kind <= PARAMETERS_FILE_POSIX)
		record_add(p, a, (enum parameters_of)kind);
	e = p->files.count && a->process < p->head->process_count ? evidence_find(p, a->file)
								  : NULL;
	if (!e)
		return;
	if (kind == KIND_DATA)
		e->transfers++;
	if ((kind == KIND_COLLECTIVE_WRITE || kind == KIND_COLLECTIVE_READ) &&
	    is_enclosed_by(p, KIND_DATA, enclosing, depth))
		e->collectives++;
	if (kind == KIND_COLLECTIVE_WRITE)
		e->writing += set_process_bit(e->took_part, a->process);
	if (call->layer == LAYER_POSIX && traffic_ways(call) & 1u << WRITING &&
	    is_enclosed_by(p, KIND_COLLECTIVE_WRITE, enclosing, depth))
		evidence_add_write(e, a, call);
}

struct rows {
	struct parameter *list;
	size_t count, cap;
	size_t first; /* first row of the current file and kind */
};

static struct parameter *row_find(struct rows *rows, const char *name, size_t n)
{
	for (size_t i = rows->first; i < rows->count; i++)
		if (strncmp(rows->list[i].name, name, n) == 0 && !rows->list[i].name[n])
			return &rows->list[i];
	return NULL;
}

static struct parameter *append_row(struct rows *rows, const struct parameter_record *r,
				    const char *name, size_t n)
{
	struct parameter *row;

	rows->list = xgrow(rows->list, &rows->cap, rows->count + 1, sizeof(*rows->list));
	row = &rows->list[rows->count++];
	*row = (struct parameter){ .of = r->of, .name = xstrndup(name, n), .file = r->file };
	return row;
}

/* Adds what a record says about one parameter. */
static void count_parameter(struct rows *rows, const struct parameter_record *r, const char *name,
			    size_t n, const char *requested, const char *effective)
{
	AUTO_FREE char *key = xstrndup(name, n);
	size_t r_bytes = 0, e_bytes = 0;
	const char *asked = find_value(requested, key, &r_bytes);
	const char *got = find_value(effective, key, &e_bytes);
	AUTO_FREE char *wish = asked ? xstrndup(asked, r_bytes) : NULL;
	AUTO_FREE char *value = got ? xstrndup(got, e_bytes) : NULL;
	struct parameter *row = row_find(rows, name, n);

	if (!row) {
		row = append_row(rows, r, name, n);
		row->refusal = wish && wish[0] == '!' ? xstrdup(wish + 1) : NULL;
		row->requested = wish && wish[0] != '!' ? xstrdup(wish) : NULL;
		row->effective = value ? xstrdup(value) : NULL;
	}
	row->openings += r->count;
	if (wish && wish[0] == '!')
		row->agreeing += row->refusal && strcmp(row->refusal, wish + 1) == 0 ? r->count : 0;
	else if (!wish == !row->requested && (!wish || !strcmp(wish, row->requested)) &&
		 !value == !row->effective && (!value || !strcmp(value, row->effective)))
		row->agreeing += r->count;
}

/* Keys that are reported next to the parameters but are not parameters. */
static bool is_remark(const char *key)
{
	return strcmp(key, PARAMETERS_MPI) == 0 || strcmp(key, PARAMETERS_FROM) == 0 ||
	       strcmp(key, PARAMETERS_OFFSET) == 0 || strcmp(key, PARAMETERS_SIZE) == 0;
}

/*
 * Handles every key of a text, except those that `before` contains as well: they were handled
 * there.
 */
static void count_keys(struct rows *rows, const struct parameter_record *r, const char *text,
		       const char *before, const char *requested, const char *effective)
{
	for (; *text; text += strcspn(text, ";"), text += *text == ';') {
		size_t n = strcspn(text, "=;"), unused;
		AUTO_FREE char *key = xstrndup(text, n);

		if (n && text[n] == '=' && !find_value(before, key, &unused) && !is_remark(key))
			count_parameter(rows, r, text, n, requested, effective);
	}
}

static void count_record(const struct parameters *p, struct rows *rows,
			 const struct parameter_record *r)
{
	const char *requested = head_text(p, r->requested), *effective = head_text(p, r->effective);

	count_keys(rows, r, requested, "", requested, effective);
	count_keys(rows, r, effective, requested, requested, effective);
}

static int compare_records(const void *a, const void *b)
{
	const struct parameter_record *x = *(struct parameter_record *const *)a,
				      *y = *(struct parameter_record *const *)b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool same_file_and_kind(const struct parameter_record *a, const struct parameter_record *b)
{
	return a->file == b->file && a->of == b->of;
}

static void row_release(struct parameter *row)
{
	free(row->name);
	free(row->requested);
	free(row->refusal);
	free(row->effective);
}

/* Is there a row for a layout with the same name, as the file system reports it? Rows of a file
 * are adjacent, those of layouts come last. */
static bool is_told_by_file_system(const struct parameter *row, const struct parameter *end)
{
	for (const struct parameter *next = row + 1; next < end && next->file == row->file; next++)
		if (row->of == PARAMETERS_FILE_MPI && next->of == PARAMETERS_FILE_POSIX &&
		    (next->requested || next->refusal) && strcmp(next->name, row->name) == 0)
			return true;
	return false;
}

/* An MPI library knows only its hints. What became of a layout, the file system knows. */
static void drop_hints_for_layouts(struct rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct parameter *row = &rows->list[i];

		if (is_told_by_file_system(row, rows->list + rows->count))
			row_release(row);
		else
			rows->list[kept++] = *row;
	}
	rows->count = kept;
}

struct parameter *parameters_rows(const struct parameters *p, size_t *count)
{
	AUTO_FREE struct parameter_record **sorted =
		xcalloc(p->count + 1, sizeof(struct parameter_record *));
	struct rows rows = { 0 };

	for (size_t i = 0; i < p->count; i++)
		sorted[i] = p->order[i];
	qsort(sorted, p->count, sizeof(*sorted), compare_records);
	for (size_t i = 0; i < p->count; i++) {
		if (i && !same_file_and_kind(sorted[i], sorted[i - 1]))
			rows.first = rows.count;
		count_record(p, &rows, sorted[i]);
	}
	drop_hints_for_layouts(&rows);
	*count = rows.count;
	return rows.list;
}

void parameters_rows_release(struct parameter *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_release(&rows[i]);
	free(rows);
}
