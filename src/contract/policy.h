/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The policy page: a file of the site that every preloaded process maps read-only at its start. It
 * says which processes are recorded without any action of their users, and where they put their
 * spools and hand them over (contract/handover.h). The daemon writes it (src/policy). Guest-safe.
 *
 *   SITE/policy    this page
 *   SITE/socket    the socket of the daemon
 *
 * SITE is POLICY_SITE, or what $SLUICE_SITE names. Without a page nothing happens: no file is
 * created and no socket is opened.
 *
 * A page is complete when it gets its name, and is replaced by another file of the same name. Only
 * the atomic members change in place, so that processes notice a restart of the daemon.
 */
#ifndef SLUICE_CONTRACT_POLICY_H
#define SLUICE_CONTRACT_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "contract/parameters.h"

#define POLICY_MAGIC UINT64_C(0x3159434c4f504c53) /* "SLPOLCY1" */
#define POLICY_VERSION 2
#define POLICY_SITE "/run/sluice"
#define POLICY_SITE_VARIABLE "SLUICE_SITE"
#define POLICY_NAME "policy"
#define POLICY_SOCKET_NAME "socket"

#define POLICY_RULES 128
#define POLICY_PROGRAM_BYTES 256
#define POLICY_PARTITION_BYTES 64
#define POLICY_PATH_BYTES 256
#define POLICY_SOCKET_BYTES 108 /* as in struct sockaddr_un */
#define POLICY_SKIP_BYTES 1024
#define POLICY_ACT_BYTES 32
#define POLICY_ACT_SERVED "served" /* the plug-in of capture/inline/served.h */
#define POLICY_ALL 10000	   /* the sample that contains every run */
#define POLICY_NOBODY UINT32_MAX

/* What is kept of a process: name, word in the configuration, help. The values are part of the
 * format. */
#define POLICY_MODES(X)                                     \
	X(OFF, "off", "nothing")                            \
	X(COUNTERS, "counters", "calls and bytes per file") \
	X(FLIGHT, "flight", "the calls before an anomaly")  \
	X(TRACE, "trace", "every call")

#define POLICY_ENUM(name, ...) POLICY_##name,
enum policy_mode { POLICY_MODES(POLICY_ENUM) POLICY_MODE_COUNT };
#undef POLICY_ENUM

/* A rule matches if all conditions that it has match. */
struct policy_rule {
	uint32_t user, group;			/* POLICY_NOBODY: any */
	char program[POLICY_PROGRAM_BYTES];	/* pattern of parameters_match(); "": any */
	char partition[POLICY_PARTITION_BYTES]; /* pattern for the partition of the job; "": any */
	uint32_t mode;				/* enum policy_mode */
	uint32_t sample;			/* of the runs that match, of POLICY_ALL */
};

struct policy {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes; /* sizeof(struct policy) */
	/* Changes when a daemon has started that does not have the spools: hand over again. */
	_Atomic uint32_t epoch;
	/* Not 0: another page has replaced this one. */
	_Atomic uint32_t superseded;
	uint32_t generation; /* of the rules */
	uint32_t clock;	     /* enum capture_clock */
	uint32_t chunks_max; /* limit of the spools of a run, as in the control page */
	/* Group that may open the spools, so that the daemon can read those that were not handed
	 * over; POLICY_NOBODY: none. */
	uint32_t group;
	char socket[POLICY_SOCKET_BYTES]; /* path of the daemon's socket */
	char spools[POLICY_PATH_BYTES];	  /* directory of the spools, see contract/handover.h */
	char skip[POLICY_SKIP_BYTES];	  /* names of programs, as in the control page */
	uint32_t rule_count;
	char act[POLICY_ACT_BYTES]; /* in-line plug-in that acts on programs; "": none */
	struct policy_rule rules[POLICY_RULES]; /* the first that matches decides; none: off */
};

/* What rules are matched against. */
struct policy_subject {
	uint32_t user, group;
	const uint32_t *groups; /* supplementary groups */
	size_t group_count;
	const char *program;   /* path of the executable, or "" */
	const char *partition; /* "": the process is not part of a job */
	uint64_t key;	       /* of the run, see contract/handover.h; decides about samples */
};

static inline bool policy_text_ends(const char *text, size_t bytes)
{
	return memchr(text, 0, bytes) != NULL;
}

/* Is it a complete page of this version? `bytes` is the size of the file. */
static inline bool policy_is_valid(const struct policy *p, uint64_t bytes)
{
	if (bytes < sizeof(*p) || p->magic != POLICY_MAGIC || p->version != POLICY_VERSION ||
	    p->bytes != sizeof(*p) || p->rule_count > POLICY_RULES || p->socket[0] != '/' ||
	    p->spools[0] != '/' || !policy_text_ends(p->socket, sizeof(p->socket)) ||
	    !policy_text_ends(p->spools, sizeof(p->spools)) ||
	    !policy_text_ends(p->act, sizeof(p->act)))
		return false;
	for (uint32_t i = 0; i < p->rule_count; i++) {
		const struct policy_rule *rule = &p->rules[i];

		if (rule->mode >= POLICY_MODE_COUNT ||
		    !policy_text_ends(rule->program, sizeof(rule->program)) ||
		    !policy_text_ends(rule->partition, sizeof(rule->partition)))
			return false;
	}
	return true;
}

static inline bool policy_is_member(const struct policy_subject *who, uint32_t group)
{
	if (who->group == group)
		return true;
	for (size_t i = 0; i < who->group_count; i++)
		if (who->groups[i] == group)
			return true;
	return false;
}

static inline bool policy_rule_matches(const struct policy_rule *rule,
				       const struct policy_subject *who)
{
	if (rule->user != POLICY_NOBODY && rule->user != who->user)
		return false;
	if (rule->group != POLICY_NOBODY && !policy_is_member(who, rule->group))
		return false;
	if (rule->program[0] && !parameters_match(rule->program, who->program))
		return false;
	return !rule->partition[0] || parameters_glob(rule->partition, who->partition);
}

/* Is the run in the sample? The same for all processes of a run, on all nodes. */
static inline bool policy_is_sampled(uint64_t key, uint32_t sample)
{
	return (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % POLICY_ALL < sample;
}

/* What is kept of this process. The page must be valid. */
static inline enum policy_mode policy_decide(const struct policy *p,
					     const struct policy_subject *who)
{
	for (uint32_t i = 0; i < p->rule_count; i++)
		if (policy_rule_matches(&p->rules[i], who))
			return policy_is_sampled(who->key, p->rules[i].sample)
				       ? (enum policy_mode)p->rules[i].mode
				       : POLICY_OFF;
	return POLICY_OFF;
}

#endif
