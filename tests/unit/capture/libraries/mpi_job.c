/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The count of ranks in the control page. The calls of the MPI are tested with real MPIs
 * (tests/run/mpi_history.sh).
 */
#include "check.h"

/* Guest code in a host test: the file is included, and stubs replace the MPI. */
#include "capture/libraries/hints_file.c"
#include "capture/libraries/mpi_job.c"

struct membership capture_membership;
struct mpi_kind mpi_kind;

void mpi_bind_slow(const void *called)
{
	(void)called;
}

int mpi_size(const void *called, MPI_Comm comm)
{
	(void)called;
	(void)comm;
	return 1;
}

uint64_t mpi_text_hash(const char *text)
{
	return (uint64_t)strlen(text);
}

static struct control page;

static void a_job_has_its_ranks_when_all_are_counted(void)
{
	int one, other;

	memset((void *)&page, 0, sizeof(page));
	CHECK_INT(mpi_job_count_rank(&page, 0), -1);
	CHECK(!mpi_job_has_ranks(&page, -1, 1));
	one = mpi_job_count_rank(&page, 77);
	CHECK(one >= 0);
	CHECK(mpi_job_has_ranks(&page, one, 1));
	CHECK(!mpi_job_has_ranks(&page, one, 2));
	other = mpi_job_count_rank(&page, 78);
	CHECK(other >= 0);
	CHECK(other != one);
	CHECK_INT(mpi_job_count_rank(&page, 77), one);
	CHECK(mpi_job_has_ranks(&page, one, 2));
	CHECK(mpi_job_has_ranks(&page, other, 1));
	CHECK(!mpi_job_has_ranks(&page, other, 0));
}

static void only_a_descriptor_names_the_launcher(void)
{
	static const char *const wrong[] = { "",   "-1",	 "x",
					     "3x", "2147483648", "99999999999999999999" };

	CHECK(!unsetenv("PMI_FD"));
	CHECK_INT(launcher_socket(), -1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK(!setenv("PMI_FD", wrong[i], 1));
		CHECK_INT(launcher_socket(), -1);
	}
	CHECK(!setenv("PMI_FD", "8", 1));
	CHECK_INT(launcher_socket(), 8);
}

static void jobs_beyond_the_table_are_not_counted(void)
{
	memset((void *)&page, 0, sizeof(page));
	for (uint64_t key = 1; key <= CONTROL_JOBS; key++)
		CHECK(mpi_job_count_rank(&page, key) >= 0);
	CHECK_INT(mpi_job_count_rank(&page, CONTROL_JOBS + 1), -1);
	CHECK(mpi_job_count_rank(&page, 5) >= 0);
}

static void a_process_without_a_job_shares_its_parameters(void)
{
	CHECK(!mpi_job_has_joined());
	CHECK(mpi_job_shares_parameters());
}

static void different_hints_files_are_noticed(void)
{
	static struct control control;

	mpi_job_compare_hints_file(&control, -1, 1);
	mpi_job_compare_hints_file(&control, 3, 7);
	mpi_job_compare_hints_file(&control, 3, 7);
	CHECK_INT(control.jobs[3].differs, 0);
	mpi_job_compare_hints_file(&control, 3, 9);
	CHECK_INT(control.jobs[3].differs, 1);
}

/* As ROMIO reads it: lines of other than two words do not count. */
static void hints_files_are_read_as_romio_does(void)
{
	const char *file = "# cb_nodes 1\ncb_buffer_size 4096\n\nromio_ds_write  disable\t\n"
			   "three words here\nalone\n  indented 1\nlast 2";

	CHECK(hints_file_text_has(file, "cb_buffer_size"));
	CHECK(hints_file_text_has(file, "romio_ds_write"));
	CHECK(hints_file_text_has(file, "indented"));
	CHECK(hints_file_text_has(file, "last"));
	CHECK(!hints_file_text_has(file, "cb_nodes"));
	CHECK(!hints_file_text_has(file, "cb_buffer"));
	CHECK(!hints_file_text_has(file, "three"));
	CHECK(!hints_file_text_has(file, "alone"));
	CHECK(!hints_file_text_has("", "alone"));
}

TESTS(TEST(a_job_has_its_ranks_when_all_are_counted), TEST(only_a_descriptor_names_the_launcher),
      TEST(jobs_beyond_the_table_are_not_counted),
      TEST(a_process_without_a_job_shares_its_parameters), TEST(different_hints_files_are_noticed),
      TEST(hints_files_are_read_as_romio_does))
