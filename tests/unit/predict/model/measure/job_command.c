/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command lines that start a benchmark job with each launcher.
 */
#include "predict/model/measure/job_command.h"

#include <stdlib.h>

#include "base/buf.h"
#include "check.h"

/* The words of the command line, separated by blanks. */
static void check_line(const struct job_command *command, const char *expected)
{
	AUTO_BUF struct buf line = { 0 };
	struct words words = { 0 };

	job_command_line(command, &words);
	for (size_t i = 0; i < words.count; i++)
		buf_printf(&line, "%s%s", i ? " " : "", words.items[i]);
	CHECK_TEXT(buf_text(&line), expected);
	words_release(&words);
}

static void mpiexec_gets_the_number_of_ranks(void)
{
	check_line(&(struct job_command){ .launcher = "/bin/mpiexec", .ranks = 4 },
		   "/bin/mpiexec -n 4");
}

static void ranks_are_spread_over_hosts_as_each_launcher_wants(void)
{
	struct job_command command = { .launcher = "mpiexec", .hosts = "a,b", .ranks = 5 };

	command.mpi = MPI_MPICH;
	check_line(&command, "mpiexec -n 5 -hosts a,b -ppn 3");
	command.mpi = MPI_OPENMPI;
	check_line(&command, "mpiexec -n 5 --host a:3,b:3");
}

static void the_users_launcher_gets_the_number_of_ranks(void)
{
	check_line(&(struct job_command){ .launcher_command = "srun  -N 2 -n {ranks} x{ranks}y",
					  .hosts = "ignored",
					  .ranks = 16 },
		   "srun -N 2 -n 16 x16y");
}

static void open_mpi_oversubscribes_only_if_needed(void)
{
	struct job_command command = { .launcher = "mpiexec", .ranks = 4, .cores = 4 };
	struct words words = { 0 };

	unsetenv("OMPI_MCA_rmaps_base_oversubscribe");
	setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
	unsetenv("OMPI_MCA_hwloc_base_binding_policy");
	unsetenv("PRTE_MCA_rmaps_default_mapping_policy");
	unsetenv("PRTE_MCA_hwloc_default_binding_policy");
	job_command_environment(&command, &words);
	CHECK_INT(words.count, 0);
	command.cores = 2;
	job_command_environment(&command, &words);
	/* The variable that the user has set stays. */
	REQUIRE(words.count == 4);
	CHECK_TEXT(words.items[0], "OMPI_MCA_rmaps_base_oversubscribe=1");
	CHECK_TEXT(words.items[1], "OMPI_MCA_hwloc_base_binding_policy=none");
	CHECK_TEXT(words.items[2], "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe");
	CHECK_TEXT(words.items[3], "PRTE_MCA_hwloc_default_binding_policy=none");
	words_release(&words);
}

TESTS(TEST(mpiexec_gets_the_number_of_ranks),
      TEST(ranks_are_spread_over_hosts_as_each_launcher_wants),
      TEST(the_users_launcher_gets_the_number_of_ranks),
      TEST(open_mpi_oversubscribes_only_if_needed))
