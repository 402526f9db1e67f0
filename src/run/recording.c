/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"
#include "observe/collect/calibrate.h"
#include "observe/collect/cpu_counter.h"
#include "observe/collect/overhead.h"
#include "observe/job/parts.h"
#include "observe/reason/health_files.h"
#include "run/advice.h"
#include "run/arbitration.h"
#include "run/circumstances.h"
#include "run/injection.h"
#include "run/launch.h"
#include "run/layouts.h"
#include "run/offer.h"
#include "run/placing.h"
#include "run/sharing.h"
#include "run/unapplied.h"
#include "trace/output.h"

/* Ends the name of a container that is converted at the end of the run. */
#define PARTIAL ".partial"
/* The pause between two passes of the job's collector: short while records arrive. */
#define PAUSE_MIN_US 500
#define PAUSE_MAX_US 10000

static char *uuid_make(void)
{
	unsigned char bytes[16];
	struct buf text = { 0 };

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&text, "%02x", bytes[i]);
	return buf_take(&text);
}

static char *host_name(void)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return xstrdup(host);
}

/* The parts of a job have the same uuid. */
static struct run_info run_describe(const struct recording *r, bool is_part)
{
	struct buf command = { 0 };

	for (int i = 0; r->options.argv[i]; i++) {
		if (i)
			buf_putc(&command, ' ');
		buf_put_shell_word(&command, r->options.argv[i]);
	}
	return (struct run_info){
		.uuid = is_part ? job_uuid(&r->job) : uuid_make(),
		.command = buf_take(&command),
		.directory = getcwd(NULL, 0),
		.host = host_name(),
		.user = place_user(),
		.version = xstrdup(SLUICE_VERSION),
	};
}

/* The id of a job with an underscore for each character that is unusual in a file name. */
static char *job_file_name(const char *id)
{
	char *name = xstrdup(id);

	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *p))
			*p = '_';
	return name;
}

/*
 * trace.dir/20260102-030405-program-PID.sluice; makes the directory. In a batch job, its id comes
 * before the PID, because another node may use the same PID in the same second. For a parallel
 * program on several nodes it is trace.dir/job-ID-program.sluice, which all nodes find. NULL:
 * failed, err says why.
 */
static char *trace_path(const struct recording *r, bool is_part, struct err *err)
{
	const char *directory = config_text(r->options.config, SETTING_TRACE_DIR);
	const char *base = path_base_name(r->options.program);
	AUTO_FREE char *name = NULL, *batch = job_batch_id();
	struct tm local;
	char stamp[32];

	if (r->options.output)
		return xstrdup(r->options.output);
	if (place_make_dir(directory, 0700, err) < 0)
		return NULL;
	if (is_part) {
		name = job_file_name(r->job.id);
		return xprintf("%s/job-%s-%s.sluice", directory, name, base);
	}
	localtime_r(&r->options.link->launch->started, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	name = batch ? job_file_name(batch) : NULL;
	/* If a recorder is replaced, the trace keeps its name. */
	return xprintf("%s/%s-%s%s%s-%d.sluice", directory, stamp, base, name ? "-" : "",
		       name ? name : "", (int)r->options.link->launch->launcher);
}

/* *warning: as in parts_begin(). */
static char *container_path(const struct recording *r, bool is_part, char **warning,
			    struct err *err)
{
	AUTO_FREE char *host = host_name();

	/* The format and the parts of the trace are known only at the end, which is too late. */
	if (r->options.output && trace_output_check(r->path, err) < 0)
		return NULL;
	if (is_part)
		return parts_begin(r->path, job_hash(&r->job), host, warning, err);
	return r->options.form != &trace_container ? xprintf("%s" PARTIAL, r->path)
						   : xstrdup(r->path);
}

static enum capture_clock choose_clock(const struct config *config)
{
	struct cpu_counter counter;

	cpu_counter_read(&counter);
	switch (config_choice(config, SETTING_CAPTURE_CLOCK)) {
	case CONFIG_CLOCK_COUNTER:
		return CLOCK_SOURCE_COUNTER;
	case CONFIG_CLOCK_MONOTONIC:
		return cpu_counter_choose_other();
	default:
		return cpu_counter_choose(&counter);
	}
}

enum capture_mode recording_mode(const struct config *config)
{
	switch (config_choice(config, SETTING_CAPTURE_MODE)) {
	case CONFIG_MODE_COUNTERS:
		return CAPTURE_COUNTERS;
	case CONFIG_MODE_OFF:
		return CAPTURE_OFF;
	default:
		return CAPTURE_TRACE;
	}
}

double recording_budget(const struct config *config, struct err *err)
{
	double share = 0;

	if (overhead_parse(config_text(config, SETTING_OVERHEAD_BUDGET), &share, err) < 0)
		overhead_parse(settings[SETTING_OVERHEAD_BUDGET].fallback, &share, NULL);
	return share;
}

/* Activities that the flight recorder keeps; 0: the mode is not flight. */
static uint64_t flight_ring(const struct config *config)
{
	uint64_t ring = config_number(config, SETTING_FLIGHT_CALLS);

	if (config_choice(config, SETTING_CAPTURE_MODE) != CONFIG_MODE_FLIGHT)
		return 0;
	return ring ? ring : 1;
}

/* NULL: the collector chooses. */
static const char *spool_dir(const struct config *config)
{
	const char *dir = config_text(config, SETTING_SPOOL_DIR);

	return strcmp(dir, "auto") ? dir : NULL;
}

/* Makes the directory in which the nodes of the job exchange health files; NULL: it cannot be made,
 * and the nodes do without. */
static char *board_make(const struct recording *r)
{
	const char *slash = strrchr(r->container, '/');
	int directory = slash ? (int)(slash - r->container) : 0;
	char *board = xprintf("%.*s%s%016llx-board", directory, r->container, slash ? "/" : "",
			      (unsigned long long)job_hash(&r->job));
	int fd = trusted_make_directory(board, NULL);

	if (fd >= 0) {
		close(fd);
		return board;
	}
	free(board);
	return NULL;
}

/* Opens the collector with the parameters that the processes apply. A collector of the job stands
 * for all ranks of its node. */
static int collector_open_with_parameters(struct recording *r,
					  const struct collector_options *options, bool is_part,
					  struct err *err)
{
	struct collector_options given = *options;
	AUTO_FREE char *forbidden = injection_forbidden(r->options.config);
	AUTO_FREE struct advice *advice = xcalloc(1, sizeof(*advice));
	struct injection injection;
	int result;

	injection_init(&injection, r->options.config, r->options.argv);
	if (is_part)
		injection_agree(&injection, r->options.config, r->container,
				options->directory ? (uint32_t)r->job.locals : 1,
				(uint32_t)r->job.size);
	if (r->job.id)
		injection_refuse_environment(&injection,
					     "not all ranks would get them; start the launcher "
					     "with Sluice: sluice run -- mpiexec ...");
	if (launch_set_environment(r->options.link, buf_text(&injection.environment),
				   injection.environment.len) < 0)
		injection_refuse_environment(&injection, "they are too long");
	given.parameters = injection.text;
	given.placed = injection.adaptive.list;
	given.placed_place = injection.adaptive.place;
	given.placed_most = injection.adaptive.most;
	given.placed_least = injection.adaptive.least;
	given.forbidden = forbidden;
	advice_make(advice, r->options.config, buf_text(&injection.arbitration.best));
	given.advice = advice;
	given.parameters_shared = is_part;
	result = collector_open(&r->collector, &given, err);
	if (result >= 0)
		injection_report(&injection, r->collector);
	placing_adaptive_release(&r->adaptive);
	r->adaptive = injection.adaptive;
	injection.adaptive = (struct placing_adaptive){ 0 };
	injection_release(&injection);
	return result;
}

static void on_directory(void *arg, const char *directory)
{
	launch_set_directory(arg, directory, false);
}

/* Opens a collector. directory: the spool directory of the job; NULL: a new one is made. */
static int collector_start(struct recording *r, const char *directory, bool is_part,
			   struct err *err)
{
	const struct config *config = r->options.config;
	struct run_info run = run_describe(r, is_part);
	struct collector_options options = {
		.spool_dir = spool_dir(config),
		.directory = directory,
		.on_directory = on_directory,
		.arg = r->options.link,
		.spool_bytes = config_number(config, SETTING_SPOOL_LIMIT),
		.mode = recording_mode(config),
		.clock = choose_clock(config),
		.messages = config_choice(config, SETTING_CAPTURE_MESSAGES) == CONFIG_MESSAGES_ON,
		.skip = config_text(config, SETTING_CAPTURE_SKIP),
		.run = &run,
		.config = config,
		.flight_ring = flight_ring(config),
		.overhead_budget = recording_budget(config, NULL),
		.overhead_grace_ns = (int64_t)config_number(config, SETTING_OVERHEAD_GRACE),
	};
	AUTO_FREE char *warning = NULL;
	int result = -1;

	r->path = trace_path(r, is_part, err);
	if (r->path)
		r->container = container_path(r, is_part, &warning, err);
	options.trace = r->container;
	if (r->container && is_part)
		r->board = board_make(r);
	options.board = r->board;
	if (r->container)
		result = collector_open_with_parameters(r, &options, is_part, err);
	if (result >= 0 && warning)
		collector_warn(r->collector, warning);
	if (result >= 0)
		r->sharing = sharing_open(config, r->collector);
	run_info_release(&run);
	return result;
}

/* Converts the container to the requested format, and removes it. */
static int container_convert(const char *container, const struct trace_format *form,
			     const char *path, struct err *err)
{
	struct trace trace;
	int result = trace_open(&trace, container, NULL, err);

	if (result < 0)
		return result;
	result = trace_convert(&trace, form, path, NULL, err);
	trace_close(&trace);
	if (result >= 0)
		unlink(container);
	return result;
}

/* Does the job have ranks on other nodes? */
static bool job_has_other_nodes(const struct job *job)
{
	return job->locals < job->size;
}

/* Lets the site have the run. The container may be removed afterwards. */
static void offer_to_site(const struct config *config, const char *container,
			  struct collector_totals *totals)
{
	struct err err = { 0 };
	size_t n = strlen(totals->warnings);

	if (offer_trace(config, container, &err) < 0 &&
	    config_choice(config, SETTING_SITE_USE) == CONFIG_USE_YES)
		snprintf(totals->warnings + n, sizeof(totals->warnings) - n,
			 "the site does not get this run: %s\n", err.text);
}

/* Completes the trace of this process's collector, which recorded this many ranks of the job. */
static int collector_end(struct recording *r, int code, uint32_t ranks, bool is_part,
			 struct share_outcome *out)
{
	struct parts_whole whole = { r->path, r->options.form, r->options.output != NULL,
				     (uint32_t)r->job.size };
	AUTO_FREE char *part = NULL;
	const char *trace = r->path;
	int result;

	sharing_close(r->sharing);
	r->sharing = NULL;
	arbitration_report_guest(r->collector);
	placing_report(r->collector, &r->adaptive, r->options.config);
	layouts_note(r->collector);
	unapplied_report(r->collector, is_part && job_has_other_nodes(&r->job));
	result = collector_close(r->collector, code, &out->totals, &out->err);

	r->collector = NULL;
	if (r->board) {
		AUTO_FREE char *host = host_name();

		health_files_leave(r->board, host);
	}
	if (result >= 0 && !is_part)
		offer_to_site(r->options.config, r->container, &out->totals);
	if (result >= 0 && is_part) {
		result = parts_end(r->container, &whole, ranks, &part, &out->err);
		trace = part;
		/* The last node has merged all parts. */
		if (result >= 0 && r->options.form == &trace_container &&
		    !strstr(part, PARTS_SUFFIX "/"))
			offer_to_site(r->options.config, part, &out->totals);
	} else if (result >= 0 && strcmp(r->container, r->path) != 0) {
		result = container_convert(r->container, r->options.form, r->path, &out->err);
	}
	if (result >= 0)
		out->err.code = 0;
	snprintf(out->trace, sizeof(out->trace), "%s", trace ? trace : r->container);
	return result;
}

size_t recording_poll(struct recording *r)
{
	sharing_poll(r->sharing);
	return collector_poll(r->collector);
}

/* Runs the job's collector on this node from start to end, in a process of its own. */
static void run_shared_collector(const struct share *share, void *arg)
{
	struct recording *r = arg;
	struct share_outcome out = { 0 };
	uint64_t began_ns = clock_monotonic_ns();
	bool has_other_nodes = job_has_other_nodes(&r->job);
	struct share_count count;
	unsigned pause = PAUSE_MIN_US;

	prctl(PR_SET_NAME, "sluice-collect");
	if (collector_start(r, share->directory, has_other_nodes, &out.err) < 0 ||
	    share_ready(share, &out.err) < 0)
		return;
	circumstances_note(r->collector, r->options.config, r->options.argv);
	for (;;) {
		size_t taken = recording_poll(r);

		if (!taken && share_is_over(share, &r->job, r->collector, began_ns, &count))
			break;
		pause = taken ? PAUSE_MIN_US : pause < PAUSE_MAX_US ? 2 * pause : PAUSE_MAX_US;
		clock_sleep_ns(pause * NS_PER_US);
	}
	collector_end(r, count.code, count.ranks, has_other_nodes, &out);
	share_publish(share, &out);
}

static int join_shared_collector(struct recording *r, struct err *err)
{
	struct share_options options = {
		.job = &r->job,
		.spool_dir = spool_dir(r->options.config),
		.spool_bytes = config_number(r->options.config, SETTING_SPOOL_LIMIT),
		.outlive = r->options.outlive,
		.collect = run_shared_collector,
		.arg = r,
	};

	return share_join(&r->share, &options, err);
}

static void recording_release(struct recording *r)
{
	job_release(&r->job);
	placing_adaptive_release(&r->adaptive);
	free(r->path);
	free(r->container);
	free(r->board);
	*r = (struct recording){ 0 };
}

int recording_start(struct recording *r, const struct recording_options *options, struct err *err)
{
	int result;

	*r = (struct recording){ .options = *options };
	if (job_find(&r->job) && r->job.size < 2)
		job_release(&r->job);
	/* If sharing fails, a collector of its own follows; a problem that matters fails that, too.
	 */
	if (r->job.id && join_shared_collector(r, NULL) >= 0)
		return 0;
	result = collector_start(r, NULL, r->job.id != NULL, err);
	if (result < 0)
		recording_release(r);
	return result;
}

const char *recording_warnings(const struct recording *r)
{
	return r->collector ? collector_warnings(r->collector) : "";
}

const char *recording_directory(const struct recording *r)
{
	return r->collector ? collector_directory(r->collector) : r->share.directory;
}

int recording_end(struct recording *r, int code, struct recording_result *result, struct err *err)
{
	struct share_outcome out = { 0 };
	int failed = 0;

	if (r->collector) {
		result->ours = true;
		failed = collector_end(r, code, 1, r->job.id != NULL, &out);
	} else {
		result->ours = share_leave(&r->share, code, &out);
		failed = result->ours ? -out.err.code : 0;
	}
	result->totals = out.totals;
	snprintf(result->trace, sizeof(result->trace), "%s", out.trace);
	if (failed < 0)
		*err = out.err;
	recording_release(r);
	return failed;
}

int recording_recover(const struct config *config, const char *directory,
		      const struct trace_format *form, struct recording_result *result,
		      struct err *err)
{
	AUTO_FREE char *container = NULL, *path = NULL;
	size_t n;
	int r = collector_recover(directory, config_text(config, SETTING_TRACE_DIR), &container,
				  &result->totals, err);

	if (r < 0)
		return r;
	offer_to_site(config, container, &result->totals);
	n = strlen(container);
	if (n > strlen(PARTIAL) && strcmp(container + n - strlen(PARTIAL), PARTIAL) == 0) {
		path = xstrndup(container, n - strlen(PARTIAL));
		r = container_convert(container, form, path, err);
	}
	result->ours = true;
	snprintf(result->trace, sizeof(result->trace), "%s", path ? path : container);
	return r;
}
