/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/knowledge.h"

#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/place.h"
#include "daemon/agreement_table.h"
#include "observe/plugins/hint_choice.h"
#include "observe/stats/mount_table.h"
#include "policy/knowledge_page.h"
#include "site/file_places.h"
#include "site/learn.h"
#include "site/site.h"
#include "wire/frame.h"

#define POLL_NS (10 * NS_PER_MS)   /* while a job is to be decided */
#define RETRY_NS (500 * NS_PER_MS) /* after the database has failed */
#define AGAIN_NS (5 * NS_PER_S)	   /* until the database is read again if that failed */
#define REFRESH_NS NS_PER_S	   /* between two readings at least, whoever asks for them */
#define KEY_BYTES 64
#define VALUE_BYTES 256

struct knowledge_service {
	struct knowledge_options options;
	char *path, *copy; /* the page, and its copy in the state of the daemon */
	const char *database;
	char node[512];
	int64_t period_ns;
	struct site_db *site; /* NULL: not connected; belongs to the thread, like what follows */
	int64_t refresh_at_ns, retry_at_ns;
	int64_t refreshed_ns; /* when the database was read last; 0: never */
	uint32_t sent[AGREEMENT_JOBS];
	uint64_t sent_job[AGREEMENT_JOBS];
	char problem[512]; /* that was told last */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stops;	  /* under the lock, like the votes */
	bool is_outdated; /* the page, as far as is known */
	struct agreement_page *table;
};

/* Tells a problem once, until another one or none (NULL) takes its place. */
static void tell_problem(struct knowledge_service *service, const char *problem)
{
	if (problem && strcmp(problem, service->problem) != 0)
		service->options.tell(problem);
	snprintf(service->problem, sizeof(service->problem), "%s", problem ? problem : "");
}

/* --- the page --- */

/* The hints without those that the site forbids; the caller frees. */
static char *allowed_hints(const struct config *config, const char *hints)
{
	AUTO_BUF struct buf out = { 0 };
	char key[KEY_BYTES], value[VALUE_BYTES];

	while (hints_next(&hints, key, sizeof(key), value, sizeof(value)))
		if (!config_forbids(config, key))
			buf_printf(&out, "%s%s=%s", out.len ? ";" : "", key, value);
	return xstrdup(buf_text(&out));
}

static const char *history_option_of(void *arg, const char *key)
{
	return config_extra(arg, "plugin.history", key);
}

/* Everybody can read the page, so mount points that name a user are left out. */
static int add_choice(struct knowledge_service *service, struct knowledge_page *page,
		      const struct hint_choice *best, struct err *err)
{
	AUTO_FREE char *hints = allowed_hints(service->options.config, best->hints);
	AUTO_FREE char *shown = xstrdup(best->filesystem);
	int r = *shown ? file_places_hide_owner(service->site, shown, err) : 0;

	if (r < 0 || !*hints || strcmp(shown, best->filesystem) != 0)
		return r;
	knowledge_page_add_hints(
		page, &(struct knowledge_advice){ best->program, best->filesystem, best->extension,
						  best->mode, hints, best->gain, best->places });
	return 0;
}

/* Hints that were best over all users. Users are not told apart, because the page names none. */
static int add_hints(struct knowledge_service *service, struct knowledge_page *page,
		     struct err *err)
{
	const struct config *config = service->options.config;
	struct history_options options;
	struct hint_choices choices;
	int r = history_options_read(&options, history_option_of, (void *)config, err);

	if (r < 0)
		return r;
	options.by_user = false;
	free(options.store);
	options.store = NULL;
	r = hint_choices_of_store(&choices, &options, site_store(service->site), "", err);
	history_options_release(&options);
	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < choices.count; i++)
		r = add_choice(service, page, &choices.best[i], err);
	hint_choices_release(&choices);
	return r;
}

static void add_mounts(struct knowledge_page *page)
{
	struct mount_table mounts = { 0 };

	mount_table_load(&mounts);
	for (size_t i = 0; i < mounts.count; i++)
		knowledge_page_add_mount(page, mounts.points[i].path);
	mount_table_release(&mounts);
}

static int add_duration(void *arg, const struct expectation *e)
{
	struct knowledge_duration d = {
		.key = knowledge_duration_key(e->program, e->filesystem, e->pattern, e->layer,
					      e->call, e->size_class),
		.calls = e->calls,
		.median_ns = (uint64_t)e->median_ns,
		.slow_ns = (uint64_t)e->slow_ns,
	};

	knowledge_page_add_duration(arg, e->filesystem, &d);
	return 0;
}

static int refresh(struct knowledge_service *service, struct err *err)
{
	struct knowledge_page page = { 0 };
	int r = add_hints(service, &page, err);

	if (r >= 0)
		r = site_expectations(service->site, NULL, add_duration, &page, err);
	add_mounts(&page);
	if (r >= 0)
		r = knowledge_page_publish(&page, service->path, err);
	if (r >= 0)
		r = knowledge_page_publish(&page, service->copy, err);
	knowledge_page_release(&page);
	return r;
}

/* --- the thread --- */

static bool connect_site(struct knowledge_service *service, struct err *err)
{
	if (!service->site && site_open(&service->site, service->database, err) < 0)
		service->site = NULL;
	return service->site != NULL;
}

static void give_up(struct knowledge_service *service, const struct err *err)
{
	AUTO_FREE char *sentence = xprintf("learned knowledge: %s", err->text);

	tell_problem(service, sentence);
	site_close(service->site);
	service->site = NULL;
	service->retry_at_ns = clock_now_ns() + RETRY_NS;
}

/* Brings open jobs forward; true if there are any. */
static bool advance_jobs(struct knowledge_service *service, bool is_connected, struct err *err)
{
	bool any = false;

	for (uint32_t i = 0; i < AGREEMENT_JOBS && !err->code; i++) {
		struct agreement_entry *entry = &service->table->jobs[i];

		if (!agreement_is_open(entry))
			continue;
		any = true;
		if (service->sent_job[i] != entry->job)
			service->sent[i] = 0;
		service->sent_job[i] = entry->job;
		agreement_expire(entry, clock_now_ns());
		if (is_connected)
			agreement_advance(entry, service->site, service->node, &service->sent[i],
					  err);
	}
	return any;
}

/* Returns early if the service stops, after a vote, or if the page is outdated. */
static bool wait_until(struct knowledge_service *service, int64_t until_ns)
{
	struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };
	bool stops;

	pthread_mutex_lock(&service->lock);
	if (!service->stops && !service->is_outdated)
		pthread_cond_timedwait(&service->changed, &service->lock, &until);
	if (service->is_outdated && service->refreshed_ns)
		service->refresh_at_ns =
			i64_min(service->refresh_at_ns, service->refreshed_ns + REFRESH_NS);
	service->is_outdated = false;
	stops = service->stops;
	pthread_mutex_unlock(&service->lock);
	return !stops;
}

/* When there is something to do again: never before POLL_NS have passed. */
static int64_t next_turn_ns(const struct knowledge_service *service, bool has_jobs)
{
	int64_t earliest = clock_now_ns() + POLL_NS;

	if (has_jobs)
		return earliest;
	if (!*service->database)
		return clock_now_ns() + NS_PER_S;
	return i64_max(earliest, i64_max(service->refresh_at_ns, service->retry_at_ns));
}

static void *run_service(void *arg)
{
	struct knowledge_service *service = arg;
	bool any = true;

	while (wait_until(service, next_turn_ns(service, any))) {
		struct err err = { 0 };
		bool due = *service->database && clock_now_ns() >= service->retry_at_ns;

		due = due && connect_site(service, &err);
		if (due && clock_now_ns() >= service->refresh_at_ns) {
			int r = refresh(service, &err);

			if (r >= 0)
				tell_problem(service, NULL);
			service->refreshed_ns = clock_now_ns();
			service->refresh_at_ns = service->refreshed_ns +
						 (r < 0 ? i64_min(service->period_ns, AGAIN_NS)
							: service->period_ns);
		}
		any = advance_jobs(service, due, &err);
		if (err.code)
			give_up(service, &err);
	}
	return NULL;
}

/* --- start and stop --- */

static void init_lock(struct knowledge_service *service)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&service->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&service->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

int knowledge_start(struct knowledge_service **service, const struct knowledge_options *options,
		    struct err *err)
{
	const struct config *config = options->config;
	const char *socket = config_text(config, SETTING_SITE_SOCKET);
	AUTO_FREE char *text = xstrdup(socket);
	const char *site = dirname(text);
	struct knowledge_service *s = xcalloc(1, sizeof(*s));
	char host[256] = "";
	int r;

	gethostname(host, sizeof(host) - 1);
	s->options = *options;
	s->path = place_join(site, KNOWLEDGE_NAME);
	s->copy = place_join(config_text(config, SETTING_SITE_STATE), KNOWLEDGE_NAME);
	s->database = config_text(config, SETTING_SITE_DATABASE);
	s->period_ns = (int64_t)config_number(config, SETTING_SITE_KNOWLEDGE);
	snprintf(s->node, sizeof(s->node), "%s:%s", host, socket);
	init_lock(s);
	r = agreement_table_open(&s->table, site, err);
	if (r >= 0 && access(s->copy, F_OK) == 0)
		knowledge_page_copy(s->copy, s->path, NULL);
	if (r >= 0)
		r = -pthread_create(&s->thread, NULL, run_service, s);
	s->has_thread = r == 0;
	if (r < 0) {
		knowledge_stop(s);
		return r;
	}
	*service = s;
	return 0;
}

void knowledge_refresh(struct knowledge_service *service)
{
	pthread_mutex_lock(&service->lock);
	service->is_outdated = true;
	pthread_cond_signal(&service->changed);
	pthread_mutex_unlock(&service->lock);
}

bool knowledge_vote(struct knowledge_service *service, const struct frame *frame, uid_t user,
		    pid_t pid)
{
	struct vote vote;

	if (frame->length != sizeof(vote))
		return false;
	memcpy(&vote, frame->payload, sizeof(vote));
	if (!vote.job || !vote.ranks || vote.reserved)
		return false;
	pthread_mutex_lock(&service->lock);
	agreement_table_vote(service->table, &vote, user, pid, clock_now_ns());
	pthread_cond_signal(&service->changed);
	pthread_mutex_unlock(&service->lock);
	return true;
}

void knowledge_stop(struct knowledge_service *service)
{
	if (!service)
		return;
	pthread_mutex_lock(&service->lock);
	service->stops = true;
	pthread_cond_broadcast(&service->changed);
	pthread_mutex_unlock(&service->lock);
	if (service->has_thread)
		pthread_join(service->thread, NULL);
	site_close(service->site);
	agreement_table_close(service->table);
	pthread_cond_destroy(&service->changed);
	pthread_mutex_destroy(&service->lock);
	free(service->path);
	free(service->copy);
	free(service);
}
