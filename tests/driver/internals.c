/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares the calls that the ranks of tests/mpi/collective.c make inside each collective access
 *with the counts of the model (predict/model/counts/counts.h):
 *
 *	internals TRACE CASES RANKS [LISTS [NODES [STRIPES UNIT]]]
 *
 * LISTS is list_messages of predict/model/machine.h (default 1). CASES is the list that the program
 * read. Each rank, access and kind of call is compared, and differences are printed. With STRIPES
 *and UNIT, the layout of all files, which the program also had as hints, the storage calls that
 *access each object are compared as well. The last line is "equal E of N". The exit code is 1
 *unless all are equal.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "predict/model/counts/counts.h"
#include "trace/format.h"

#define CASES_MAX 1024
#define BATCH 4096

struct one {
	struct access access;
	struct settings settings;
};

/* The calls of one rank in one access. */
struct seen {
	struct rank_calls calls;
	uint64_t accesses,
		others; /* collective accesses; messages that the model has no name for */
};

struct job {
	struct one cases[CASES_MAX];
	size_t count;
	uint64_t ranks, nodes;
	struct stripes stripes;	    /* count 0: not compared */
	struct seen *seen;	    /* by case, then by rank */
	struct rank_calls *objects; /* by case, then by object of the file */
	struct map inside;	    /* per call, open or finished: the access that it is part of */
};

static const struct {
	const char *name;
	size_t place;
} kinds[] = {
#define KIND(name)                                       \
	{                                                \
#name, offsetof(struct rank_calls, name) \
	}
	KIND(allreduces), KIND(alltoalls), KIND(alltoallvs), KIND(allgathers),
	KIND(broadcasts), KIND(barriers),  KIND(sends),	     KIND(receives),
	KIND(reads),	  KIND(writes),	   KIND(read_bytes), KIND(written_bytes),
#undef KIND
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t *number(struct rank_calls *calls, size_t kind)
{
	return (uint64_t *)((char *)calls + kinds[kind].place);
}

/* The MPI calls and the counters of the model for them. */
static const struct {
	const char *call;
	size_t place;
} messages[] = {
	{ "MPI_Allreduce", offsetof(struct rank_calls, allreduces) },
	{ "MPI_Alltoall", offsetof(struct rank_calls, alltoalls) },
	{ "MPI_Alltoallv", offsetof(struct rank_calls, alltoallvs) },
	{ "MPI_Allgather", offsetof(struct rank_calls, allgathers) },
	{ "MPI_Bcast", offsetof(struct rank_calls, broadcasts) },
	{ "MPI_Barrier", offsetof(struct rank_calls, barriers) },
	{ "MPI_Send", offsetof(struct rank_calls, sends) },
	{ "MPI_Isend", offsetof(struct rank_calls, sends) },
	{ "MPI_Issend", offsetof(struct rank_calls, sends) },
	{ "MPI_Recv", offsetof(struct rank_calls, receives) },
	{ "MPI_Irecv", offsetof(struct rank_calls, receives) },
};

static void message_add(struct seen *seen, const char *call)
{
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if (strcmp(messages[i].call, call) == 0) {
			++*(uint64_t *)((char *)&seen->calls + messages[i].place);
			return;
		}
	seen->others++;
}

static void storage_add(struct rank_calls *calls, const struct call_info *call, uint64_t bytes)
{
	if (call->class == CLASS_READ) {
		calls->reads++;
		calls->read_bytes += bytes;
	} else if (call->class == CLASS_WRITE) {
		calls->writes++;
		calls->written_bytes += bytes;
	}
}

static uint64_t bytes_of(const struct activity *a)
{
	return a->result > 0 ? (uint64_t)a->result : 0;
}

/* Adds the call to all objects that it accesses. */
static void objects_add(struct job *job, size_t number, const struct call_info *call,
			const struct activity *a)
{
	struct range range = { (uint64_t)a->offset, (uint64_t)a->offset + bytes_of(a) };

	for (uint64_t i = 0; i < job->stripes.count; i++) {
		uint64_t bytes = stripes_bytes(&job->stripes, i, range);

		if (bytes)
			storage_add(&job->objects[number * job->stripes.count + i], call, bytes);
	}
}

/* The line number of the file's case; 0: the file has none. */
static size_t case_of(const struct job *job, const char *file)
{
	const char *name = strrchr(file, '/');
	size_t n = 0;

	if (!name || sscanf(name, "/collective.%zu", &n) != 1 || n > job->count)
		return 0;
	return n;
}

static bool is_access(const struct call_info *call)
{
	return strcmp(call->name, "MPI_File_write_at_all") == 0 ||
	       strcmp(call->name, "MPI_File_read_at_all") == 0;
}

static uint64_t key_of(const struct activity *a, uint64_t id)
{
	return id ^ (uint64_t)(a->process + 1) << 52;
}

static void activity_add(struct job *job, const struct trace_head *head, const struct activity *a)
{
	const struct call_info *call = &head->calls[a->call];
	int32_t rank = head->processes[a->process].rank;
	struct seen *seen = NULL;
	size_t n;

	if (rank < 0 || (uint64_t)rank >= job->ranks)
		return;
	if (is_access(call)) {
		n = case_of(job, head->files[a->file]);
		if (!n)
			return;
		seen = &job->seen[(n - 1) * job->ranks + (uint64_t)rank];
		seen->accesses++;
	} else {
		seen = a->parent ? map_get(&job->inside, key_of(a, a->parent)) : NULL;
		if (!seen)
			return;
		if (call->class == CLASS_MESSAGE)
			message_add(seen, call->name);
		else if (a->layer == LAYER_POSIX) {
			storage_add(&seen->calls, call, bytes_of(a));
			objects_add(job, (size_t)(seen - job->seen) / job->ranks, call, a);
		}
	}
	map_put(&job->inside, key_of(a, a->id), seen);
}

static int trace_read(struct job *job, const char *path, struct err *err)
{
	struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct trace trace;
	ssize_t n = trace_open(&trace, path, NULL, err);

	if (n >= 0) {
		while ((n = trace_next(&trace, batch, BATCH, err)) > 0)
			for (ssize_t i = 0; i < n; i++)
				activity_add(job, &trace.head, &batch[i]);
		if (!n && (trace.head.loss_count || trace.head.damaged_blocks))
			n = err_set(err, EIO, "%s: calls were lost", path);
		trace_close(&trace);
	}
	free(batch);
	return (int)n;
}

static int word_of(const char *word, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* Parses a line as tests/mpi/collective.c does. */
static bool case_parse(const char *line, const struct job *job, struct one *out)
{
	static const char *const ways[] = { "write", "read", NULL };
	static const char *const patterns[] = { "contiguous", "strided", NULL };
	static const char *const bufferings[] = { "automatic", "enable", "disable", "pieces",
						  NULL };
	struct access *a = &out->access;
	struct settings *s = &out->settings;
	char way[8], pattern[16], buffering[16];

	*out = (struct one){ 0 };
	if (sscanf(line,
		   "%7s %15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %15s",
		   way, pattern, &a->rank_bytes, &a->block_bytes, &a->stride_bytes, &a->offset,
		   &s->aggregators, &s->buffer_bytes, buffering) != 9 ||
	    word_of(way, ways) < 0 || word_of(pattern, patterns) < 0 ||
	    word_of(buffering, bufferings) < 0)
		return false;
	a->is_read = word_of(way, ways) == 1;
	a->pattern = word_of(pattern, patterns) == 1 ? ACCESS_STRIDED : ACCESS_CONTIGUOUS;
	a->nodes = job->nodes;
	a->ranks = job->ranks;
	/* The program sets cb_config_list, too. */
	s->node_aggregators = s->aggregators;
	s->stripes = job->stripes.count;
	s->stripe_bytes = job->stripes.unit;
	s->buffering = (enum buffering)word_of(buffering, bufferings);
	if (strcmp(buffering, "pieces") == 0)
		s->buffering = s->sieving = BUFFERING_DISABLED;
	return true;
}

static int cases_read(struct job *job, const char *path, struct err *err)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char line[256];

	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	while (job->count < CASES_MAX && fgets(line, sizeof(line), f)) {
		if (!case_parse(line, job, &job->cases[job->count]))
			return err_set(err, EINVAL, "%s:%zu: not a case", path, job->count + 1);
		job->count++;
	}
	return 0;
}

/* Prints the differences. True: there are none. who: "rank" or "object". */
static bool calls_compare(struct rank_calls *seen, struct rank_calls *wanted, size_t n,
			  const char *who, uint64_t which)
{
	bool equal = true;

	for (size_t i = 0; i < KINDS; i++) {
		uint64_t is = *number(seen, i), should = *number(wanted, i);

		if (is == should)
			continue;
		printf("case %zu %s %" PRIu64 ": %s: %" PRIu64 " seen, %" PRIu64 " expected\n",
		       n + 1, who, which, kinds[i].name, is, should);
		equal = false;
	}
	return equal;
}

static bool rank_compare(struct seen *seen, struct rank_calls *wanted, size_t n, uint64_t rank)
{
	bool equal = seen->accesses == 1 && !seen->others;

	if (!equal)
		printf("case %zu rank %" PRIu64 ": %" PRIu64 " accesses, %" PRIu64
		       " messages of other kinds\n",
		       n + 1, rank, seen->accesses, seen->others);
	return calls_compare(&seen->calls, wanted, n, "rank", rank) && equal;
}

static int case_compare(struct job *job, const struct machine *machine, size_t n, struct err *err)
{
	const struct one *c = &job->cases[n];
	bool equal = true;

	for (uint64_t rank = 0; rank < job->ranks; rank++) {
		struct rank_calls wanted = { 0 };
		int r = rank_calls_count(&wanted, machine, &c->access, &c->settings, rank, err);

		if (r < 0)
			return r;
		if (!rank_compare(&job->seen[n * job->ranks + rank], &wanted, n, rank))
			equal = false;
	}
	for (uint64_t object = 0; object < job->stripes.count; object++) {
		struct rank_calls wanted = { 0 };
		int r = object_calls_count(&wanted, machine, &c->access, &c->settings, object, err);

		if (r < 0)
			return r;
		if (!calls_compare(&job->objects[n * job->stripes.count + object], &wanted, n,
				   "object", object))
			equal = false;
	}
	return equal;
}

static int compare(struct job *job, const struct machine *machine, struct err *err)
{
	size_t equal = 0;

	for (size_t n = 0; n < job->count; n++) {
		int r = case_compare(job, machine, n, err);

		if (r < 0)
			return r;
		equal += (size_t)r;
	}
	printf("equal %zu of %zu\n", equal, job->count);
	return equal == job->count && job->count ? 0 : 1;
}

int main(int argc, char **argv)
{
	/* As packaged by Debian: one aggregator per node by default. */
	struct machine machine = { .name = "here",
				   .romio = ROMIO_GENERIC,
				   .node_aggregators = 1,
				   .buffer_bytes = UINT64_C(16) << 20 };
	struct job job = { .nodes = 1 };
	struct err err = { 0 };
	int r;

	if (argc < 4 || argc > 8 || argc == 7) {
		fprintf(stderr,
			"usage: internals TRACE CASES RANKS [LISTS [NODES [STRIPES UNIT]]]\n");
		return 2;
	}
	machine.list_messages = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
	job.ranks = machine.cores = strtoull(argv[3], NULL, 10);
	if (argc > 5)
		job.nodes = strtoull(argv[5], NULL, 10);
	if (argc > 7)
		job.stripes = (struct stripes){ strtoull(argv[6], NULL, 10),
						strtoull(argv[7], NULL, 10) };
	machine.file_stripes = job.stripes.count;
	machine.file_stripe_bytes = job.stripes.unit;
	r = cases_read(&job, argv[2], &err);
	job.seen = xcalloc(job.count * job.ranks + 1, sizeof(*job.seen));
	job.objects = xcalloc(job.count * job.stripes.count + 1, sizeof(*job.objects));
	if (r >= 0)
		r = trace_read(&job, argv[1], &err);
	if (r >= 0)
		r = compare(&job, &machine, &err);
	if (r < 0)
		fprintf(stderr, "internals: %s\n", err.text);
	map_release(&job.inside);
	free(job.seen);
	free(job.objects);
	return r < 0 ? 2 : r;
}
