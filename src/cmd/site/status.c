/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site status: what the database holds.
 */
#include "site/status.h"

#include "base/json.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cmd/site/site.h"
#include "site/site.h"
#include "store/store.h"

struct status_args {
	struct site_args site;
	bool json;
};

static const struct option status_options[] = {
	OPTION_INCLUDE(site_options, offsetof(struct status_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.site/1", OPTION_FLAG,
	  offsetof(struct status_args, json) },
	{ 0 }
};

static void print_json(const char *name, const struct site_status *s)
{
	struct json json;

	json_start(&json, stdout, "sluice.site/1");
	json_text(&json, "database", name);
	json_number(&json, "version", s->version);
	json_number(&json, "runs", s->runs);
	json_number(&json, "users", s->users);
	json_number(&json, "activities", s->activities);
	json_number(&json, "archived", s->archived);
	json_number(&json, "findings", s->findings);
	json_number(&json, "first_ns", s->first_ns);
	json_number(&json, "last_ns", s->last_ns);
	json_number(&json, "bytes", s->bytes);
	json_number(&json, "partitions", s->partitions);
	json_number(&json, "nodes", s->nodes);
	json_number(&json, "heard_ns", s->heard_ns);
	json_end(&json);
}

static void print_text(const char *name, const struct site_status *s)
{
	char from[FORMAT_TIME], to[FORMAT_TIME], size[UNIT_TEXT];

	term_printf(stdout, "database     %s, schema version %d\n", name, s->version);
	term_printf(stdout, "runs         %lld of %lld users, from %s to %s\n", (long long)s->runs,
		    (long long)s->users, format_local_time(from, s->first_ns),
		    format_local_time(to, s->last_ns));
	term_printf(stdout, "calls        %lld, and %lld in the archive\n",
		    (long long)s->activities, (long long)s->archived);
	term_printf(stdout, "findings     %lld\n", (long long)s->findings);
	if (s->bytes >= 0)
		term_printf(stdout, "size         %s, %lld partitions\n",
			    unit_bytes(size, (double)s->bytes), (long long)s->partitions);
	if (s->nodes > 0)
		term_printf(stdout, "nodes        %lld, the last one sent at %s\n",
			    (long long)s->nodes, format_local_time(from, s->heard_ns));
}

static int status_run(struct command *command)
{
	const struct status_args *args = command->args;
	struct site_status status;
	struct site_db *site = NULL;
	struct err err = { 0 };
	int ret = site_open_named(command, &args->site, &site);

	if (ret)
		return ret;
	if (site_status(site, &status, &err) < 0)
		ret = command_fail(command, "%s", err.text);
	else
		(args->json ? print_json : print_text)(store_path(site_store(site)), &status);
	site_close(site);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_status = {
	.name = "status",
	.help = "show what the database holds",
	.about = "The numbers are those of the runs that the user may see.",
	.options = status_options,
	.args_bytes = sizeof(struct status_args),
	.run = status_run,
};
