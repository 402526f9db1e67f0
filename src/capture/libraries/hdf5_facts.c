/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/hdf5_facts.h"

#include "capture/libraries/wrapper_helpers.h"
#include "contract/calls.h"

/* The functions of the library that are called: name, symbol if linked, type. */
#define USES(X)                                                                                    \
	X(H5Dget_access_plist, __real_H5Dget_access_plist, hid_t (*)(hid_t))                       \
	X(H5Dget_create_plist, __real_H5Dget_create_plist, hid_t (*)(hid_t))                       \
	X(H5Dget_type, H5Dget_type, hid_t (*)(hid_t))                                              \
	X(H5Pclose, __real_H5Pclose, herr_t (*)(hid_t))                                            \
	X(H5Pget_chunk, H5Pget_chunk, int (*)(hid_t, int, hsize_t *))                              \
	X(H5Pget_chunk_cache, H5Pget_chunk_cache, herr_t (*)(hid_t, size_t *, size_t *, double *)) \
	X(H5Pget_filter2, H5Pget_filter2,                                                          \
	  H5Z_filter_t (*)(hid_t, unsigned, unsigned *, size_t *, unsigned *, size_t, char *,      \
			   unsigned *))                                                            \
	X(H5Pget_layout, H5Pget_layout, H5D_layout_t (*)(hid_t))                                   \
	X(H5Pget_mpio_no_collective_cause, H5Pget_mpio_no_collective_cause,                        \
	  herr_t (*)(hid_t, uint32_t *, uint32_t *))                                               \
	X(H5Pget_nfilters, H5Pget_nfilters, int (*)(hid_t))                                        \
	X(H5Tclose, __real_H5Tclose, herr_t (*)(hid_t))                                            \
	X(H5Tget_size, H5Tget_size, size_t (*)(hid_t))

LIBRARY_TYPED(USES)

#define LAYOUT_CHUNKED 2      /* H5D_CHUNKED */
#define CAUSE_INDEPENDENT 0x1 /* H5D_MPIO_SET_INDEPENDENT: the program asked for it */
#define FILTERS_MAX 8
#define TEXT_BYTES 512

struct facts {
	size_t used;
	char text[TEXT_BYTES];
};

static void put_word(struct facts *facts, const char *word)
{
	size_t n = strlen(word);

	if (n >= TEXT_BYTES - facts->used)
		return;
	memcpy(facts->text + facts->used, word, n);
	facts->used += n;
}

static void put_number(struct facts *facts, uint64_t number)
{
	char digits[21], *at = digits + sizeof(digits) - 1;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put_word(facts, at);
}

static void put_fact(struct facts *facts, const char *key, uint64_t value)
{
	put_word(facts, key);
	put_number(facts, value);
}

static void record(unsigned call, uint64_t link, const struct facts *facts)
{
	unsigned words = RECORD_HEAD_WORDS + 1 + text_words(0) + text_words(facts->used);
	struct frame f;
	uint64_t *w, *text;

	if (!link || !frame_enter(&f))
		return;
	f.stop = f.start;
	w = frame_leave(&f, call, words, 0);
	w[RECORD_HEAD_WORDS] = link;
	text = frame_text(&f, w + RECORD_HEAD_WORDS + 1, "", 0);
	frame_text(&f, text, facts->text, facts->used);
	frame_commit(&f, w, words);
}

static void put_cache(struct facts *facts, void *const *functions, hid_t dataset, size_t *slots)
{
	hid_t list = OF(functions, H5Dget_access_plist)(dataset);
	size_t bytes = 0;
	double w0;

	if (list < 0)
		return;
	if (OF(functions, H5Pget_chunk_cache)(list, slots, &bytes, &w0) >= 0)
		put_fact(facts, "cache=", bytes);
	OF(functions, H5Pclose)(list);
}

static void put_chunk(struct facts *facts, void *const *functions, hid_t creation)
{
	hsize_t chunk[HDF5_RANK_MAX];
	int rank = OF(functions, H5Pget_chunk)(creation, HDF5_RANK_MAX, chunk);

	for (int i = 0; i < rank && i < HDF5_RANK_MAX; i++)
		put_fact(facts, i ? "," : ";chunk=", chunk[i]);
}

static void put_element(struct facts *facts, void *const *functions, hid_t dataset)
{
	hid_t type = OF(functions, H5Dget_type)(dataset);

	if (type < 0)
		return;
	put_fact(facts, ";element=", OF(functions, H5Tget_size)(type));
	OF(functions, H5Tclose)(type);
}

static void put_filters(struct facts *facts, void *const *functions, hid_t creation)
{
	int count = OF(functions, H5Pget_nfilters)(creation);

	for (int i = 0; i < count && i < FILTERS_MAX; i++) {
		unsigned flags = 0, config = 0;
		size_t values = 0;
		int filter = OF(functions, H5Pget_filter2)(creation, (unsigned)i, &flags, &values,
							   NULL, 0, NULL, &config);

		if (filter > 0)
			put_fact(facts, i ? "," : ";filters=", (uint64_t)filter);
	}
}

/* The functions of the copy, if it has all that are needed to describe a dataset. */
static void *const *usable_functions(const void *called)
{
	void *const *functions = library_use(&uses, called);

	for (unsigned i = 0; functions && i < USE_COUNT; i++)
		if (!functions[i] && i != USE_H5Pget_mpio_no_collective_cause)
			return NULL;
	return functions;
}

static void record_layout(void *const *functions, hid_t dataset, hid_t creation,
			  struct handle_entry *entry)
{
	struct facts facts = { 0 };
	size_t slots = 0;

	if (OF(functions, H5Pget_layout)(creation) != LAYOUT_CHUNKED)
		return;
	put_cache(&facts, functions, dataset, &slots);
	put_chunk(&facts, functions, creation);
	put_element(&facts, functions, dataset);
	put_filters(&facts, functions, creation);
	put_fact(&facts, ";slots=", slots);
	record(CALL_H5D_layout, handle_entry_link(entry), &facts);
}

void hdf5_facts_record(const void *called, hid_t dataset, struct handle_entry *entry)
{
	void *const *functions = hdf5_is_parallel(called) ? NULL : usable_functions(called);
	hid_t creation;

	atomic_store_explicit(&entry->HDF5_IS_DESCRIBED, 1, memory_order_relaxed);
	creation = functions ? OF(functions, H5Dget_create_plist)(dataset) : -1;
	if (creation < 0)
		return;
	record_layout(functions, dataset, creation, entry);
	OF(functions, H5Pclose)(creation);
}

void hdf5_facts_created(const void *called, hid_t dataset, hid_t properties,
			struct handle_entry *opened)
{
	void *const *functions;

	if (!opened || properties == HDF5_DEFAULT || !hdf5_is_parallel(called))
		return;
	functions = usable_functions(called);
	if (functions)
		record_layout(functions, dataset, properties, opened);
}

void hdf5_cause_record(const void *called, hid_t transfer, struct handle_entry *entry)
{
	void *const *functions = library_use(&uses, called);
	uint32_t local = 0, global = 0;
	struct facts facts;

	if (!functions || !OF(functions, H5Pget_mpio_no_collective_cause) ||
	    OF(functions, H5Pget_mpio_no_collective_cause)(transfer, &local, &global) < 0)
		return;
	local |= global;
	if (!local || local & CAUSE_INDEPENDENT ||
	    atomic_load_explicit(&entry->HDF5_LAST_CAUSE, memory_order_relaxed) == local)
		return;
	atomic_store_explicit(&entry->HDF5_LAST_CAUSE, local, memory_order_relaxed);
	facts.used = 0;
	put_fact(&facts, "cause=", local);
	record(CALL_H5D_no_collective, handle_entry_link(entry), &facts);
}
