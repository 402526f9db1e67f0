/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe submit: keeps a collection job in the queue of a batch system, one at a time, until
 * it is stopped (WAN-11).
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/place.h"
#include "cmd/forecast/probe.h"
#include "base/interrupt.h"
#include "predict/forecast/jobs/resubmit.h"
#include "predict/forecast/site.h"

/* A job that was handed in or found. */
struct entry {
	char id[BATCH_ID];
	double since_s, ended_s; /* NAN: it is still there */
	bool was_found;
};

struct submission {
	struct command *command;
	const struct probe_args *args;
	struct resubmit resubmit;
	char name[BATCH_NAME];
	struct entry *entries;
	size_t count, cap;
	double until_s;
	int lock;	  /* -1: none */
	bool was_unknown; /* the queue could not be asked the last time, and that was said */
	const char *end;  /* why it ended, a word; NULL: it goes on */
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* For whoever reads along; with --json there is one object at the end. */
static void tell(const struct submission *s, const char *format, const char *id)
{
	time_t now = time(NULL);
	char clock[32];

	if (s->args->json)
		return;
	strftime(clock, sizeof(clock), "%Y-%m-%dT%H:%M:%S", localtime(&now));
	printf("%s ", clock);
	printf(format, id);
	putchar('\n');
	fflush(stdout);
}

static void entry_add(struct submission *s, bool was_found)
{
	struct entry *entry;

	s->entries = xgrow(s->entries, &s->cap, s->count + 1, sizeof(*s->entries));
	entry = &s->entries[s->count++];
	*entry = (struct entry){ .since_s = now_s(), .ended_s = NAN, .was_found = was_found };
	memcpy(entry->id, s->resubmit.id, sizeof(entry->id));
}

static void entry_end(struct submission *s)
{
	if (s->count)
		s->entries[s->count - 1].ended_s = now_s();
}

/* Does what an event asks for; false: time to wait. */
static bool take(struct submission *s, enum resubmit_event event, const struct err *err)
{
	const char *id = s->resubmit.id;

	if (event != RESUBMIT_UNKNOWN)
		s->was_unknown = false;
	switch (event) {
	case RESUBMIT_FOUND:
		tell(s, "found job %s, which is watched", id);
		entry_add(s, true);
		return true;
	case RESUBMIT_SUBMITTED:
		tell(s, "submitted job %s", id);
		entry_add(s, false);
		return true;
	case RESUBMIT_ENDED:
	case RESUBMIT_SHORT:
		tell(s, event == RESUBMIT_SHORT ? "job %s ended too soon" : "job %s ended", id);
		entry_end(s);
		return true;
	case RESUBMIT_DONE:
		s->end = "times";
		return true;
	case RESUBMIT_GIVEN_UP:
		s->end = "failures";
		return true;
	case RESUBMIT_REFUSED:
		command_warn(s->command, "%s", err->text);
		return false;
	case RESUBMIT_UNKNOWN:
		if (!s->was_unknown)
			command_warn(s->command, "%s; nothing is submitted until it answers",
				     err->text);
		s->was_unknown = true;
		return false;
	default:
		return false;
	}
}

/* Until it is time to look again, or to stop. */
static void wait_on(const struct submission *s)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	double until = now_s() + (double)s->args->every_ns * 1e-9;

	while (!*interrupt_flag() && now_s() < until && now_s() < s->until_s)
		nanosleep(&nap, NULL);
}

static void watch(struct submission *s, struct err *err)
{
	while (!s->end) {
		enum resubmit_event event;

		if (*interrupt_flag())
			s->end = "signal";
		else if (now_s() >= s->until_s)
			s->end = "time";
		if (s->end)
			break;
		event = resubmit_step(&s->resubmit, now_s(), err);
		if (event == RESUBMIT_UNKNOWN && err->code == ENOENT)
			s->end = "scheduler";
		else if (!take(s, event, err))
			wait_on(s);
	}
}

static void json_print(const struct submission *s)
{
	struct json json;

	json_start(&json, stdout, PROBE_SCHEMA);
	json_text(&json, "scheduler", s->resubmit.system->name);
	json_text(&json, "name", s->name);
	json_text(&json, "script", s->resubmit.job.script);
	json_text(&json, "end", s->end);
	json_count(&json, "submitted", s->resubmit.submitted);
	json_open(&json, "jobs", '[');
	for (size_t i = 0; i < s->count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "id", s->entries[i].id);
		json_bool(&json, "found", s->entries[i].was_found);
		json_real(&json, "since", s->entries[i].since_s);
		json_real(&json, "ended", s->entries[i].ended_s);
		json_close(&json);
	}
	json_close(&json);
	json_end(&json);
}

/* The job that is still in the queue stays there, or not. */
static void leave(struct submission *s)
{
	const char *id = s->resubmit.id;
	struct err err = { 0 };

	if (!s->resubmit.is_there)
		return;
	if (!s->args->cancel)
		tell(s, "job %s goes on; started again, this command finds it", id);
	else if (batch_cancel(s->resubmit.system, id, &err) < 0)
		command_warn(s->command, "job %s was not cancelled: %s", id, err.text);
	else {
		tell(s, "cancelled job %s", id);
		entry_end(s);
	}
}

static int finish(struct submission *s, const struct err *err)
{
	if (s->args->json)
		json_print(s);
	if (strcmp(s->end, "scheduler") == 0)
		return command_fail(s->command, "%s", err->text);
	if (strcmp(s->end, "failures") != 0)
		return COMMAND_GOOD;
	if (s->resubmit.is_short)
		return command_fail(s->command,
				    "given up: %lu jobs in a row ended within %g s; look at their "
				    "output, or say --shortest",
				    (unsigned long)s->resubmit.failed, s->resubmit.shortest_s);
	return command_fail(s->command, "given up after %lu failures in a row: %s",
			    (unsigned long)s->resubmit.failed, err->text);
}

/* Names go into commands, and commas and blanks have a meaning there. */
static bool is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-_";

	return *name && *name != '-' && strlen(name) < BATCH_NAME && !name[strspn(name, letters)];
}

/*
 * One watcher per name: two could each find the queue empty and hand in a job. The lock is beside
 * the store, in a home that nodes share; where that cannot lock, it is gone without.
 */
static int lock(struct submission *s)
{
	const char *store = config_text(s->command->config, SETTING_STORE_PATH);
	AUTO_FREE char *path = xprintf("%s.submit-%s", store, s->name);

	place_make_parent(store, 0700, NULL);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock >= 0 && flock(s->lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return command_fail(s->command,
				    "another 'sluice probe submit' watches job %s: stop that one "
				    "first, or say --name",
				    s->name);
	return COMMAND_GOOD;
}

static int prepare(struct submission *s)
{
	const struct probe_args *args = s->args;
	const char *script = s->command->argv[1], *named = probe_site(s->command, args);
	struct err err = { 0 };
	struct site site;

	site_init(&site);
	if (*named && site_load(&site, named, &err) < 0)
		return command_fail(s->command, "%s", err.text);
	s->resubmit.system = batch_system_of(site.reader, &err);
	site_release(&site);
	if (!s->resubmit.system)
		return command_fail(s->command, "%s", err.text);
	if (access(script, R_OK) < 0)
		return command_fail(s->command, "%s: %s", script, strerror(errno));
	if (args->name && !is_name(args->name))
		return command_misuse(s->command,
				      "--name: letters, digits, - and _, and %d at most",
				      BATCH_NAME - 1);
	batch_name(s->name, script);
	if (args->name)
		snprintf(s->name, sizeof(s->name), "%s", args->name);
	s->resubmit.job = (struct batch_job){ s->name, script, s->command->argv + 2 };
	s->resubmit.times = args->times;
	s->resubmit.failures = args->failures;
	s->resubmit.shortest_s = (double)args->shortest_ns * 1e-9;
	s->until_s = args->for_ns ? now_s() + (double)args->for_ns * 1e-9 : INFINITY;
	return COMMAND_GOOD;
}

int probe_submit(struct command *command, const struct probe_args *args)
{
	struct submission s = { .command = command, .args = args, .lock = -1 };
	struct err err = { 0 };
	struct interrupt stop;
	int ret = prepare(&s);

	if (ret != COMMAND_GOOD)
		return ret;
	if (args->failures < 1 || args->every_ns <= 0)
		return command_misuse(command, "--failures and --every must be more than 0");
	ret = lock(&s);
	if (ret == COMMAND_GOOD) {
		interrupt_catch(&stop);
		watch(&s, &err);
		leave(&s);
		interrupt_restore(&stop);
		ret = finish(&s, &err);
	}
	if (s.lock >= 0)
		close(s.lock);
	free(s.entries);
	return ret;
}
