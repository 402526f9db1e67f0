/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/accounts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/unit.h"
#include "observe/collect/intake.h"

void accounts_add(struct accounts *accounts, const struct spool_header *header, uint32_t index)
{
	for (unsigned i = 0; i < CONTROL_PLUGINS; i++) {
		const struct plugin_account *from = &header->plugins[i];
		struct account *to = &accounts->list[i];
		uint32_t state = atomic_load(&from->state);
		uint64_t worst = atomic_load(&from->worst_ticks);

		if (state == PLUGIN_NONE || state >= ACCOUNTS_STATES)
			continue;
		to->processes[state]++;
		to->process[state] = (int32_t)index;
		if (state == PLUGIN_FAILED)
			to->reason = atomic_load(&from->reason);
		to->calls += atomic_load(&from->calls);
		to->acts += atomic_load(&from->acts);
		to->ticks += atomic_load(&from->ticks);
		if (worst > to->worst_ticks)
			to->worst_ticks = worst;
	}
}

/* Name of a plug-in in reports: that of a library is its file name without suffix. */
static char *short_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;

	return xstrndup(base, slash ? strcspn(base, ".") : strlen(base));
}

static void write_note(const struct accounts_output *to, const char *source, const char *kind,
		       const char *name, int32_t process, const char *value)
{
	struct note row = { .time_ns = -1,
			    .process = process,
			    .host = (char *)to->host,
			    .source = (char *)source,
			    .kind = (char *)kind,
			    .name = (char *)name,
			    .value = (char *)value };

	to->note(to->arg, &row);
}

static void write_number(const struct accounts_output *to, const char *source, const char *kind,
			 const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	write_note(to, source, kind, name, -1, text);
}

static char *refusal_text(const struct account *account, enum plugin_state state,
			  const struct accounts_output *to)
{
	char worst[UNIT_TEXT], budget[UNIT_TEXT];

	switch (state) {
	case PLUGIN_MISSING:
		return xstrdup("it cannot be loaded, or is not a plug-in");
	case PLUGIN_FOREIGN:
		return xstrdup("it has another ABI, or is not an in-line plug-in");
	case PLUGIN_FAILED:
		return xprintf("it failed to start: %s", account->reason
								 ? strerror((int)account->reason)
								 : "a required hook is missing");
	case PLUGIN_SLOW:
		unit_ns(worst, intake_ns(to->clock, account->worst_ticks));
		unit_ns(budget, intake_ns(to->clock, to->budget_ticks));
		return xprintf(
			"it was switched off, because a hook took %s, more than plugins.budget "
			"(%s)",
			worst, budget);
	default:
		return NULL;
	}
}

static void report_refusals(const struct account *account, const char *name, const char *source,
			    const struct accounts_output *to)
{
	for (enum plugin_state state = PLUGIN_MISSING; state < ACCOUNTS_STATES; state++) {
		AUTO_FREE char *why = refusal_text(account, state, to);
		uint32_t n = account->processes[state];
		AUTO_FREE char *text = NULL;

		if (!n || !why)
			continue;
		text = xprintf("in-line plug-in %s in %u %s: %s", name, n,
			       n == 1 ? "process" : "processes", why);
		write_note(to, source, NOTE_REFUSED,
			   state == PLUGIN_SLOW ? "switched off" : "not used",
			   n == 1 ? account->process[state] : -1, text);
	}
}

void accounts_report(const struct accounts *accounts,
		     const struct control_plugin plugins[CONTROL_PLUGINS],
		     const struct accounts_output *to)
{
	for (unsigned i = 0; i < CONTROL_PLUGINS && plugins[i].name[0]; i++) {
		const struct account *account = &accounts->list[i];
		const char *name = plugins[i].name;
		AUTO_FREE char *source = short_name(name);
		const char *acts = to->acts(name);

		report_refusals(account, name, source, to);
		if (account->acts)
			write_number(to, source, NOTE_APPLIED, acts ? acts : "acts", account->acts);
		if (to->hint_changes && !strcmp(name, "history"))
			write_number(to, source, NOTE_APPLIED, "hint changes", to->hint_changes);
		if (!account->calls)
			continue;
		write_number(to, source, NOTE_COST, "hooks called", account->calls);
		write_number(to, source, NOTE_COST, "time ns",
			     (uint64_t)intake_ns(to->clock, account->ticks));
		write_number(to, source, NOTE_COST, "longest hook ns",
			     (uint64_t)intake_ns(to->clock, account->worst_ticks));
	}
}
