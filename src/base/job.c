/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers as rows of a table, the innermost first: mpiexec inside a Slurm job sets its own
 * variables beside those of Slurm.
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

/* The steps that Slurm makes for scripts and for its own use, which have no ranks. */
#define SLURM_STEP_SPECIAL UINT32_C(0xfffffff0)

struct launcher {
	const char *name;
	const char *rank, *size, *locals; /* variables; locals may be NULL */
	char *(*id)(void);		  /* the caller frees; NULL: it was not this launcher */
};

/* The number in a variable; -1 if it is unset or no number. */
static int64_t number_of(const char *variable)
{
	const char *text = variable ? getenv(variable) : NULL;
	char *end;
	long long n;

	if (!text || !*text)
		return -1;
	n = strtoll(text, &end, 10);
	return *end || n < 0 || n > INT32_MAX ? -1 : n;
}

/* The jobid is a hash of 16 bits only; the key of the transports is drawn anew for each job. */
static char *openmpi_id(void)
{
	const char *space = getenv("PMIX_NAMESPACE"), *jobid = getenv("OMPI_MCA_ess_base_jobid");
	const char *key = getenv("OMPI_MCA_orte_precondition_transports");

	if (!space)
		space = jobid;
	return space ? xprintf("%s.%s", space, key ? key : "") : NULL;
}

static size_t proc_read(int pid, const char *name, char text[PROC_TEXT])
{
	AUTO_FREE char *path = xprintf("/proc/%d/%s", pid, name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, PROC_TEXT - 1, f) : 0;

	text[n] = 0;
	return n;
}

static int parent_of(int pid)
{
	char text[PROC_TEXT], *fields;
	int parent = 0;

	proc_read(pid, "stat", text);
	fields = strrchr(text, ')');
	return fields && sscanf(fields + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The word behind an option of a process's command line. */
static char *argument_of(int pid, const char *option)
{
	char text[PROC_TEXT];
	size_t n = proc_read(pid, "cmdline", text);

	for (const char *word = text; word < text + n; word += strlen(word) + 1)
		if (!strcmp(word, option) && word + strlen(word) + 1 < text + n)
			return xstrdup(word + strlen(word) + 1);
	return NULL;
}

/*
 * Hydra puts no name of the job into the environment. Its proxies on all nodes are told where
 * mpiexec listens, and nobody else listens there as long as it does.
 */
static char *hydra_id(void)
{
	int pid = (int)getppid();

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = parent_of(pid)) {
		char *port = argument_of(pid, "--control-port");

		if (port)
			return port;
	}
	return NULL;
}

static char *slurm_id(void)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");

	if (!job || !step || strtoull(step, NULL, 10) >= SLURM_STEP_SPECIAL)
		return NULL;
	return xprintf("%s.%s", job, step);
}

static char *pals_id(void)
{
	return xstrdup(getenv("PALS_APID"));
}

/* Any process manager that speaks PMI: its child processes have one parent, which is on one node.
 */
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
	{ "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
	  openmpi_id },
	{ "Hydra", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", hydra_id },
	{ "PALS", "PMI_RANK", "PMI_SIZE", "PALS_LOCAL_SIZE", pals_id },
	{ "Slurm", "SLURM_PROCID", "SLURM_NTASKS", NULL, slurm_id },
	{ "PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", pmi_id },
};

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

static int32_t locals_of(const struct launcher *l)
{
	int64_t locals = number_of(l->locals), node = number_of("SLURM_NODEID");
	const char *tasks = getenv("SLURM_STEP_TASKS_PER_NODE");

	if (l->id == slurm_id)
		return node < 0 ? 0 : job_tasks_of_node(tasks, (int32_t)node);
	return locals < 0 ? 0 : (int32_t)locals;
}

bool job_find(struct job *job)
{
	const char *own = getenv(JOB_VARIABLE);

	*job = (struct job){ 0 };
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const struct launcher *l = &launchers[i];
		int64_t rank = number_of(l->rank), size = number_of(l->size);
		char *id = rank >= 0 && size > rank ? l->id() : NULL;

		if (!id)
			continue;
		*job = (struct job){ l->name, id, (int32_t)rank, (int32_t)size, locals_of(l) };
		if (own && *own) {
			free(job->id);
			job->id = xstrdup(own);
		}
		return true;
	}
	return false;
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
