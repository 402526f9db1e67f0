/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings as text and as JSON. docs/reference/report.md describes the fields.
 */
#ifndef SLUICE_OBSERVE_REPORT_RENDER_FINDINGS_H
#define SLUICE_OBSERVE_REPORT_RENDER_FINDINGS_H

#include <stddef.h>
#include <stdio.h>

#include "observe/diagnose/finding.h"

struct buf;
struct json;

/*
 * Prints the findings: the first `full` of them completely, the others as one line each. Says so if
 * there is none.
 */
void render_findings(FILE *out, const struct profile *profile, const struct finding *findings,
		     size_t count, size_t full);

/* Appends one line about a finding, without a newline: severity, title, share and gain. */
void render_finding_line(struct buf *out, const struct finding *finding);

/* Appends the evidence with the files and ranks that are concerned, as sentences. */
void render_finding_evidence(struct buf *out, const struct profile *profile,
			     const struct finding *finding);

/* Appends how the gain was predicted, or why it was not, as a sentence. */
void render_finding_prediction(struct buf *out, const struct finding *finding);

/* Prints all rules as the body of docs/reference/findings.md. */
void render_rules(FILE *out);

/* Adds the field "findings" to the open JSON object. */
void render_findings_json(struct json *json, const struct profile *profile,
			  const struct finding *findings, size_t count);

#endif
