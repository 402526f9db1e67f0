/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON written as it comes, so that memory does not grow with what is written. It is valid
 * whatever bytes the texts hold: a byte that is not UTF-8 becomes U+FFFD, a number that is not
 * finite becomes null.
 *
 *	struct json j;
 *
 *	json_start(&j, stdout, "sluice.last/1");   // {"schema": "sluice.last/1"
 *	json_text(&j, "path", path);
 *	json_open(&j, "files", '[');
 *	json_text(&j, NULL, "a");                  // in an array there is no key
 *	json_close(&j);
 *	json_end(&j);                              // closes what is open and ends the line
 */
#ifndef SLUICE_BASE_JSON_H
#define SLUICE_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 15

struct json {
	FILE *out;
	int depth;
	bool used[JSON_DEPTH_MAX + 1]; /* something stands at this depth already */
	char closing[JSON_DEPTH_MAX + 1];
};

void json_start(struct json *json, FILE *out, const char *schema); /* schema NULL: just the brace */
void json_end(struct json *json);

void json_open(struct json *json, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *json);

void json_text(struct json *json, const char *key, const char *text); /* NULL gives null */
void json_number(struct json *json, const char *key, int64_t number);
void json_count(struct json *json, const char *key, uint64_t number);
void json_real(struct json *json, const char *key, double number);
void json_bool(struct json *json, const char *key, bool truth);

/* Only the quoted text. */
void json_quote(FILE *out, const char *text);

#endif
