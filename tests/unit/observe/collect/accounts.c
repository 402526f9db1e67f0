/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/accounts.h"

#include <errno.h>

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"

static void note_take(void *arg, const struct note *note)
{
	buf_printf(arg, "%s %s %s %d: %s\n", note->kind, note->source, note->name, note->process,
		   note->value);
}

static const char *acts(const char *name)
{
	return strcmp(name, "read_ahead") ? NULL : "advice given";
}

static char *told(const struct accounts *accounts, const struct control *control)
{
	struct run_clock clock = { .num = 10, .den = 1 };
	struct buf text = { 0 };
	struct accounts_output to = {
		.host = "h",
		.clock = &clock,
		.budget_ticks = control->plugin_budget_ticks,
		.acts = acts,
		.arg = &text,
		.note = note_take,
	};

	accounts_report(accounts, control->plugins, &to);
	buf_puts(&text, "");
	return buf_take(&text);
}

static struct control *control_of(const char *name)
{
	struct control *control = xcalloc(1, sizeof(*control));

	strcpy(control->plugins[0].name, name);
	control->plugin_budget_ticks = 200000;
	return control;
}

static void accounts_are_summed_over_processes(void)
{
	struct spool_header *header = xcalloc(1, sizeof(*header));
	struct control *control = control_of("read_ahead");
	struct accounts accounts = { 0 };
	AUTO_FREE char *text = NULL;

	header->plugins[0] = (struct plugin_account){
		.state = PLUGIN_ACTIVE, .calls = 5, .acts = 2, .ticks = 100, .worst_ticks = 60
	};
	accounts_add(&accounts, header, 0);
	header->plugins[0].worst_ticks = 30;
	accounts_add(&accounts, header, 1);
	text = told(&accounts, control);
	CHECK_TEXT(text, "applied read_ahead advice given -1: 4\n"
			 "cost read_ahead hooks called -1: 10\n"
			 "cost read_ahead time ns -1: 2000\n"
			 "cost read_ahead longest hook ns -1: 600\n");
	free(header);
	free(control);
}

static void a_refusal_is_reported_once_with_its_reason(void)
{
	struct spool_header *header = xcalloc(1, sizeof(*header));
	struct control *control = control_of("/opt/site/mine.so");
	struct accounts accounts = { 0 };
	AUTO_FREE char *text = NULL;
	const char *off;

	header->plugins[0] = (struct plugin_account){ .state = PLUGIN_SLOW, .worst_ticks = 500000 };
	accounts_add(&accounts, header, 3);
	header->plugins[0] = (struct plugin_account){ .state = PLUGIN_FAILED, .reason = EINVAL };
	accounts_add(&accounts, header, 4);
	accounts_add(&accounts, header, 5);
	text = told(&accounts, control);
	CHECK_WORDS(text,
		    "refused mine not used -1:|/opt/site/mine.so|2 processes|Invalid argument");
	off = strchr(text, '\n') + 1;
	CHECK_WORDS(off, "refused mine switched off 3:|/opt/site/mine.so|1 process");
	CHECK_WORDS(off, "hook|5.00 ms|plugins.budget|2.00 ms");
	CHECK_TEXT(strchr(off, '\n'), "\n");
	free(header);
	free(control);
}

static void a_run_without_plugins_reports_nothing(void)
{
	struct control *control = xcalloc(1, sizeof(*control));
	struct accounts accounts = { 0 };
	AUTO_FREE char *text = told(&accounts, control);

	CHECK_TEXT(text, "");
	free(control);
}

TESTS(TEST(accounts_are_summed_over_processes), TEST(a_refusal_is_reported_once_with_its_reason),
      TEST(a_run_without_plugins_reports_nothing))
