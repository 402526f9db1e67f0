/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The body of a request that changes something: one JSON object.
 */
#ifndef SLUICE_WEB_BODY_H
#define SLUICE_WEB_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body;
struct err;

/* The caller frees it. NULL with err set if it is not one JSON object. */
struct body *body_read(const char *text, size_t bytes, struct err *err);
void body_free(struct body *body); /* accepts NULL */

/* The text of a member; NULL if the object lacks it or it is something else. */
const char *body_text(const struct body *body, const char *name);
bool body_integer(const struct body *body, const char *name, int64_t *value);
bool body_flag(const struct body *body, const char *name, bool *value);

/* Texts of an array; -1: the object lacks it, or something in it is not a text. */
int body_text_count(const struct body *body, const char *name);
const char *body_text_at(const struct body *body, const char *name, int i);

#endif
