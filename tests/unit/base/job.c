/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"

static const char *const variables[] = {
	"SLUICE_JOB",
	"PMI_RANK",
	"PMI_SIZE",
	"PMI_ID",
	"PMIX_RANK",
	"PMIX_NAMESPACE",
	"PALS_APID",
	"PALS_LOCAL_SIZE",
	"MPI_LOCALNRANKS",
	"SLURM_PROCID",
	"SLURM_NTASKS",
	"SLURM_JOB_ID",
	"SLURM_STEP_ID",
	"SLURM_ARRAY_JOB_ID",
	"SLURM_ARRAY_TASK_ID",
	"SLURM_NODEID",
	"SLURM_STEP_TASKS_PER_NODE",
	"PBS_JOBID",
	"OMPI_COMM_WORLD_RANK",
	"OMPI_COMM_WORLD_SIZE",
	"OMPI_COMM_WORLD_LOCAL_SIZE",
	"OMPI_MCA_ess_base_jobid",
	"OMPI_MCA_orte_precondition_transports",
};

/* Replaces all launcher variables of the environment by these "NAME=value". */
static void set_variables(const char *const *environment)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
	for (; *environment; environment++)
		putenv((char *)*environment);
}

#define SET(...) set_variables((const char *const[]){ __VA_ARGS__, NULL })
#define FIND(job, ...) (SET(__VA_ARGS__), job_find(job))

static void without_a_launcher_there_is_no_job(void)
{
	struct job job;

	CHECK(!FIND(&job, "HOME=/"));
	CHECK(!job.id);
	CHECK(!FIND(&job, "SLUICE_JOB=alone"));
	/* Invalid numbers. */
	CHECK(!FIND(&job, "OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=1"));
	CHECK(!FIND(&job, "OMPI_COMM_WORLD_RANK=x", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=1"));
	CHECK(!FIND(&job, "PMI_RANK=-1", "PMI_SIZE=4"));
}

static void open_mpi_is_identified_by_namespace_and_key(void)
{
	struct job a, b;

	REQUIRE(FIND(&a, "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8",
		     "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=1340669953",
		     "OMPI_MCA_orte_precondition_transports=a35488bd-162f3093"));
	CHECK_TEXT(a.launcher, "Open MPI");
	CHECK_INT(a.rank, 2);
	CHECK_INT(a.size, 8);
	CHECK_INT(a.locals, 4);
	REQUIRE(FIND(&b, "OMPI_COMM_WORLD_RANK=7", "OMPI_COMM_WORLD_SIZE=8",
		     "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=1340669953",
		     "OMPI_MCA_orte_precondition_transports=a35488bd-162f3093"));
	CHECK_TEXT(b.id, a.id);
	CHECK(job_hash(&a) == job_hash(&b));
	job_release(&b);
	REQUIRE(FIND(&b, "OMPI_COMM_WORLD_RANK=7", "OMPI_COMM_WORLD_SIZE=8",
		     "PMIX_NAMESPACE=1340669953",
		     "OMPI_MCA_orte_precondition_transports=another-key"));
	CHECK(job_hash(&a) != job_hash(&b));
	job_release(&a);
	job_release(&b);
}

static void slurm_is_identified_by_job_and_step(void)
{
	struct job job;

	REQUIRE(FIND(&job, "SLURM_PROCID=5", "SLURM_NTASKS=7", "SLURM_JOB_ID=42", "SLURM_STEP_ID=3",
		     "SLURM_NODEID=1", "SLURM_STEP_TASKS_PER_NODE=3(x2),1"));
	CHECK_TEXT(job.id, "42.3");
	CHECK_INT(job.rank, 5);
	CHECK_INT(job.locals, 3);
	job_release(&job);
}

static void tasks_of_an_array_have_ids_as_slurm_shows_them(void)
{
	struct job job;

	REQUIRE(FIND(&job, "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_JOB_ID=44", "SLURM_STEP_ID=0",
		     "SLURM_ARRAY_JOB_ID=42", "SLURM_ARRAY_TASK_ID=7"));
	CHECK_TEXT(job.id, "42_7.0");
	job_release(&job);
}

static void check_batch_id(const char *expected)
{
	AUTO_FREE char *id = job_batch_id();

	CHECK(id && strcmp(id, expected) == 0);
}

static void a_batch_job_has_an_id_without_ranks(void)
{
	SET("SLURM_JOB_ID=42");
	check_batch_id("42");
	SET("SLURM_JOB_ID=43", "SLURM_ARRAY_JOB_ID=42", "SLURM_ARRAY_TASK_ID=1", "SLURM_PROCID=0",
	    "SLURM_NTASKS=1", "SLURM_STEP_ID=4294967291");
	check_batch_id("42_1");
	SET("SLURM_JOB_ID=42", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=2");
	check_batch_id("42.2");
	SET("PBS_JOBID=17[3].server");
	check_batch_id("17[3].server");
	SET("HOME=/");
	CHECK(!job_batch_id());
}

static void a_batch_script_of_slurm_has_no_rank(void)
{
	struct job job;

	CHECK(!FIND(&job, "SLURM_PROCID=0", "SLURM_NTASKS=7", "SLURM_JOB_ID=42"));
	CHECK(!FIND(&job, "SLURM_PROCID=0", "SLURM_NTASKS=7", "SLURM_JOB_ID=42",
		    "SLURM_STEP_ID=4294967291"));
}

static void mpiexec_inside_of_slurm_takes_precedence(void)
{
	struct job job;

	REQUIRE(FIND(&job, "SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_JOB_ID=42", "SLURM_STEP_ID=0",
		     "OMPI_COMM_WORLD_RANK=9", "OMPI_COMM_WORLD_SIZE=16", "PMIX_NAMESPACE=x"));
	CHECK_INT(job.size, 16);
	job_release(&job);
	/* srun --mpi=pmi2 sets PMI variables, but there is no Hydra proxy. */
	REQUIRE(FIND(&job, "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_JOB_ID=42", "SLURM_STEP_ID=0",
		     "PMI_RANK=1", "PMI_SIZE=2"));
	CHECK_TEXT(job.id, "42.0");
	job_release(&job);
}

static void the_id_of_the_user_takes_precedence(void)
{
	struct job job;

	REQUIRE(FIND(&job, "PMI_RANK=1", "PMI_SIZE=2", "SLUICE_JOB=mine"));
	CHECK_TEXT(job.id, "mine");
	job_release(&job);
	REQUIRE(FIND(&job, "PMI_RANK=1", "PMI_SIZE=2", "SLUICE_JOB="));
	CHECK(job.id && job.id[0]);
	job_release(&job);
}

static void tasks_per_node_are_read_as_slurm_writes_them(void)
{
	CHECK_INT(job_tasks_of_node("4", 0), 4);
	CHECK_INT(job_tasks_of_node("4", 1), 0);
	CHECK_INT(job_tasks_of_node("4(x2),3", 1), 4);
	CHECK_INT(job_tasks_of_node("4(x2),3", 2), 3);
	CHECK_INT(job_tasks_of_node("4(x2),3", 3), 0);
	CHECK_INT(job_tasks_of_node("1,2,3(x1000)", 1001), 3);
	CHECK_INT(job_tasks_of_node(NULL, 0), 0);
	CHECK_INT(job_tasks_of_node("", 0), 0);
	CHECK_INT(job_tasks_of_node("x", 0), 0);
	CHECK_INT(job_tasks_of_node("-4", 0), 0);
	CHECK_INT(job_tasks_of_node("4(x", 1), 0);
}

static void a_uuid_has_32_digits(void)
{
	struct job a = { .id = (char *)"1.0", .size = 2 }, b = { .id = (char *)"1.1", .size = 2 };
	char *x = job_uuid(&a), *y = job_uuid(&b);

	CHECK_INT(strlen(x), 32);
	CHECK_INT(strspn(x, "0123456789abcdef"), 32);
	CHECK(strcmp(x, y) != 0);
	free(x);
	free(y);
}

static void the_rank_is_found_without_an_id(void)
{
	int32_t rank = -1, size = -1;

	SET("HOME=/");
	CHECK(!job_find_rank(&rank, &size));
	CHECK_INT(rank, -1);
	SET("OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4");
	CHECK(job_find_rank(&rank, &size));
	CHECK_INT(rank, 3);
	CHECK_INT(size, 4);
	SET("SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=0");
	CHECK(job_find_rank(&rank, &size));
	CHECK_INT(rank, 1);
	CHECK_INT(size, 2);
	SET("SLURM_PROCID=0", "SLURM_NTASKS=2");
	CHECK(!job_find_rank(&rank, &size));
}

static void the_launcher_names_its_mpi(void)
{
	SET("HOME=/");
	CHECK(!job_mpi_name());
	SET("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1");
	CHECK_TEXT(job_mpi_name(), "openmpi");
	SET("PMI_RANK=0", "PMI_SIZE=1", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=0");
	CHECK_TEXT(job_mpi_name(), "mpich");
	SET("SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=0");
	CHECK(!job_mpi_name());
}

TESTS(TEST(the_rank_is_found_without_an_id), TEST(the_launcher_names_its_mpi),
      TEST(without_a_launcher_there_is_no_job), TEST(open_mpi_is_identified_by_namespace_and_key),
      TEST(slurm_is_identified_by_job_and_step),
      TEST(tasks_of_an_array_have_ids_as_slurm_shows_them),
      TEST(a_batch_job_has_an_id_without_ranks), TEST(a_batch_script_of_slurm_has_no_rank),
      TEST(mpiexec_inside_of_slurm_takes_precedence), TEST(the_id_of_the_user_takes_precedence),
      TEST(tasks_per_node_are_read_as_slurm_writes_them), TEST(a_uuid_has_32_digits))
