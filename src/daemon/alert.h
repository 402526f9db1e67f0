/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An alert lasts as long as an anomaly does. It is raised when the anomaly was seen in ALERT_CYCLES
 * consecutive cycles, and cleared when it was not seen in as many. Both are told to the operator
 * and passed to a command of the site. Belongs to one thread.
 * Papers: SIOX-3.
 */
#ifndef SLUICE_DAEMON_ALERT_H
#define SLUICE_DAEMON_ALERT_H

#include <stdbool.h>
#include <sys/types.h>

#define ALERT_CYCLES 3
#define ALERT_COMMANDS 4 /* that run at the same time; more are not started */
#define ALERT_CAUSE_BYTES 128
#define ALERT_KIND_BYTES 32
#define ALERT_VERDICT_BYTES 512

struct alert {
	const char *command; /* run by /bin/sh with the variables of alert.c; NULL or "": none */
	void (*tell)(const char *sentence);
	bool is_raised;
	unsigned streak;	       /* consecutive cycles that contradict is_raised */
	char cause[ALERT_CAUSE_BYTES]; /* while it is raised; may name a job */
	char kind[ALERT_KIND_BYTES];   /* of the cause, for everybody: "job", "node load" */
	/* What the system reasoner says of the node, also without an alert; "": nothing. */
	char verdict[ALERT_VERDICT_BYTES];
	char verdict_kind[ALERT_KIND_BYTES]; /* "likely job" */
	pid_t commands[ALERT_COMMANDS];
};

/* What was seen in a cycle. */
struct alert_view {
	bool is_bad;
	const char *reason; /* a sentence without a period */
	const char *cause;  /* short: "node load", "file system /scratch", "job 17", "unknown" */
	const char *kind;   /* the same without names: "node load", "file system", "job" */
	const char *users;  /* who loads the storage now, the heaviest first; "" if nobody does */
};

/* Returns true if the alert was raised or cleared by this call. */
bool alert_update(struct alert *alert, const struct alert_view *view);

/*
 * The system reasoner says something about the node; "" if it no longer does. While there is an
 * alert, a verdict of another kind is told, and the command is run.
 */
void alert_judge(struct alert *alert, const char *kind, const char *verdict);

/* Forgets commands that have ended. To be called now and then. */
void alert_reap(struct alert *alert);

#endif
