/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reasoners judge the health of what they stand for: a process, a node, the system of all nodes of
 * the job. Each cycle a reasoner polls the detectors of its domain, takes the latest reports of its
 * neighbours (a process: its node; a node: its processes and the system; the system: the nodes) and
 * the utilisation of the node, judges, and signals an anomaly to its listeners if there is one. No
 * thread, no clock of its own: whoever has it calls reasoner_cycle(), so that it can be tested.
 *
 * What a reasoner judges are the counts of its own detectors and those that its lower neighbours
 * report. The rules, in this order, each a row of rules[] in reasoner.c; the first that holds
 * decides:
 *
 *   few         too few calls, little time lost          unknown: keeps the last state for `hold`
 *   loaded      slow, and the node is loaded             good: slow is explained by load
 *   slow        share of very slow above `slow_share`,
 *               or time lost above `lost_share`          bad, signalled each cycle
 *   fast        share of very fast above `fast_share`    abnormally good, signalled each cycle
 *   neighbour   a lower neighbour is bad                 bad, signalled once for each
 *   none        otherwise                                good
 *
 * Time lost is what slow calls took beyond what is normal for them, so that one call that hangs is
 * found as well as thousands that limp. Slow calls of a neighbour that are explained by its load
 * count as normal for those above it. A process also takes the load of its node from the node's
 * report.
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

/* The rule that decided; in the order in which they are tried. */
enum health_rule {
	RULE_FEW,
	RULE_LOADED,
	RULE_SLOW,
	RULE_FAST,
	RULE_NEIGHBOUR,
	RULE_NONE,
	HEALTH_RULES
};
extern const char *const rule_names[HEALTH_RULES];

/* What reasoners tell each other. */
struct health_report {
	char id[64];		     /* "process 3", a host's name, "system" */
	uint8_t role;		     /* enum role */
	uint8_t state;		     /* enum health_state */
	uint8_t rule;		     /* enum health_rule: why */
	int64_t time_ns;	     /* CLOCK_REALTIME: nodes must agree */
	struct sluice_health health; /* of its last cycle, with those below it: see above */
	double utilisation[4];	     /* percent: cpu, network, io, memory; NAN where unknown */
};

struct reasoner_settings {
	uint64_t observations;	       /* at least so many calls in a cycle, to judge */
	double slow_share, fast_share; /* of the calls of a cycle */
	double lost_share;	       /* of the time of a cycle, per process */
	double load_percent;	       /* of cpu, network or io */
	int64_t hold_ns;	       /* a neighbour's report older than this does not count */
};
extern const struct reasoner_settings reasoner_defaults;

struct anomaly {
	const struct health_report *report; /* of the one who signals */
	const char *reason;		    /* one sentence without its full stop */
	bool is_new; /* not what was signalled last, or it was well in between */
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
/* One cycle; now_ns is CLOCK_REALTIME. The report is valid until the next. */
const struct health_report *reasoner_cycle(struct reasoner *reasoner, int64_t now_ns);

#endif
