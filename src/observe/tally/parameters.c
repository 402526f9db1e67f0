/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/tally/traffic.h"
#include "contract/parameters.h"

/* What a call means to us: enum parameters_of, or one of these. */
enum { KIND_COLLECTIVE_WRITE = PARAMETERS_FILE_POSIX + 1, KIND_COLLECTIVE_READ, KIND_DATA };

/* Records that say the same of the same file. */
struct record {
	enum parameters_of of;
	file_id file, requested, effective;
	uint64_t count;
	size_t number;	     /* by their coming */
	struct record *next; /* of the same hash */
};

static const struct {
	const char *name;
	enum parameters_of of;
} records[] = {
	{ PARAMETERS_OF_MPI, PARAMETERS_FILE_MPI },
	{ PARAMETERS_OF_HDF5_FILE, PARAMETERS_FILE_HDF5 },
	{ PARAMETERS_OF_DATASET, PARAMETERS_DATASET },
	{ PARAMETERS_OF_POSIX, PARAMETERS_FILE_POSIX },
};

static uint8_t kind_of(const struct call_info *call)
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
	p->kinds = xcalloc(head->call_count + 1, sizeof(*p->kinds));
	for (size_t i = 0; i < head->call_count; i++)
		p->kinds[i] = kind_of(&head->calls[i]);
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

static struct evidence *evidence_of(const struct parameters *p, file_id file)
{
	return map_get(&p->files, (uint64_t)file + 1);
}

const struct evidence *parameters_evidence(const struct parameters *p, file_id file)
{
	return evidence_of(p, file);
}

static struct evidence *evidence_make(struct parameters *p, file_id file)
{
	struct evidence *e = evidence_of(p, file);
	size_t words = p->head->process_count / 64 + 1;

	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->took_part = xcalloc(words, sizeof(*e->took_part));
	e->wrote = xcalloc(words, sizeof(*e->wrote));
	map_put(&p->files, (uint64_t)file + 1, e);
	return e;
}

/* Sets the process's bit; 1 if it was not set. */
static size_t mark(uint64_t *bits, uint32_t process)
{
	uint64_t bit = UINT64_C(1) << process % 64;
	bool is_new = !(bits[process / 64] & bit);

	bits[process / 64] |= bit;
	return is_new;
}

static uint64_t record_key(const struct record *r)
{
	uint64_t key = r->of;

	key = key * UINT64_C(0x9e3779b97f4a7c15) + r->file;
	key = key * UINT64_C(0x9e3779b97f4a7c15) + r->requested;
	key = key * UINT64_C(0x9e3779b97f4a7c15) + r->effective;
	return key ? key : 1;
}

/* True if it is the first of its kind. */
static bool record_count(struct parameters *p, const struct record *seen)
{
	uint64_t key = record_key(seen);
	struct record *first = map_get(&p->records, key), *r = first;

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

static const char *text_of(const struct parameters *p, file_id id)
{
	return id && id < p->head->file_count ? p->head->files[id] : "";
}

/* The value of a key in KEY=VALUE;KEY=VALUE, and its length; NULL: it is not there. */
static const char *value_of(const char *text, const char *key, size_t *n)
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

/* Which MPI, and which driver of it: known from any opening of the file. */
static void middleware_learn(struct evidence *e, const char *effective)
{
	static const char *const words[] = { PARAMETERS_MPICH, PARAMETERS_OPENMPI_ROMIO,
					     PARAMETERS_OMPIO };
	size_t n;
	const char *value = value_of(effective, PARAMETERS_MPI, &n);

	for (size_t i = 0; value && i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == n && strncmp(words[i], value, n) == 0)
			e->mpi = words[i];
	value = value_of(effective, "romio_filesystem_type", &n);
	if (value && !e->driver)
		e->driver = xstrndup(value, n);
}

static bool number_of(const char *text, const char *key, uint64_t *number)
{
	size_t n;
	const char *value = value_of(text, key, &n);
	char *end;

	if (!value || !n || *value < '0' || *value > '9')
		return false;
	*number = strtoull(value, &end, 10);
	return end == value + n;
}

/*
 * Where a dataset is. All ranks that make it tell the same; at one place is one dataset, the larger
 * where a file was made anew.
 */
static void place_learn(struct evidence *e, const char *effective)
{
	uint64_t offset, size;

	if (number_of(effective, PARAMETERS_OFFSET, &offset) && offset != UINT64_MAX &&
	    number_of(effective, PARAMETERS_SIZE, &size) &&
	    size > (uintptr_t)map_get(&e->places, offset + 1))
		map_put(&e->places, offset + 1, (void *)(uintptr_t)size);
}

static void source_learn(struct evidence *e, const char *effective)
{
	size_t n;
	const char *value = value_of(effective, PARAMETERS_FROM, &n);

	if (value && n == strlen(PARAMETERS_FROM_FILE) &&
	    strncmp(value, PARAMETERS_FROM_FILE, n) == 0)
		e->is_read_back = true;
}

static void record_add(struct parameters *p, const struct activity *a, enum parameters_of of)
{
	struct record seen = { .of = of, .file = a->file };
	struct evidence *e = evidence_make(p, a->file);
	const char *effective;

	if (a->present & PRESENT(NAME))
		seen.requested = a->name;
	if (a->present & PRESENT(HINTS))
		seen.effective = a->hints;
	if (!record_count(p, &seen))
		return;
	effective = text_of(p, seen.effective);
	if (of == PARAMETERS_FILE_MPI && !e->mpi)
		middleware_learn(e, effective);
	else if (of == PARAMETERS_FILE_HDF5)
		source_learn(e, effective);
	else if (of == PARAMETERS_DATASET)
		place_learn(e, effective);
}

/* Is it beneath a call of that kind? */
static bool is_beneath(const struct parameters *p, unsigned kind, const struct nest_call *enclosing,
		       size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (p->kinds[enclosing[i].call] == kind)
			return true;
	return false;
}

static void storage_write(struct evidence *e, const struct activity *a,
			  const struct call_info *call)
{
	uint64_t bytes = traffic_bytes(a, call);

	e->writers += mark(e->wrote, a->process);
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
	e = p->files.count && a->process < p->head->process_count ? evidence_of(p, a->file) : NULL;
	if (!e)
		return;
	if (kind == KIND_DATA)
		e->transfers++;
	if ((kind == KIND_COLLECTIVE_WRITE || kind == KIND_COLLECTIVE_READ) &&
	    is_beneath(p, KIND_DATA, enclosing, depth))
		e->collectives++;
	if (kind == KIND_COLLECTIVE_WRITE)
		e->writing += mark(e->took_part, a->process);
	if (call->layer == LAYER_POSIX && traffic_ways(call) & 1u << WRITING &&
	    is_beneath(p, KIND_COLLECTIVE_WRITE, enclosing, depth))
		storage_write(e, a, call);
}

/* ---- rows ---- */

struct rows {
	struct parameter *list;
	size_t count, cap;
	size_t first; /* of the file and kind that are being looked at */
};

static struct parameter *row_find(struct rows *rows, const char *name, size_t n)
{
	for (size_t i = rows->first; i < rows->count; i++)
		if (strncmp(rows->list[i].name, name, n) == 0 && !rows->list[i].name[n])
			return &rows->list[i];
	return NULL;
}

static struct parameter *row_add(struct rows *rows, const struct record *r, const char *name,
				 size_t n)
{
	struct parameter *row;

	rows->list = xgrow(rows->list, &rows->cap, rows->count + 1, sizeof(*rows->list));
	row = &rows->list[rows->count++];
	*row = (struct parameter){ .of = r->of, .name = xstrndup(name, n), .file = r->file };
	return row;
}

/* What a record says of one parameter. */
static void row_count(struct rows *rows, const struct record *r, const char *name, size_t n,
		      const char *requested, const char *effective)
{
	AUTO_FREE char *key = xstrndup(name, n);
	size_t r_bytes = 0, e_bytes = 0;
	const char *asked = value_of(requested, key, &r_bytes);
	const char *got = value_of(effective, key, &e_bytes);
	AUTO_FREE char *wish = asked ? xstrndup(asked, r_bytes) : NULL;
	AUTO_FREE char *value = got ? xstrndup(got, e_bytes) : NULL;
	struct parameter *row = row_find(rows, name, n);

	if (!row) {
		row = row_add(rows, r, name, n);
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

/* What is told beside parameters, and is none. */
static bool is_remark(const char *key)
{
	return strcmp(key, PARAMETERS_MPI) == 0 || strcmp(key, PARAMETERS_FROM) == 0 ||
	       strcmp(key, PARAMETERS_OFFSET) == 0 || strcmp(key, PARAMETERS_SIZE) == 0;
}

/* Every key of a text; those that are in `before` as well were dealt with there. */
static void keys_count(struct rows *rows, const struct record *r, const char *text,
		       const char *before, const char *requested, const char *effective)
{
	for (; *text; text += strcspn(text, ";"), text += *text == ';') {
		size_t n = strcspn(text, "=;"), unused;
		AUTO_FREE char *key = xstrndup(text, n);

		if (n && text[n] == '=' && !value_of(before, key, &unused) && !is_remark(key))
			row_count(rows, r, text, n, requested, effective);
	}
}

static void record_rows(const struct parameters *p, struct rows *rows, const struct record *r)
{
	const char *requested = text_of(p, r->requested), *effective = text_of(p, r->effective);

	keys_count(rows, r, requested, "", requested, effective);
	keys_count(rows, r, effective, requested, requested, effective);
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_together(const struct record *a, const struct record *b)
{
	return a->file == b->file && a->of == b->of;
}

struct parameter *parameters_rows(const struct parameters *p, size_t *count)
{
	AUTO_FREE struct record **sorted = xcalloc(p->count + 1, sizeof(struct record *));
	struct rows rows = { 0 };

	for (size_t i = 0; i < p->count; i++)
		sorted[i] = p->order[i];
	qsort(sorted, p->count, sizeof(*sorted), compare_records);
	for (size_t i = 0; i < p->count; i++) {
		if (i && !is_together(sorted[i], sorted[i - 1]))
			rows.first = rows.count;
		record_rows(p, &rows, sorted[i]);
	}
	*count = rows.count;
	return rows.list;
}

void parameters_rows_release(struct parameter *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(rows[i].name);
		free(rows[i].requested);
		free(rows[i].refusal);
		free(rows[i].effective);
	}
	free(rows);
}
