/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What must agree with the reference to many digits: results are printed in full for
 * learn_exact.py to compare. Each takes the words of its command line (see learn.c).
 */
#ifndef SLUICE_BENCH_LEARN_EXACT_H
#define SLUICE_BENCH_LEARN_EXACT_H

struct err;

/* Per column: its name, the power by maximum likelihood, and caret's; nan where it is left alone.
 */
int exact_powers(char **words, struct err *err);

/* All rows as principal components of centred and scaled columns. */
int exact_components(char **words, struct err *err);

/* Predictions of linear regression for the rows that it was fitted to. */
int exact_linear(char **words, struct err *err);

/*
 * Per column: a mixture of two log-normals (weights, means, CPU seconds, ceiling) and the
 * log-likelihood of two components of every family.
 */
int exact_mixtures(char **words, struct err *err);

#endif
