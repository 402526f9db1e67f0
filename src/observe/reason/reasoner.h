/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reasoners judge the health of what they stand for: a process, a node, the system of all nodes of
 * the job. Each cycle a reasoner polls the detectors of its domain, takes the latest reports of its
 * neighbours (a process: its node; a node: its processes and the system; the system: the nodes) and
 * the utilisation of the node, judges, and signals an anomaly to its listeners if there is one. No
 * thread, no clock of its own: whoever has it calls reasoner_cycle(), so that it can be tested.
 *
 * The rules, in this order, each a row of reasoner_rules[]:
 *   too few observations                                   unknown: keeps the last state for `hold`
 *   share of very slow above `slow_share`,
 *     and the node is loaded beyond `load_percent`         good: slow is explained by load
 *   share of very slow above `slow_share`                  bad, signalled
 *   share of very fast above `fast_share`                  abnormally good, signalled
 *   a lower neighbour is bad                               bad, signalled once
 *   otherwise                                              good
 */
#ifndef SLUICE_OBSERVE_REASON_REASONER_H
#define SLUICE_OBSERVE_REASON_REASONER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sluice/plugin.h>

enum role { ROLE_PROCESS, ROLE_NODE, ROLE_SYSTEM, ROLES };
enum health_state {
	HEALTH_UNKNOWN,
	HEALTH_GOOD,
	HEALTH_ABNORMALLY_GOOD,
	HEALTH_BAD,
	HEALTH_STATES
};
extern const char *const role_names[ROLES], *const health_names[HEALTH_STATES];

/* What reasoners tell each other. */
struct health_report {
	char id[64];		     /* "process 3", a host's name, "system" */
	uint8_t role;		     /* enum role */
	uint8_t state;		     /* enum health_state */
	int64_t time_ns;	     /* CLOCK_REALTIME: nodes must agree */
	struct sluice_health health; /* of its last cycle */
	double utilisation[4];	     /* percent: cpu, network, io, memory; NAN where unknown */
};

struct reasoner_settings {
	uint64_t observations; /* at least so many calls in a cycle, to judge */
	double slow_share, fast_share;
	double load_percent; /* of cpu, network or io */
	int64_t hold_ns;     /* a neighbour's report older than this does not count */
};
extern const struct reasoner_settings reasoner_defaults;

struct anomaly {
	const struct health_report *report; /* of the one who signals */
	const char *reason;		    /* one sentence */
};

struct reasoner;
typedef void (*reasoner_listener)(void *arg, const struct anomaly *anomaly);
/* Adds what a detector has seen since the last cycle; false: nothing. */
typedef bool (*reasoner_detector)(void *arg, struct sluice_health *health);

struct reasoner *reasoner_new(enum role role, const char *id,
			      const struct reasoner_settings *settings);
void reasoner_free(struct reasoner *reasoner);
void reasoner_add_detector(struct reasoner *reasoner, reasoner_detector poll, void *arg);
void reasoner_add_listener(struct reasoner *reasoner, reasoner_listener listen, void *arg);
/* The latest report of a neighbour; replaces what that id said before. */
void reasoner_hear(struct reasoner *reasoner, const struct health_report *neighbour);
/* percent: cpu, network, io, memory; NAN where unknown. */
void reasoner_load(struct reasoner *reasoner, const double utilisation[4]);
/* One cycle. The report is valid until the next. */
const struct health_report *reasoner_cycle(struct reasoner *reasoner, int64_t now_ns);

#endif
