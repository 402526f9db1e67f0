/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of the diagnosis. A rule is one row in one of the tables of this folder, which
 * diagnose_rules[] lists: `sluice report`, the JSON, the page and docs/reference/findings.md are
 * derived from it. tests/lint/findings.sh compares the document with the rows.
 *
 * A rule tests each file of the user on its own (test_file), or the run as a whole (test_run). What
 * it finds on several files becomes one finding. If a rule matches a file, the codes in its `hides`
 * are not reported for that file, because it explains them: many small independent writes to a
 * shared file are a lack of collective I/O, not small requests. Therefore the order of the tables
 * and rows matters: a rule comes before those that it hides.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_RULE_H
#define SLUICE_OBSERVE_DIAGNOSE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "observe/diagnose/finding.h"

struct case_file;
struct diagnosis;

/* What a rule found on one file or, added up, on several. */
struct match {
	uint64_t calls;	   /* concerned */
	uint64_t of_calls; /* out of so many */
	uint64_t bytes;	   /* concerned */
	uint64_t of_bytes;
	double time_ns;	     /* that these calls took, summed over threads */
	double saved_ns;     /* of it, that the fix would save; NAN: unknown */
	const char *source;  /* how saved_ns was found: SOURCE_* of cost.h; NULL: causal chain */
	const char *unknown; /* why saved_ns is NAN; NULL: as the rule says */
	double value;	     /* main number of the rule; the largest of the files counts */
	int way;	     /* READING or WRITING; -1: both */
	int layer;	     /* of the calls, for the query; -1: all */
	uint64_t fix_value;  /* for {value} in the fixes; the largest counts */
	const char *reason;  /* of a library, or NULL */
	size_t unproven;     /* files whose evidence does not prove the cause */
	size_t files;	     /* that match; set by the engine */
};

/* An empty match, which others are added to. */
struct match match_none(void);
void match_add(struct match *sum, const struct match *one);

/* Adds a file to those of the finding, which names the ones with the largest weights first: their
 * time, or the number of their calls. */
void finding_add_file(struct finding *finding, file_id file, double weight);

/* Kinds are those of struct fix; fill.h lists the words in braces that a text may contain. */
struct fix_row {
	const char *kind, *text;
	/*
	 * Parameters of params/catalog.c that the fix decides, NAME or NAME=VALUE, separated by
	 * blanks; NULL: that of the rule. If Sluice has set one of them to something else in the
	 * run, the fix is not offered.
	 */
	const char *sets;
	/*
	 * Requesting layers (case.h) that the fix belongs to, as bits 1u << LAYER_X; 0: all. The
	 * layers below issue what the requesting layer asks for, so a fix there changes nothing.
	 */
	unsigned layers;
};

/* FIX(KIND, TEXT) or FIX(KIND, TEXT, .sets = "...") */
#define FIX(kind_, text_, ...)                                \
	{                                                     \
		.kind = (kind_), .text = (text_), __VA_ARGS__ \
	}
#define FIX_LIBC (1u << LAYER_POSIX | 1u << LAYER_STDIO)

enum { RULE_FIXES = 8 };

struct rule {
	const char *code, *title;
	const char *when;	 /* the condition, with the names of settings, for the document */
	const char *explanation; /* two sentences: what happens, and why it is slow */
	const char *parameter;	 /* of params/catalog.c, or NULL */
	const char *hides;	 /* codes separated by blanks, or NULL */
	const char *gain;	 /* what the predicted gain includes; or NULL and */
	const char *unknown;	 /* why no gain is predicted, as a sentence without its end */
	enum severity most;	 /* the severity follows from the share, up to this one */
	bool possible;		 /* always; see also match.unproven */
	bool uses_chains;	 /* its figures depend on causal chains */
	bool is_unlimited;	 /* it uses no figures of files, ranks or causal chains */
	bool (*test_file)(const struct diagnosis *, const struct case_file *, struct match *);
	bool (*test_run)(const struct diagnosis *, struct match *, struct finding *);
	/* Appends the evidence, without the names of files and ranks. */
	void (*describe)(struct buf *, const struct diagnosis *, const struct match *);
	const char *query; /* options of `sluice print`, such as "--layer POSIX"; NULL: by layer */
	struct fix_row fixes[RULE_FIXES]; /* up to a row without kind */
};

struct rule_table {
	const struct rule *rules;
	size_t count;
};

extern const struct rule_table rules_requests, rules_hdf5, rules_mpi, rules_stripes, rules_metadata,
	rules_ranks, rules_node, rules_stdio;
extern const struct rule_table *const diagnose_rules[]; /* ends with NULL */

#endif
