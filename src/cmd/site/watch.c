/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site watch: the reasoner of the system, beside the database.
 */
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cmd/site/site.h"
#include "site/anomaly.h"
#include "site/notice.h"
#include "site/site.h"

#define POLL_MS 5000
#define LOADS 5
#define RETRY_MS 1000

struct watch_args {
	struct site_args site;
	bool once, json;
};

static const struct option watch_options[] = {
	{ 0, "once", NULL, NULL, "judge and print once, instead of waiting for changes",
	  OPTION_FLAG, offsetof(struct watch_args, once) },
	OPTION_INCLUDE(site_options, offsetof(struct watch_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.watch/1 per change",
	  OPTION_FLAG, offsetof(struct watch_args, json) },
	{ 0 }
};

struct output {
	bool is_json;
	struct json json;
};

static int show_anomaly(void *arg, const struct anomaly *a)
{
	struct output *o = arg;
	char since[FORMAT_TIME];

	if (!o->is_json) {
		term_printf(stdout, "%s since %s: %s%s%s\n", *a->node ? a->node : "site",
			    format_local_time(since, a->started_ns), a->cause,
			    *a->detail ? ": " : "", a->detail);
		return 0;
	}
	json_open(&o->json, NULL, '{');
	json_number(&o->json, "id", a->id);
	json_text(&o->json, "node", a->node);
	json_text(&o->json, "subject", a->subject);
	json_text(&o->json, "job", a->job);
	json_text(&o->json, "target", a->target);
	json_number(&o->json, "started_ns", a->started_ns);
	json_text(&o->json, "cause", a->cause);
	json_text(&o->json, "detail", a->detail);
	json_double(&o->json, "value", a->value);
	json_close(&o->json);
	return 0;
}

static int show_load(void *arg, const struct load *load)
{
	struct output *o = arg;
	char read[UNIT_TEXT], written[UNIT_TEXT];

	if (!o->is_json) {
		term_printf(stdout,
			    "load: %s, job %s: reads %s/s, writes %s/s (%.0f %% of the bytes), "
			    "%.0f operations/s (%.0f %%)\n",
			    load->owner, *load->job ? load->job : "(none)",
			    unit_bytes(read, load->bytes_read),
			    unit_bytes(written, load->bytes_written), 100 * load->byte_share,
			    load->operations, 100 * load->operation_share);
		return 0;
	}
	json_open(&o->json, NULL, '{');
	json_text(&o->json, "owner", load->owner);
	json_text(&o->json, "job", load->job);
	json_double(&o->json, "bytes_read", load->bytes_read);
	json_double(&o->json, "bytes_written", load->bytes_written);
	json_double(&o->json, "operations", load->operations);
	json_double(&o->json, "byte_share", load->byte_share);
	json_double(&o->json, "operation_share", load->operation_share);
	json_close(&o->json);
	return 0;
}

/* Prints the anomalies that last, and who loads the storage now. */
static int show_all(struct site_db *site, bool is_json, int64_t now_ns, struct err *err)
{
	struct output o = { .is_json = is_json };
	int r;

	if (is_json) {
		json_start(&o.json, stdout, "sluice.watch/1");
		json_open(&o.json, "anomalies", '[');
	}
	r = anomaly_list(site, show_anomaly, &o, err);
	if (is_json) {
		json_close(&o.json);
		json_open(&o.json, "loads", '[');
	}
	if (r >= 0)
		r = load_rank(site, now_ns, NULL, LOADS, show_load, &o, err);
	if (is_json)
		json_end(&o.json);
	fflush(stdout);
	return r;
}

static int64_t time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Judges, shows, and waits for the next change. Returns -errno. */
static int watch_site(struct site_db *site, const struct watch_args *args, struct err *err)
{
	enum notice notice;
	int64_t id = 0;
	int r = args->once ? 0 : notice_listen(site, NOTICE_ANOMALY, err), changed = 1;

	while (r >= 0 && !*interrupt_flag()) {
		int64_t now = time_ns();

		r = anomaly_judge(site, now, err);
		if (r >= 0 && changed)
			r = show_all(site, args->json, now, err);
		if (r < 0 || args->once)
			break;
		r = changed = notice_wait(site, POLL_MS, &notice, &id, err);
	}
	return r;
}

/* Opens the database again after the connection was lost. */
static int reopen_site(struct site_db **site, const char *database, struct err *err)
{
	int r = -ENOTCONN;

	site_close(*site);
	*site = NULL;
	while (r == -ENOTCONN && !*interrupt_flag()) {
		clock_sleep_ns(RETRY_MS * NS_PER_MS);
		r = site_open(site, database, err);
	}
	return *interrupt_flag() ? -EINTR : r;
}

static int watch_run(struct command *command)
{
	const struct watch_args *args = command->args;
	struct site_db *site = NULL;
	struct interrupt stop;
	struct err err = { 0 };
	int r, ret = site_open_named(command, &args->site, &site);

	if (ret)
		return ret;
	interrupt_catch(&stop);
	while ((r = watch_site(site, args, &err)) == -ENOTCONN && !args->once) {
		command_warn(command, "%s", err.text);
		r = reopen_site(&site, site_name(command, &args->site), &err);
		if (r < 0)
			break;
	}
	if (r < 0 && !*interrupt_flag())
		ret = command_fail(command, "%s", err.text);
	interrupt_restore(&stop);
	site_close(site);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_watch = {
	.name = "watch",
	.help = "judge anomalies of nodes, and show them while they last",
	.about =
		"The reasoner of the system. It looks for what the anomalies of nodes have in "
		"common, such as a target that all of them access or a job that causes most of "
		"the load, and stores a verdict on the cause, which the nodes receive. It runs "
		"beside the database until it is interrupted, waits for a server that is away, and "
		"prints the anomalies that last and the users who load the storage now whenever "
		"something changes. One instance is enough for a site; it needs the role of a node "
		"(sluice site grant --node).",
	.options = watch_options,
	.args_bytes = sizeof(struct watch_args),
	.run = watch_run,
};
