/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/alert.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * The command gets SLUICE_ALERT (raised, judged or cleared), SLUICE_ALERT_CAUSE,
 * SLUICE_ALERT_VERDICT, SLUICE_ALERT_REASON and SLUICE_ALERT_USERS. The daemon does not wait for
 * it.
 */
static pid_t start_command(const struct alert *alert, const struct alert_view *view,
			   const char *state)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)alert->command, NULL };
	AUTO_FREE char *event = xprintf("SLUICE_ALERT=%s", state);
	AUTO_FREE char *why = xprintf("SLUICE_ALERT_CAUSE=%s", alert->cause);
	AUTO_FREE char *verdict = xprintf("SLUICE_ALERT_VERDICT=%s", alert->verdict);
	AUTO_FREE char *reason = xprintf("SLUICE_ALERT_REASON=%s", view->reason);
	AUTO_FREE char *users = xprintf("SLUICE_ALERT_USERS=%s", view->users);
	char *const environment[] = { event,  why,   verdict,
				      reason, users, (char *)"PATH=/usr/local/bin:/usr/bin:/bin",
				      NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid = 0;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environment) != 0)
		pid = 0;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static void run_command(struct alert *alert, const struct alert_view *view, const char *state)
{
	if (!alert->command || !*alert->command)
		return;
	alert_reap(alert);
	for (int i = 0; i < ALERT_COMMANDS; i++) {
		if (alert->commands[i])
			continue;
		alert->commands[i] = start_command(alert, view, state);
		return;
	}
	if (alert->tell)
		alert->tell("the command of the last alerts is still running; it was not started");
}

static void announce(struct alert *alert, const struct alert_view *view)
{
	AUTO_FREE char *sentence = NULL;

	if (alert->is_raised)
		sentence =
			xprintf("alert: %s; likely cause: %s%s%s%s%s", view->reason, alert->cause,
				*alert->verdict ? "; of the site: " : "", alert->verdict,
				*view->users ? "; load on the storage now: " : "", view->users);
	else
		sentence = xprintf("alert is over; its likely cause was: %s", alert->cause);
	if (alert->tell)
		alert->tell(sentence);
	run_command(alert, view, alert->is_raised ? "raised" : "cleared");
}

void alert_judge(struct alert *alert, const char *kind, const char *verdict)
{
	bool is_new = strcmp(alert->verdict_kind, kind) != 0;
	AUTO_FREE char *sentence = NULL;

	snprintf(alert->verdict, sizeof(alert->verdict), "%s", verdict);
	snprintf(alert->verdict_kind, sizeof(alert->verdict_kind), "%s", kind);
	if (!is_new || !alert->is_raised || !*verdict)
		return;
	sentence = xprintf("alert: cause by the reasoner of the site: %s", alert->verdict);
	if (alert->tell)
		alert->tell(sentence);
	run_command(alert, &(struct alert_view){ .reason = "", .users = "" }, "judged");
}

bool alert_update(struct alert *alert, const struct alert_view *view)
{
	if (view->is_bad == alert->is_raised) {
		alert->streak = 0;
		return false;
	}
	if (++alert->streak < ALERT_CYCLES)
		return false;
	alert->streak = 0;
	alert->is_raised = view->is_bad;
	if (alert->is_raised) {
		snprintf(alert->cause, sizeof(alert->cause), "%s", view->cause);
		snprintf(alert->kind, sizeof(alert->kind), "%s", view->kind);
	}
	announce(alert, view);
	return true;
}

void alert_reap(struct alert *alert)
{
	for (int i = 0; i < ALERT_COMMANDS; i++)
		if (alert->commands[i] && waitpid(alert->commands[i], NULL, WNOHANG) != 0)
			alert->commands[i] = 0;
}
