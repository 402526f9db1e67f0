/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results that must agree with the reference to many digits. They are printed with all digits;
 * learn_exact.py compares them. Each function takes the words of its command line (see learn.c).
 */
#ifndef SLUICE_BENCH_LEARN_EXACT_H
#define SLUICE_BENCH_LEARN_EXACT_H

struct err;

/* Prints for each column its name, the power by maximum likelihood and the power of caret, or nan
 * if the column is not transformed. */
int exact_powers(char **words, struct err *err);

/* Prints all rows as principal components of the centered and scaled columns. */
int exact_components(char **words, struct err *err);

/* Prints the predictions of a linear regression for the rows that it was fitted to. */
int exact_linear(char **words, struct err *err);

/*
 * Prints for each column a mixture of two log-normal distributions (weights, means, CPU seconds,
 * ceiling) and the log-likelihood of two components of every family.
 */
int exact_mixtures(char **words, struct err *err);

#endif
