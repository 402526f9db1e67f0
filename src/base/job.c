/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One row per launcher, the innermost first: mpiexec inside a Slurm job sets its own variables in
 * addition to those of Slurm.
 */
#include "base/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/mem.h"
#include "base/process.h"

#define ANCESTORS_MAX 16
#define PROC_TEXT 4096

/* Step ids from here on belong to batch scripts and to Slurm itself; such steps have no ranks. */
#define SLURM_STEP_SPECIAL UINT32_C(0xfffffff0)

struct launcher {
	const char *name;
	const char *mpi;		  /* "mpich", "openmpi" or NULL: any */
	const char *rank, *size, *locals; /* variables; locals may be NULL */
	char *(*id)(void);		  /* the caller frees; NULL: it was not this launcher */
};

struct ranks {
	int32_t rank, size;
};

/* The value of a variable; -1 if it is unset or not a number from 0 to INT32_MAX. */
static int64_t read_variable(const char *variable)
{
	const char *text = variable ? getenv(variable) : NULL;
	char *end;
	long long n;

	if (!text || !*text)
		return -1;
	n = strtoll(text, &end, 10);
	return *end || n < 0 || n > INT32_MAX ? -1 : n;
}

/* The job id is a hash of only 16 bits; the transport key is drawn at random for each job. */
static char *openmpi_id(void)
{
	const char *space = getenv("PMIX_NAMESPACE"), *jobid = getenv("OMPI_MCA_ess_base_jobid");
	const char *key = getenv("OMPI_MCA_orte_precondition_transports");

	if (!space)
		space = jobid;
	return space ? xprintf("%s.%s", space, key ? key : "") : NULL;
}

static size_t read_proc_file(int pid, const char *name, char text[PROC_TEXT])
{
	AUTO_FREE char *path = xprintf("/proc/%d/%s", pid, name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, PROC_TEXT - 1, f) : 0;

	text[n] = 0;
	return n;
}

static int find_parent(int pid)
{
	char text[PROC_TEXT], *fields;
	int parent = 0;

	read_proc_file(pid, "stat", text);
	fields = strrchr(text, ')');
	return fields && sscanf(fields + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The argument of an option in the command line of a process. */
static char *find_argument(int pid, const char *option)
{
	char text[PROC_TEXT];
	size_t n = read_proc_file(pid, "cmdline", text);

	for (const char *word = text; word < text + n; word += strlen(word) + 1)
		if (!strcmp(word, option) && word + strlen(word) + 1 < text + n)
			return xstrdup(word + strlen(word) + 1);
	return NULL;
}

/*
 * Hydra puts no job id into the environment. The proxies on all nodes have the address on which
 * mpiexec listens in their command line, and that address is unique while mpiexec runs.
 */
static char *hydra_id(void)
{
	int pid = (int)getppid();

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = find_parent(pid)) {
		char *port = find_argument(pid, "--control-port");

		if (port)
			return port;
	}
	return NULL;
}

static bool slurm_step_has_ranks(void)
{
	const char *step = getenv("SLURM_STEP_ID");

	return step && strtoull(step, NULL, 10) < SLURM_STEP_SPECIAL;
}

/* As Slurm shows it: "12", and "12_3" for task 3 of an array. */
static char *slurm_job(void)
{
	const char *job = getenv("SLURM_JOB_ID"), *array = getenv("SLURM_ARRAY_JOB_ID");
	const char *task = getenv("SLURM_ARRAY_TASK_ID");

	if (job && array && task)
		return xprintf("%s_%s", array, task);
	return job ? xstrdup(job) : NULL;
}

static char *slurm_id(void)
{
	AUTO_FREE char *job = slurm_job();

	if (!job || !slurm_step_has_ranks())
		return NULL;
	return xprintf("%s.%s", job, getenv("SLURM_STEP_ID"));
}

static char *pals_id(void)
{
	return xstrdup(getenv("PALS_APID"));
}

/* Any process manager that uses PMI: the ranks of a node are children of the same process. */
static char *pmi_id(void)
{
	const char *batch = getenv("PBS_JOBID");
	char host[256] = "";
	int parent = (int)getppid();

	if (batch)
		return xprintf("%s", batch);
	gethostname(host, sizeof(host) - 1);
	return xprintf("%s.%d.%" PRIu64, host, parent, process_start(parent));
}

static const struct launcher launchers[] = {
	{ "Open MPI", "openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	  "OMPI_COMM_WORLD_LOCAL_SIZE", openmpi_id },
	{ "Hydra", "mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", hydra_id },
	{ "PALS", "mpich", "PMI_RANK", "PMI_SIZE", "PALS_LOCAL_SIZE", pals_id },
	/* srun sets SLURM_NTASKS to the number of tasks of the step. */
	{ "Slurm", NULL, "SLURM_PROCID", "SLURM_NTASKS", NULL, slurm_id },
	{ "PMI", "mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", pmi_id },
};
#define LAUNCHERS (sizeof(launchers) / sizeof(launchers[0]))

static bool read_ranks(const struct launcher *l, struct ranks *ranks)
{
	int64_t rank = read_variable(l->rank), size = read_variable(l->size);

	*ranks = (struct ranks){ (int32_t)rank, (int32_t)size };
	return rank >= 0 && size > rank;
}

int32_t job_tasks_of_node(const char *text, int32_t node)
{
	while (text && *text) {
		char *end;
		long tasks = strtol(text, &end, 10), nodes = 1;

		if (end == text || tasks < 1 || tasks > INT32_MAX)
			return 0;
		if (end[0] == '(' && end[1] == 'x')
			nodes = strtol(end + 2, &end, 10);
		if (*end == ')')
			end++;
		if (node < nodes)
			return (int32_t)tasks;
		node -= (int32_t)nodes;
		text = *end == ',' ? end + 1 : NULL;
	}
	return 0;
}

static int32_t count_local_ranks(const struct launcher *l)
{
	int64_t locals = read_variable(l->locals), node = read_variable("SLURM_NODEID");
	const char *tasks = getenv("SLURM_STEP_TASKS_PER_NODE");

	if (l->id == slurm_id)
		return node < 0 ? 0 : job_tasks_of_node(tasks, (int32_t)node);
	return locals < 0 ? 0 : (int32_t)locals;
}

bool job_find(struct job *job)
{
	const char *own = getenv(JOB_VARIABLE);

	*job = (struct job){ 0 };
	for (size_t i = 0; i < LAUNCHERS; i++) {
		const struct launcher *l = &launchers[i];
		struct ranks ranks;
		char *id = read_ranks(l, &ranks) ? l->id() : NULL;

		if (!id)
			continue;
		*job = (struct job){ l->name, id, ranks.rank, ranks.size, count_local_ranks(l) };
		if (own && *own) {
			free(job->id);
			job->id = xstrdup(own);
		}
		return true;
	}
	return false;
}

char *job_batch_id(void)
{
	const char *pbs = getenv("PBS_JOBID");
	char *step = slurm_id();

	if (step)
		return step;
	step = slurm_job();
	return step || !pbs ? step : xstrdup(pbs);
}

/* The first launcher whose variables are set. */
static const struct launcher *find_launcher(struct ranks *ranks)
{
	for (size_t i = 0; i < LAUNCHERS; i++)
		if (read_ranks(&launchers[i], ranks) &&
		    (launchers[i].id != slurm_id || slurm_step_has_ranks()))
			return &launchers[i];
	return NULL;
}

bool job_find_rank(int32_t *rank, int32_t *size)
{
	struct ranks ranks;

	if (!find_launcher(&ranks))
		return false;
	*rank = ranks.rank;
	*size = ranks.size;
	return true;
}

const char *job_mpi_name(void)
{
	struct ranks ranks;
	const struct launcher *l = find_launcher(&ranks);

	return l ? l->mpi : NULL;
}

void job_release(struct job *job)
{
	free(job->id);
	*job = (struct job){ 0 };
}

uint64_t job_hash(const struct job *job)
{
	return XXH64(job->id, strlen(job->id), (uint64_t)job->size);
}

char *job_uuid(const struct job *job)
{
	return xprintf("%016" PRIx64 "%016" PRIx64, job_hash(job),
		       (uint64_t)XXH64(job->id, strlen(job->id), ~(uint64_t)job->size));
}
