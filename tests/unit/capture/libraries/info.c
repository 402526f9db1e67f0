/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hints as text: sorted, bounded and unambiguous. The calls of the library are tested with real
 * MPIs (tests/run/mpi_history.sh).
 */
#include "check.h"

#include "capture/libraries/info.c"

struct mpi_kind mpi_kind;

/* What mpi_bind() detects, which is MPICH if it is set. */
static uint64_t detected;

void mpi_bind_slow(const void *called)
{
	(void)called;
	atomic_store(&mpi_kind.request_mask, detected);
}

void *const *library_use_slow(struct library_uses *table, const void *real)
{
	(void)table;
	(void)real;
	return NULL;
}

static void hints_are_sorted_by_key(void)
{
	struct info_text text = { 0 };

	CHECK(info_text_put(&text, "striping_unit", "1048576"));
	CHECK(info_text_put(&text, "cb_nodes", "2"));
	CHECK(info_text_put(&text, "cb", ""));
	CHECK(info_text_put(&text, "romio_ds_read", "a=b"));
	CHECK_TEXT(info_text_end(&text), "cb=;cb_nodes=2;romio_ds_read=a=b;striping_unit=1048576");
}

static void without_hints_the_text_is_empty(void)
{
	struct info_text text = { 0 };

	CHECK_TEXT(info_text_end(&text), "");
}

static void ambiguous_hints_are_left_out(void)
{
	struct info_text text = { 0 };

	CHECK(!info_text_put(&text, "", "1"));
	CHECK(!info_text_put(&text, "a=b", "1"));
	CHECK(!info_text_put(&text, "a;b", "1"));
	CHECK(!info_text_put(&text, "a", "1;b=2"));
	CHECK(!info_text_put(&text, "a", "1\n"));
	CHECK(info_text_put(&text, "a", "1"));
	CHECK_TEXT(info_text_end(&text), "a=1");
}

static void hints_that_do_not_fit_are_left_out(void)
{
	struct info_text text = { 0 };
	char value[1025];
	size_t put = 0;

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	for (int i = 0; i < 5; i++)
		put += info_text_put(&text, (char[]){ (char)('a' + i), 0 }, value);
	CHECK_INT(put, 3);
	CHECK(info_text_put(&text, "z", "short"));
	info_text_end(&text);
	CHECK(strlen(text.text) <= RECORD_STRING_MAX);
	CHECK_TEXT(strrchr(text.text, ';'), ";z=short");
}

/* The handles of MPICH contain their kind; the upper half of the word may hold anything. */
static void invalid_handles_are_detected(void)
{
	detected = UINT32_MAX;
	CHECK(!info_is_valid(NULL, 0x1c000000)); /* MPI_INFO_NULL */
	CHECK(!info_is_valid(NULL, 0));
	CHECK(!info_is_valid(NULL, 0x44000000)); /* a communicator */
	CHECK(!info_is_valid(NULL, INT64_C(0x7fff1c000000)));
	CHECK(info_is_valid(NULL, 0x5c000001)); /* MPI_INFO_ENV */
	CHECK(info_is_valid(NULL, (intptr_t)(int32_t)0x9c000000));
}

/* A pointer of Open MPI may look like a handle of MPICH. */
static void no_handle_is_valid_before_the_library_is_known(void)
{
	detected = 0;
	atomic_store(&mpi_kind.request_mask, 0);
	CHECK(!info_is_valid(NULL, 0x5c000001));
	detected = UINT32_MAX;
	CHECK(info_is_valid(NULL, 0x5c000001));
}

TESTS(TEST(hints_are_sorted_by_key), TEST(without_hints_the_text_is_empty),
      TEST(ambiguous_hints_are_left_out), TEST(hints_that_do_not_fit_are_left_out),
      TEST(invalid_handles_are_detected), TEST(no_handle_is_valid_before_the_library_is_known))
