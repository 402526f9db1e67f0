/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes parameter sets to files, for `sluice run --params` and for use without Sluice.
 */
#ifndef SLUICE_PARAMS_FORM_FILES_H
#define SLUICE_PARAMS_FORM_FILES_H

struct err;
struct param_form;
struct param_set;

/* Writes PREFIX.SUFFIX. */
int param_form_write_file(const struct param_set *set, const struct param_form *form,
			  const char *prefix, const char *suffix, struct err *err);

/* Writes PREFIX.xml, PREFIX.json, PREFIX.hints and PREFIX.sh. */
int param_forms_write_all(const struct param_set *set, const char *prefix, struct err *err);

#endif
