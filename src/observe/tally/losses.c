/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/losses.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct loss_text loss_texts[LOSS_CAUSES] = {
	[LOSS_UNKNOWN] = { "unknown", "the cause is unknown", "unknown cause", NULL },
	[LOSS_SPOOL_LIMIT] = { "spool_limit", "the spool was full", "spool full",
			       "raise spool.limit" },
	[LOSS_NO_SPACE] = { "no_space", "no space was left on the file system of the spool",
			    "no space for the spool",
			    "set spool.dir to a file system with more space" },
	[LOSS_ADDRESS_SPACE] = { "address_space", "the limit on address space was reached",
				 "address-space limit", "raise ulimit -v" },
	[LOSS_FILE_SIZE] = { "file_size", "the limit on file sizes was reached", "file-size limit",
			     "raise ulimit -f" },
	[LOSS_DESCRIPTORS] = { "descriptors", "no file descriptor was free", "no free descriptor",
			       "raise ulimit -n" },
	[LOSS_SANDBOX] = { "sandbox", "a seccomp filter or a similar sandbox was in force",
			   "sandbox", NULL },
	[LOSS_USER] = { "user", "ran as another user than the one who started the run",
			"another user", "start 'sluice run' as that user" },
	[LOSS_NAMESPACE] = { "namespace",
			     "the spool directory was out of reach in another mount namespace or "
			     "root directory",
			     "another mount namespace",
			     "set spool.dir to a directory that is visible there" },
	[LOSS_NESTED] = { "nested", "signal handlers interrupted each other during a record",
			  "nested signal handlers", NULL },
	[LOSS_THREADS] = { "threads", "the run had too many threads", "too many threads", NULL },
	[LOSS_DAMAGED] = { "damaged", "the program has overwritten its spool", "damaged spool",
			   NULL },
	[LOSS_PROCESSES] = { "processes", "the run had too many processes", "too many processes",
			     NULL },
	[LOSS_STATIC] = { "static", "statically linked", "statically linked",
			  "link the program dynamically, or with the wrappers (see 'sluice run "
			  "--linked')" },
	[LOSS_MUSL] = { "musl", "linked with musl instead of glibc", "musl",
			"build the program with glibc" },
	[LOSS_GO] = { "go", "written in Go, which makes system calls without libc", "Go", NULL },
	[LOSS_PRIVILEGES] = { "privileges",
			      "set-user-id, set-group-id or with file capabilities, so the loader "
			      "ignores preloaded libraries",
			      "set-user-id", NULL },
	[LOSS_MACHINE] = { "machine", "built for another machine type", "another machine type",
			   NULL },
	[LOSS_ENVIRONMENT] = { "environment",
			       "started without the environment variables of the run",
			       "cleared environment", "pass on LD_PRELOAD and SLUICE_SPOOL" },
};

/* A trace of a later version may contain other causes. */
static enum loss_cause find_cause(const char *name)
{
	for (unsigned i = 0; i < LOSS_CAUSES; i++)
		if (!strcmp(loss_texts[i].name, text_or_empty(name)))
			return (enum loss_cause)i;
	return LOSS_UNKNOWN;
}

static void add_unrecorded(struct losses *losses, const struct note *note)
{
	struct unrecorded *u = &losses->unrecorded[find_cause(note->name)];
	char *end = NULL;
	uint64_t processes = strtoull(text_or_empty(note->value), &end, 10);
	const char *program = *end == ' ' ? end + 1 : "";

	u->has_others |= u->processes && strcmp(u->program, program) != 0;
	if (!u->processes || !u->program[0])
		u->program = program;
	u->processes += processes;
	losses->unrecorded_processes += processes;
}

static void add_notes(struct losses *losses, const struct trace_head *head)
{
	uint64_t unexplained = losses->records;

	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];
		uint64_t n;

		if (!strcmp(text_or_empty(note->kind), NOTE_UNRECORDED))
			add_unrecorded(losses, note);
		if (strcmp(text_or_empty(note->kind), NOTE_LOST) != 0)
			continue;
		n = strtoull(text_or_empty(note->value), NULL, 10);
		n = n < unexplained ? n : unexplained;
		losses->by_cause[find_cause(note->name)] += n;
		unexplained -= n;
	}
	/* Traces of earlier versions have no notes. */
	losses->by_cause[LOSS_UNKNOWN] += unexplained;
}

struct losses losses_sum(const struct trace_head *head)
{
	struct losses losses = { 0 };

	for (size_t i = 0; i < head->loss_count; i++) {
		losses.records += head->losses[i].records;
		losses.threads += head->losses[i].threads;
		losses.processes += head->losses[i].records || head->losses[i].threads;
	}
	for (size_t i = 0; i < head->aggregate_count; i++)
		losses.counted += head->aggregates[i].calls;
	add_notes(&losses, head);
	return losses;
}
