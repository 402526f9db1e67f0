/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the text form: one line per activity, for people, grep and scripts. reader.c reads it. The
 * file gets its final name when it is complete.
 */
#include "trace/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/facts.h"
#include "trace/output.h"

#define FLUSH_BYTES (256u << 10) /* output is written when this much is buffered */

struct writer {
	struct file_draft draft;
	int fd;	    /* of the temporary file */
	int failed; /* -errno of the first failure */
	struct buf out;
	char **calls; /* the text for each call */
	size_t call_count;
};

static bool recognize(const unsigned char *head, size_t n)
{
	return n >= strlen(TEXT_MAGIC) && !memcmp(head, TEXT_MAGIC, strlen(TEXT_MAGIC));
}

static int flush_output(struct writer *w, struct err *err)
{
	for (size_t done = 0; done < w->out.len && !w->failed;) {
		ssize_t n = write(w->fd, w->out.data + done, w->out.len - done);

		if (n < 0 && errno != EINTR)
			w->failed = -errno;
		else if (n > 0)
			done += (size_t)n;
	}
	buf_clear(&w->out);
	if (w->failed)
		return err_set(err, -w->failed, "%s: cannot write: %s", w->draft.temporary,
			       strerror(-w->failed));
	return 0;
}

static int flush_if_full(struct writer *w, struct err *err)
{
	return w->out.len < FLUSH_BYTES ? 0 : flush_output(w, err);
}

static int write_fact(struct writer *w, const struct fact *fact, const void *row, struct err *err)
{
	buf_putc(&w->out, '#');
	buf_puts(&w->out, fact->name);
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		buf_putc(&w->out, '\t');
		buf_puts(&w->out, field->name);
		buf_putc(&w->out, '=');
		if (field->type == FACT_TEXT)
			escape_text(&w->out, fact_text(field, row), "\\");
		else
			text_put_number(&w->out, fact_number(field, row), field->type == FACT_U64);
	}
	buf_putc(&w->out, '\n');
	return flush_if_full(w, err);
}

/* A call is written as its name, or as =NUMBER if the name is empty or ambiguous. */
static char *make_call_text(const struct call_info *calls, size_t number)
{
	AUTO_BUF struct buf text = { 0 };
	const char *name = calls[number].name ? calls[number].name : "";
	bool plain = *name && *name != '=';

	for (size_t i = 0; i < number && plain; i++)
		plain = !calls[i].name || strcmp(calls[i].name, name) != 0;
	if (plain)
		escape_text(&text, name, "\\");
	else
		buf_printf(&text, "=%zu", number);
	return buf_take(&text);
}

static int write_start(struct writer *w, const struct run_info *run, const struct run_clock *clock,
		       const struct call_info *calls, struct err *err)
{
	int r;

	buf_printf(&w->out, "%s\t%d\n", TEXT_MAGIC, TEXT_VERSION);
	r = write_fact(w, &fact_run, run, err);
	if (!r)
		r = write_fact(w, &fact_clock, clock, err);
	for (size_t i = 0; i < w->call_count && !r; i++) {
		struct call_row row = call_row_make(&calls[i], i);

		w->calls[i] = make_call_text(calls, i);
		r = write_fact(w, &fact_call, &row, err);
		fact_release(&fact_call, &row);
	}
	for (size_t i = 0; i < fact_activity.count; i++)
		buf_printf(&w->out, "%s%s", i ? "\t" : "", fact_activity.fields[i].name);
	buf_putc(&w->out, '\n');
	return r;
}

static void writer_free(struct writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < w->call_count; i++)
		free(w->calls[i]);
	free(w->calls);
	buf_release(&w->out);
	free(w);
}

static int create(void **writer, const char *path, const struct run_info *run,
		  const struct run_clock *clock, const struct call_info *calls, size_t count,
		  struct err *err)
{
	struct writer *w;
	int r;

	if (clock->tick0 || clock->num != clock->den)
		return err_set(err, EINVAL, "%s: the times of a text trace must be in nanoseconds",
			       path);
	w = xcalloc(1, sizeof(*w));
	w->calls = xcalloc(count, sizeof(*w->calls));
	w->call_count = count;
	w->fd = trace_output_draft(&w->draft, path, err);
	r = w->fd < 0 ? w->fd : write_start(w, run, clock, calls, err);
	if (r < 0) {
		file_draft_discard(&w->draft);
		writer_free(w);
		return r;
	}
	*writer = w;
	return 0;
}

static int add_process(void *writer, const struct process_info *process, struct err *err)
{
	return write_fact(writer, &fact_process, process, err);
}

static int add_file(void *writer, file_id id, const char *path, struct err *err)
{
	return write_fact(writer, &fact_file, &(struct file_row){ id, (char *)path }, err);
}

static int add_aggregate(void *writer, const struct aggregate *aggregate, struct err *err)
{
	struct aggregate_row row = aggregate_row_make(aggregate);
	int r = write_fact(writer, &fact_aggregate, &row, err);

	fact_release(&fact_aggregate, &row);
	return r;
}

static int add_loss(void *writer, const struct loss_info *row, struct err *err)
{
	return write_fact(writer, &fact_loss, row, err);
}

static int add_host(void *writer, const struct host_info *row, struct err *err)
{
	return write_fact(writer, &fact_host, row, err);
}

static int add_fact(void *writer, const struct fact *fact, const void *row, struct err *err)
{
	return write_fact(writer, fact, row, err);
}

static void write_activity(struct writer *w, const struct activity *a)
{
	for (size_t i = 0; i < fact_activity.count; i++) {
		const struct fact_field *field = &fact_activity.fields[i];

		if (i)
			buf_putc(&w->out, '\t');
		if (field->present && !(a->present >> field->present & 1))
			buf_putc(&w->out, '-');
		else if (field->type == FACT_CALL && a->call < w->call_count)
			buf_puts(&w->out, w->calls[a->call]);
		else if (field->type == FACT_LAYER)
			buf_puts(&w->out, layer_name(a->layer));
		else
			text_put_number(&w->out, fact_number(field, a), field->type == FACT_U64);
	}
	buf_putc(&w->out, '\n');
}

static int add_activities(void *writer, const struct activity *batch, size_t n, struct err *err)
{
	struct writer *w = writer;
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		write_activity(w, &batch[i]);
		r = flush_if_full(w, err);
	}
	return r;
}

static int finish(void *writer, const struct run_end *end, const struct run_clock *clock,
		  struct err *err)
{
	struct writer *w = writer;
	int r = write_fact(w, &fact_end, end, err);

	(void)clock; /* nanoseconds, as given to create() */
	if (!r)
		r = flush_output(w, err);
	if (!r)
		r = file_draft_commit(&w->draft, err);
	file_draft_discard(&w->draft);
	writer_free(w);
	return r;
}

const struct trace_format trace_text = {
	.name = "text",
	.suffix = ".txt",
	.help = "text with one line per activity and tabs between fields",
	.recognize = recognize,
	.create = create,
	.add_process = add_process,
	.add_file = add_file,
	.add_activities = add_activities,
	.add_aggregate = add_aggregate,
	.add_loss = add_loss,
	.add_host = add_host,
	.add_fact = add_fact,
	.finish = finish,
	.open = text_open,
	.next = text_next,
	.close = text_close,
};
