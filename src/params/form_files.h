/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parameters as files, for `sluice run --params` and for who applies them without us.
 */
#ifndef SLUICE_PARAMS_FORM_FILES_H
#define SLUICE_PARAMS_FORM_FILES_H

struct err;
struct param_form;
struct param_set;

/* As PREFIX.ENDING. */
int forms_write_one(const struct param_set *set, const struct param_form *form, const char *prefix,
		    const char *ending, struct err *err);

/* As PREFIX.xml, .json, .hints and .sh. */
int forms_write(const struct param_set *set, const char *prefix, struct err *err);

#endif
