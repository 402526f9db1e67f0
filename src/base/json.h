/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A streaming JSON writer: memory does not grow with the output. The output is valid whatever bytes
 * the texts hold: a byte that is not UTF-8 becomes U+FFFD, controls are escaped (base/escape.h),
 * and a number that is not finite becomes null.
 *
 *	struct json j;
 *
 *	json_start(&j, stdout, "sluice.last/1");   // {"schema": "sluice.last/1"
 *	json_text(&j, "path", path);
 *	json_open(&j, "files", '[');
 *	json_text(&j, NULL, "a");                  // elements of arrays have no key
 *	json_close(&j);
 *	json_end(&j);                              // closes all brackets and ends the line
 */
#ifndef SLUICE_BASE_JSON_H
#define SLUICE_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

#define JSON_DEPTH_MAX 15

struct json {
	FILE *out;
	int depth;
	bool used[JSON_DEPTH_MAX + 1]; /* an element was written at this depth */
	char closing[JSON_DEPTH_MAX + 1];
};

void json_start(struct json *json, FILE *out, const char *schema); /* schema NULL: only '{' */
void json_end(struct json *json);

void json_open(struct json *json, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *json);

void json_text(struct json *json, const char *key, const char *text); /* NULL is written as null */
void json_number(struct json *json, const char *key, int64_t number);
void json_count(struct json *json, const char *key, uint64_t number);
void json_double(struct json *json, const char *key, double number);
/* number / 1000, exactly: nanoseconds as microseconds. */
void json_thousandths(struct json *json, const char *key, int64_t number);
void json_bool(struct json *json, const char *key, bool truth);

/*
 * Checks the schema that a document names, such as "sluice.kb/1"; NULL: none. Returns -EBADMSG if
 * it is another one, and -EPROTONOSUPPORT if a later version of Sluice wrote it.
 */
int json_check_schema(const char *found, const char *expected, struct err *err);

/* Writes the quoted text alone, without a struct json. */
void json_quote(FILE *out, const char *text);

#endif
