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

/* How a plug-in is called in reports: a library by its file, without the suffix. */
static char *short_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;

	return xstrndup(base, slash ? strcspn(base, ".") : strlen(base));
}

static void note(const struct accounts_tell *to, const char *source, const char *kind,
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

static void number(const struct accounts_tell *to, const char *source, const char *kind,
		   const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	note(to, source, kind, name, -1, text);
}

static char *refusal_text(const struct account *account, enum plugin_state state,
			  const struct control *control, const struct run_clock *clock)
{
	char worst[UNIT_TEXT], budget[UNIT_TEXT];

	switch (state) {
	case PLUGIN_MISSING:
		return xstrdup("it cannot be loaded there, or is no plug-in");
	case PLUGIN_FOREIGN:
		return xstrdup("it is of another ABI, or not an in-line one");
	case PLUGIN_FAILED:
		return xprintf("it does not start: %s", account->reason
								? strerror((int)account->reason)
								: "a required hook is missing");
	case PLUGIN_SLOW:
		unit_ns(worst, intake_ns(clock, account->worst_ticks));
		unit_ns(budget, intake_ns(clock, control->plugin_budget_ticks));
		return xprintf("it was switched off: a call took it %s, more than plugins.budget, "
			       "%s",
			       worst, budget);
	default:
		return NULL;
	}
}

static void refusals_tell(const struct account *account, const char *name, const char *source,
			  const struct control *control, const struct accounts_tell *to)
{
	for (enum plugin_state state = PLUGIN_MISSING; state < ACCOUNTS_STATES; state++) {
		AUTO_FREE char *why = refusal_text(account, state, control, to->clock);
		uint32_t n = account->processes[state];
		AUTO_FREE char *text = NULL;

		if (!n || !why)
			continue;
		text = xprintf("in-line plug-in %s in %u %s: %s", name, n,
			       n == 1 ? "process" : "processes", why);
		note(to, source, NOTE_REFUSED, state == PLUGIN_SLOW ? "switched off" : "not used",
		     n == 1 ? account->process[state] : -1, text);
	}
}

void accounts_tell(const struct accounts *accounts, const struct control *control,
		   const struct accounts_tell *to)
{
	for (unsigned i = 0; i < CONTROL_PLUGINS && control->plugins[i].name[0]; i++) {
		const struct account *account = &accounts->list[i];
		const char *name = control->plugins[i].name;
		AUTO_FREE char *source = short_name(name);
		const char *acts = to->acts(name);

		refusals_tell(account, name, source, control, to);
		if (account->acts)
			number(to, source, NOTE_APPLIED, acts ? acts : "acts", account->acts);
		if (!account->calls)
			continue;
		number(to, source, NOTE_COST, "hooks called", account->calls);
		number(to, source, NOTE_COST, "time ns",
		       (uint64_t)intake_ns(to->clock, account->ticks));
		number(to, source, NOTE_COST, "longest hook ns",
		       (uint64_t)intake_ns(to->clock, account->worst_ticks));
	}
}
