/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A reasoner judges the health of a process, a node, or the system of all nodes of the job. In each
 * cycle it polls its detectors, takes the latest reports of its neighbors (a process: its node; a
 * node: its processes and the system; the system: the nodes) and the utilization of the node,
 * judges, and reports an anomaly to its listeners if there is one. It has no thread and no clock:
 * its owner calls reasoner_cycle(), which makes it testable.
 *
 * A reasoner judges the calls that its own detectors graded and those that its lower neighbors
 * report. The rules are tried in this order, each a row of rules[] in reasoner.c; the first that
 * holds decides:
 *
 *   few         too few calls, little time lost          unknown: keeps the last state for `hold`
 *   loaded      slow, and the node is loaded             good: the load explains it
 *   slow        share of very slow calls > `slow_share`,
 *               or time lost > `lost_share`              bad, reported in each cycle
 *   fast        share of very fast calls > `fast_share`  abnormally good, reported in each cycle
 *   neighbor    a lower neighbor is bad                  bad, reported once for each
 *   none        otherwise                                good
 *
 * The time lost is the excess of slow calls over their normal duration, so that one call that hangs
 * is found as well as thousands of slightly slow calls. Slow calls of a neighbor that its load
 * explains count as normal for the reasoners above it. A process also takes the load of its node
 * from the node's report.
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

/* The rule that decided, in the order in which they are tried. */
enum health_rule {
	RULE_FEW,
	RULE_LOADED,
	RULE_SLOW,
	RULE_FAST,
	RULE_NEIGHBOR,
	RULE_NONE,
	HEALTH_RULES
};
extern const char *const rule_names[HEALTH_RULES];

/* The report of a reasoner to its neighbors. */
struct health_report {
	char id[64];	 /* "process 3", a host name, "system" */
	uint8_t role;	 /* enum role */
	uint8_t state;	 /* enum health_state */
	uint8_t rule;	 /* enum health_rule: the reason */
	int64_t time_ns; /* CLOCK_REALTIME, because nodes must agree on it */
	struct sluice_health
		health;	       /* calls of the last cycle, including those of lower neighbors */
	double utilization[4]; /* percent: cpu, network, io, memory; NAN if unknown */
};

struct reasoner_settings {
	uint64_t observations;	       /* minimum number of calls in a cycle to judge */
	double slow_share, fast_share; /* shares of the calls of a cycle */
	double lost_share;	       /* share of the time of a cycle, per process */
	double load_percent; /* utilization of cpu, network or io above which a node is loaded */
	int64_t hold_ns;     /* an older report of a neighbor is ignored */
};
extern const struct reasoner_settings reasoner_defaults;

struct anomaly {
	const struct health_report *report; /* report of the reasoner with the anomaly */
	const char *reason;		    /* one sentence without a period */
	bool is_new;			    /* the state has changed since the last signal */
};

struct reasoner;
typedef void (*reasoner_listener)(void *arg, const struct anomaly *anomaly);
/*
 * Adds the calls that a detector has graded since the last cycle. Returns false if there are none.
 */
typedef bool (*reasoner_detector)(void *arg, struct sluice_health *health);

struct reasoner *reasoner_new(enum role role, const char *id,
			      const struct reasoner_settings *settings);
void reasoner_free(struct reasoner *reasoner);
void reasoner_add_detector(struct reasoner *reasoner, reasoner_detector poll, void *arg);
void reasoner_add_listener(struct reasoner *reasoner, reasoner_listener listen, void *arg);
/* Stores the latest report of a neighbor; replaces the previous one of the same id. */
void reasoner_hear(struct reasoner *reasoner, const struct health_report *neighbor);
/* Sets the utilization in percent: cpu, network, io, memory; NAN if unknown. */
void reasoner_load(struct reasoner *reasoner, const double utilization[4]);
/* Runs one cycle. now_ns is CLOCK_REALTIME. The report is valid until the next cycle. */
const struct health_report *reasoner_cycle(struct reasoner *reasoner, int64_t now_ns);

#endif
