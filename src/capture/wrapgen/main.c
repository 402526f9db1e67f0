/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wrapgen: generates C code from annotated prototypes. Outputs are complete, or are not written.
 *
 *	wrapgen --template preload --output wrappers.c posix.h stdio.h
 *	wrapgen --table calls.c --numbers calls.h posix.h stdio.h
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "capture/wrapgen/interface.h"
#include "capture/wrapgen/template.h"

#define OUTPUTS_MAX 8
#define READ_BYTES 65536

struct output {
	const struct template_ops *template;
	const char *path;
	char *temporary; /* NULL before the first write */
};

struct job {
	struct output outputs[OUTPUTS_MAX];
	int count;
};

static void usage(FILE *to)
{
	fprintf(to, "usage: wrapgen [--template NAME --output FILE] [--table FILE] [--numbers "
		    "FILE] HEADER...\n"
		    "templates:\n");
	for (size_t i = 0; template_list[i]; i++)
		fprintf(to, "  %-8s %s\n", template_list[i]->name, template_list[i]->help);
}

static int read_file(struct buf *text, const char *path, struct err *err)
{
	AUTO_FCLOSE FILE *in = fopen(path, "re");
	size_t got;

	if (!in)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	do {
		buf_reserve(text, READ_BYTES);
		got = fread(text->data + text->len, 1, READ_BYTES, in);
		text->len += got;
	} while (got && text->len <= INTERFACE_TEXT_MAX);
	if (ferror(in))
		return err_set(err, EIO, "%s: cannot read the file", path);
	return 0;
}

static int read_headers(struct interface *interface, char **paths, struct err *err)
{
	for (; *paths; paths++) {
		AUTO_BUF struct buf text = { 0 };
		int error = read_file(&text, *paths, err);

		if (!error)
			error = interface_read(interface, *paths, buf_text(&text), text.len, err);
		if (error)
			return error;
	}
	return interface_complete(interface, err);
}

static int write_output(struct output *output, const struct interface *interface, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_FCLOSE FILE *out = NULL;

	output->template->print(&text, interface);
	output->temporary = xprintf("%s.%ld.tmp", output->path, (long)getpid());
	out = fopen(output->temporary, "we");
	if (!out || fwrite(buf_text(&text), 1, text.len, out) != text.len || fflush(out) != 0)
		return err_set(err, errno, "%s: %s", output->temporary, strerror(errno));
	return 0;
}

/* Writes all outputs to temporary files and then renames them. */
static int write_outputs(struct job *job, const struct interface *interface, struct err *err)
{
	for (int i = 0; i < job->count; i++) {
		int error = write_output(&job->outputs[i], interface, err);

		if (error)
			return error;
	}
	for (int i = 0; i < job->count; i++) {
		struct output *o = &job->outputs[i];

		if (rename(o->temporary, o->path) != 0)
			return err_set(err, errno, "%s: %s", o->path, strerror(errno));
	}
	return 0;
}

static void job_release(struct job *job)
{
	for (int i = 0; i < job->count; i++) {
		if (job->outputs[i].temporary)
			unlink(job->outputs[i].temporary);
		free(job->outputs[i].temporary);
	}
}

static int job_add(struct job *job, const struct template_ops *template, const char *path)
{
	if (!template || job->count == OUTPUTS_MAX)
		return -EINVAL;
	job->outputs[job->count++] = (struct output){ template, path, NULL };
	return 0;
}

static int job_parse(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{ "template", required_argument, NULL, 't' },
		{ "output", required_argument, NULL, 'o' },
		{ "table", required_argument, NULL, 'T' },
		{ "numbers", required_argument, NULL, 'N' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct template_ops *template = NULL;
	int option, error = 0;

	while (!error && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 't')
			error = (template = template_find(optarg)) ? 0 : -EINVAL;
		else if (option == 'o')
			error = job_add(job, template, optarg);
		else if (option == 'T')
			error = job_add(job, &template_table, optarg);
		else if (option == 'N')
			error = job_add(job, &template_numbers, optarg);
		else if (option == 'h')
			return 1;
		else
			error = -EINVAL;
	}
	return error || !job->count || optind == argc ? -EINVAL : 0;
}

int main(int argc, char **argv)
{
	struct interface interface = { 0 };
	struct job job = { 0 };
	struct err err = { 0 };
	int error = job_parse(&job, argc, argv);

	if (error) {
		usage(error < 0 ? stderr : stdout);
		return error < 0 ? 2 : 0;
	}
	error = read_headers(&interface, argv + optind, &err);
	if (!error)
		error = write_outputs(&job, &interface, &err);
	if (error)
		fprintf(stderr, "wrapgen: %s\n", err.text);
	job_release(&job);
	interface_release(&interface);
	return error ? 1 : 0;
}
