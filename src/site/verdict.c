/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unit.h"

#define NODES_LEAST 2
#define OTHERS_LEAST 2 /* nodes that use a target and are not slow, for a likely node */
#define SHARE_POSSIBLE 0.5
#define SHARE_LIKELY 0.8

const char *const verdict_causes[VERDICT_CAUSES] = {
	[VERDICT_NODE] = "node",
	[VERDICT_TARGET] = "target",
	[VERDICT_JOB] = "job",
	[VERDICT_LOAD] = "load",
};

/* A job on one target, over all nodes. */
struct job_sum {
	const char *owner, *job;
	double bytes, operations;
};

/* What is known of the target of a group. */
struct group {
	const struct verdict_anomaly *first; /* of `slow`, sorted by node */
	size_t slow, users;		     /* nodes; users include slow ones */
	double value;
	double bytes, operations; /* of all */
	struct job_sum heaviest;  /* owner NULL: no load is known */
	bool spares_a_node;	  /* the heaviest job does not run on a node that is slow */
};

void verdict_put_cause(struct buf *out, const struct verdict *verdict)
{
	buf_printf(out, "%s %s", verdict->is_likely ? "likely" : "possible",
		   verdict_causes[verdict->cause]);
}

/* "job 17 of ann", "runs of ann outside of jobs". */
static void put_job(struct buf *out, const char *owner, const char *job)
{
	if (*job)
		buf_printf(out, "job %s of %s", job, owner);
	else
		buf_printf(out, "runs of %s outside of jobs", owner);
}

static int compare_anomalies(const void *a, const void *b)
{
	const struct verdict_anomaly *x = a, *y = b;
	int order = strcmp(x->target, y->target);

	return order ? order : strcmp(x->node, y->node);
}

/* By target, then by job, then by node. */
static int compare_loads(const void *a, const void *b)
{
	const struct verdict_load *x = a, *y = b;
	int order = strcmp(x->target, y->target);

	if (!order)
		order = strcmp(x->owner, y->owner);
	if (!order)
		order = strcmp(x->job, y->job);
	return order ? order : strcmp(x->node, y->node);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_same_job(const struct verdict_load *load, const struct job_sum *sum)
{
	return !strcmp(load->owner, sum->owner) && !strcmp(load->job, sum->job);
}

static double share_of(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/* The part of the load that counts: bytes, or operations if no job moves most of the bytes. */
static double job_share(const struct group *group, const struct job_sum *sum)
{
	double bytes = share_of(sum->bytes, group->bytes);

	return bytes >= SHARE_POSSIBLE ? bytes : share_of(sum->operations, group->operations);
}

static bool is_heavier(const struct job_sum *a, const struct job_sum *b)
{
	return a->bytes != b->bytes ? a->bytes > b->bytes : a->operations > b->operations;
}

/*
 * Finds the job with the most bytes and the one with the most operations; the second one counts if
 * the first one does not move most of the bytes.
 */
static void find_heaviest(struct group *group, const struct verdict_load *loads, size_t count)
{
	struct job_sum by_bytes = { 0 }, by_operations = { 0 };

	for (size_t i = 0; i < count;) {
		struct job_sum sum = { loads[i].owner, loads[i].job, 0, 0 };

		for (; i < count && is_same_job(&loads[i], &sum); i++) {
			sum.bytes += loads[i].bytes;
			sum.operations += loads[i].operations;
		}
		group->bytes += sum.bytes;
		group->operations += sum.operations;
		if (!*sum.owner)
			continue;
		if (!by_bytes.owner || is_heavier(&sum, &by_bytes))
			by_bytes = sum;
		if (!by_operations.owner || sum.operations > by_operations.operations)
			by_operations = sum;
	}
	group->heaviest = by_bytes;
	if (by_bytes.owner && share_of(by_bytes.bytes, group->bytes) < SHARE_POSSIBLE &&
	    share_of(by_operations.operations, group->operations) >= SHARE_POSSIBLE)
		group->heaviest = by_operations;
}

/* Does the heaviest job load the target from this node? */
static bool runs_heaviest(const struct group *group, const struct verdict_load *loads, size_t count,
			  const char *node)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_job(&loads[i], &group->heaviest) && !strcmp(loads[i].node, node))
			return true;
	return false;
}

/* Counts the different nodes that use the target or are slow on it. */
static size_t count_users(const struct group *group, const struct verdict_load *loads, size_t count)
{
	AUTO_FREE const char **names = xcalloc(count + group->slow + 1, sizeof(*names));
	size_t n = 0, different = 0;

	for (size_t i = 0; i < count; i++)
		if (loads[i].operations > 0)
			names[n++] = loads[i].node;
	for (size_t i = 0; i < group->slow; i++)
		names[n++] = group->first[i].node;
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		different += !i || strcmp(names[i], names[i - 1]) != 0;
	return different;
}

static void group_init(struct group *group, const struct verdict_anomaly *anomalies, size_t count,
		       const struct verdict_load *loads, size_t load_count)
{
	*group = (struct group){ .first = anomalies, .slow = count };
	for (size_t i = 0; i < count; i++)
		if (anomalies[i].value > group->value)
			group->value = anomalies[i].value;
	group->users = count_users(group, loads, load_count);
	find_heaviest(group, loads, load_count);
	for (size_t i = 0; i < count && group->heaviest.owner; i++)
		if (!runs_heaviest(group, loads, load_count, anomalies[i].node))
			group->spares_a_node = true;
}

/* "NODE:PATH" is a file system that only the node has. */
static bool is_own_target(const char *target, const char *node)
{
	size_t n = strlen(node);

	return n && text_starts_with(target, node) && target[n] == ':';
}

static void put_share(struct buf *out, const struct group *group)
{
	const struct job_sum *sum = &group->heaviest;
	char rate[UNIT_TEXT];

	if (!sum->owner)
		return;
	buf_puts(out, "; ");
	put_job(out, sum->owner, sum->job);
	buf_printf(out,
		   " moves %.0f %% of the bytes (%s/s) and makes %.0f %% of the operations "
		   "(%.0f/s)",
		   100 * share_of(sum->bytes, group->bytes), unit_bytes(rate, sum->bytes),
		   100 * share_of(sum->operations, group->operations), sum->operations);
}

static void judge_node(const struct group *group, struct verdict *verdict, struct buf *text)
{
	const char *target = group->first->target;
	size_t others = group->users - 1;

	verdict->cause = VERDICT_NODE;
	verdict->node = group->first->node;
	buf_printf(text, "only %s is slow", verdict->node);
	if (!*target) {
		buf_puts(text, ", on a file system that is not known");
	} else if (is_own_target(target, verdict->node)) {
		verdict->is_likely = true;
		buf_printf(text, ", on its own file system %s", target + strlen(verdict->node) + 1);
	} else if (!others) {
		buf_printf(text, "; no other node uses %s now, so the node or %s may be slow",
			   target, target);
	} else {
		verdict->is_likely = others >= OTHERS_LEAST;
		buf_printf(text, ", and %zu other %s %s without delay", others,
			   others == 1 ? "node uses" : "nodes use", target);
	}
	put_share(text, group);
}

static void judge_nodes(const struct group *group, struct verdict *verdict, struct buf *text)
{
	const char *target = group->first->target;
	bool most = 2 * group->slow > group->users;
	double share = group->heaviest.owner ? job_share(group, &group->heaviest) : 0;

	if (*target)
		buf_printf(text, "%zu of %zu nodes that use %s are slow", group->slow, group->users,
			   target);
	else
		buf_printf(text, "%zu nodes are slow", group->slow);
	verdict->cause = *target ? VERDICT_TARGET : VERDICT_LOAD;
	verdict->is_likely = *target && most;
	if (*target && share >= SHARE_POSSIBLE) {
		verdict->cause = VERDICT_JOB;
		verdict->owner = group->heaviest.owner;
		verdict->job = group->heaviest.job;
		verdict->is_likely = share >= SHARE_LIKELY && group->spares_a_node && most;
	} else {
		buf_puts(text, ", and no job stands out");
	}
	put_share(text, group);
}

static void judge_group(const struct group *group, struct verdict *verdict)
{
	AUTO_BUF struct buf text = { 0 };

	*verdict = (struct verdict){ .node = "",
				     .target = group->first->target,
				     .owner = "",
				     .job = "",
				     .value = group->value };
	if (group->slow < NODES_LEAST)
		judge_node(group, verdict, &text);
	else
		judge_nodes(group, verdict, &text);
	verdict->detail = buf_take(&text);
}

/* One anomaly per node and target, in order. Returns their number. */
static size_t sort_anomalies(struct verdict_anomaly *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), compare_anomalies);
	for (size_t i = 0; i < count; i++) {
		if (!kept || compare_anomalies(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
		else if (list[i].value > list[kept - 1].value)
			list[kept - 1].value = list[i].value;
	}
	return kept;
}

size_t verdict_judge(const struct verdict_evidence *evidence, struct verdict **verdicts)
{
	AUTO_FREE struct verdict_anomaly *anomalies =
		xcalloc(evidence->anomaly_count + 1, sizeof(*anomalies));
	AUTO_FREE struct verdict_load *loads = xcalloc(evidence->load_count + 1, sizeof(*loads));
	struct verdict *list = xcalloc(evidence->anomaly_count + 1, sizeof(*list));
	size_t count = 0, slow, from = 0;

	if (evidence->anomaly_count)
		memcpy(anomalies, evidence->anomalies,
		       evidence->anomaly_count * sizeof(*anomalies));
	if (evidence->load_count)
		memcpy(loads, evidence->loads, evidence->load_count * sizeof(*loads));
	slow = sort_anomalies(anomalies, evidence->anomaly_count);
	qsort(loads, evidence->load_count, sizeof(*loads), compare_loads);
	for (size_t i = 0; i < slow;) {
		const char *target = anomalies[i].target;
		size_t n = 1, to;
		struct group group;

		while (i + n < slow && !strcmp(anomalies[i + n].target, target))
			n++;
		while (from < evidence->load_count && strcmp(loads[from].target, target) < 0)
			from++;
		for (to = from; to < evidence->load_count && !strcmp(loads[to].target, target);)
			to++;
		group_init(&group, anomalies + i, n, loads + from, to - from);
		judge_group(&group, &list[count++]);
		i += n;
	}
	*verdicts = list;
	return count;
}

void verdict_free(struct verdict *verdicts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(verdicts[i].detail);
	free(verdicts);
}
