/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/loss.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"
#include "observe/tally/losses.h"
#include "trace/interruption.h"

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void end_sentence(struct buf *out, const struct loss_text *text)
{
	if (text->remedy)
		buf_printf(out, "; %s", text->remedy);
	buf_putc(out, '\n');
}

static void describe_lost(struct buf *out, const struct losses *losses)
{
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		uint64_t n = losses->by_cause[i];

		if (!n)
			continue;
		buf_printf(out, "%" PRIu64 " call%s lost: %s", n, plural(n, " was", "s were"),
			   loss_texts[i].what);
		end_sentence(out, &loss_texts[i]);
	}
}

static void put_program(struct buf *out, const struct unrecorded *u, const char *name)
{
	if (!name[0])
		return;
	buf_puts(out, " (");
	escape_text(out, name, "");
	buf_puts(out, u->has_others ? " and others)" : ")");
}

static void describe_unrecorded(struct buf *out, const struct losses *losses)
{
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		const struct unrecorded *u = &losses->unrecorded[i];

		if (!u->processes)
			continue;
		buf_printf(out, "%" PRIu64 " process%s not be recorded: %s", u->processes,
			   plural(u->processes, " could", "es could"), loss_texts[i].what);
		put_program(out, u, u->program);
		end_sentence(out, &loss_texts[i]);
	}
}

/* Appends up to HOSTS_SHOWN hosts of a merged trace that have no complete part. Returns the number
 * of all. */
#define HOSTS_SHOWN 8
static uint64_t put_interrupted_hosts(struct buf *out, const struct trace_head *head)
{
	uint64_t hosts = 0;

	for (size_t i = 0; i < head->note_count; i++) {
		if (!interruption_is_note(&head->notes[i]) || hosts++ >= HOSTS_SHOWN)
			continue;
		buf_puts(out, hosts > 1 ? ", " : "");
		escape_text(out, text_or_empty(head->notes[i].host), "");
	}
	if (hosts > HOSTS_SHOWN)
		buf_printf(out, " and %" PRIu64 " others", hosts - HOSTS_SHOWN);
	return hosts;
}

static void describe_interruption(struct buf *out, const struct trace_head *head)
{
	AUTO_BUF struct buf hosts = { 0 };
	uint64_t n = put_interrupted_hosts(&hosts, head);

	if (n)
		buf_printf(out,
			   "%s: the node%s lost, or the collector there was killed; the most "
			   "recent calls of %s are missing, those of other nodes are not "
			   "affected\n",
			   buf_text(&hosts), plural(n, " was", "s were"),
			   plural(n, "this node", "these nodes"));
	else
		buf_puts(out, "the recording was interrupted: the trace contains the calls "
			      "collected until then\n");
}

void loss_describe_causes(struct buf *out, const struct trace_head *head)
{
	struct losses losses = losses_sum(head);

	describe_lost(out, &losses);
	describe_unrecorded(out, &losses);
}

void loss_describe(struct buf *out, const struct trace_head *head)
{
	struct losses losses = losses_sum(head);

	loss_describe_causes(out, head);
	if (losses.threads)
		buf_printf(out, "%" PRIu64 " thread%s not recorded: the run had too many threads\n",
			   losses.threads, plural(losses.threads, " was", "s were"));
	if (losses.counted)
		buf_printf(out, "%" PRIu64 " call%s counted but not recorded individually\n",
			   losses.counted, plural(losses.counted, " was", "s were"));
	if (head->damaged_blocks)
		buf_printf(out, "%" PRIu64 " damaged block%s skipped\n", head->damaged_blocks,
			   plural(head->damaged_blocks, " was", "s were"));
	if (!head->end.complete)
		describe_interruption(out, head);
}

/* Appends "; " before everything but the first part. */
static void separate(struct buf *out)
{
	if (out->len)
		buf_puts(out, "; ");
}

static void summarize_lost(struct buf *out, const struct losses *losses)
{
	bool first = true;

	if (!losses->records)
		return;
	separate(out);
	buf_printf(out, "%" PRIu64 " call%s lost (", losses->records,
		   plural(losses->records, "", "s"));
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		if (!losses->by_cause[i])
			continue;
		buf_printf(out, "%s%s", first ? "" : ", ", loss_texts[i].brief);
		if (losses->by_cause[i] == losses->records && loss_texts[i].remedy)
			buf_printf(out, "; %s", loss_texts[i].remedy);
		first = false;
	}
	buf_putc(out, ')');
}

static void summarize_unrecorded(struct buf *out, const struct losses *losses)
{
	const char *before = ": ";

	if (!losses->unrecorded_processes)
		return;
	separate(out);
	buf_printf(out, "%" PRIu64 " process%s not recorded", losses->unrecorded_processes,
		   plural(losses->unrecorded_processes, "", "es"));
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		const struct unrecorded *u = &losses->unrecorded[i];
		const char *slash = strrchr(text_or_empty(u->program), '/');

		if (!u->processes)
			continue;
		buf_printf(out, "%s%" PRIu64 " %s", before, u->processes, loss_texts[i].brief);
		put_program(out, u, slash ? slash + 1 : text_or_empty(u->program));
		before = ", ";
	}
}

void loss_summarize(struct buf *out, const struct trace_head *head)
{
	struct losses losses = losses_sum(head);

	summarize_lost(out, &losses);
	summarize_unrecorded(out, &losses);
	if (losses.threads) {
		separate(out);
		buf_printf(out, "%" PRIu64 " threads not recorded", losses.threads);
	}
	if (losses.counted) {
		separate(out);
		buf_printf(out, "%" PRIu64 " calls counted, not traced", losses.counted);
	}
	if (head->damaged_blocks) {
		separate(out);
		buf_printf(out, "%" PRIu64 " damaged blocks", head->damaged_blocks);
	}
	if (!head->end.complete) {
		AUTO_BUF struct buf hosts = { 0 };

		separate(out);
		buf_puts(out, "the recording was interrupted");
		if (put_interrupted_hosts(&hosts, head))
			buf_printf(out, " on %s", buf_text(&hosts));
	}
}

static void json_causes(struct json *json, const struct losses *losses)
{
	json_open(json, "causes", '{');
	for (unsigned i = 0; i < LOSS_CAUSES; i++)
		if (losses->by_cause[i])
			json_count(json, loss_texts[i].name, losses->by_cause[i]);
	json_close(json);
	json_open(json, "unrecorded", '[');
	for (unsigned i = 0; i < LOSS_CAUSES; i++) {
		const struct unrecorded *u = &losses->unrecorded[i];

		if (!u->processes)
			continue;
		json_open(json, NULL, '{');
		json_text(json, "cause", loss_texts[i].name);
		json_count(json, "processes", u->processes);
		json_text(json, "program", u->program);
		json_close(json);
	}
	json_close(json);
}

const char *loss_state(const struct trace_head *head)
{
	struct losses losses = losses_sum(head);

	if (!head->end.complete)
		return "truncated";
	if (losses.records || losses.threads)
		return "with losses";
	return losses.unrecorded_processes ? "partial" : "complete";
}

void loss_json(struct json *json, const struct trace_head *head)
{
	struct losses losses = losses_sum(head);

	json_bool(json, "complete", head->end.complete);
	json_open(json, "losses", '{');
	json_count(json, "activities", losses.records);
	json_count(json, "threads", losses.threads);
	json_count(json, "processes", losses.processes);
	json_count(json, "counted_calls", losses.counted);
	json_count(json, "damaged_blocks", head->damaged_blocks);
	json_count(json, "unrecorded_processes", losses.unrecorded_processes);
	json_causes(json, &losses);
	json_open(json, "interrupted_hosts", '[');
	for (size_t i = 0; i < head->note_count; i++)
		if (interruption_is_note(&head->notes[i]))
			json_text(json, NULL, text_or_empty(head->notes[i].host));
	json_close(json);
	json_close(json);
}
