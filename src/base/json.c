/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"

static void put_ascii(FILE *out, unsigned char c)
{
	static const char from[] = "\n\t\r\b\f", to[] = "ntrbf";
	const char *hit = c ? strchr(from, c) : NULL;

	if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else if (hit)
		fprintf(out, "\\%c", to[hit - from]);
	else if (escape_is_control(c))
		fprintf(out, "\\u%04x", c);
	else
		putc_unlocked(c, out);
}

void json_quote(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	while (*text) {
		uint32_t code;
		size_t n = escape_decode(text, &code);

		if (n == 1)
			put_ascii(out, (unsigned char)code);
		else if (n && escape_is_control(code)) /* all of them have four digits */
			fprintf(out, "\\u%04" PRIx32, code);
		else if (n)
			fwrite(text, 1, n, out);
		else
			fputs("\\ufffd", out);
		text += n ? n : 1;
	}
	putc_unlocked('"', out);
}

static void put_key(struct json *json, const char *key)
{
	if (json->used[json->depth])
		fputs(", ", json->out);
	json->used[json->depth] = true;
	if (!key)
		return;
	json_quote(json->out, key);
	fputs(": ", json->out);
}

void json_open(struct json *json, const char *key, char bracket)
{
	if (json->depth)
		put_key(json, key);
	putc_unlocked(bracket, json->out);
	json->depth++;
	json->used[json->depth] = false;
	json->closing[json->depth] = bracket == '{' ? '}' : ']';
}

void json_close(struct json *json)
{
	putc_unlocked(json->closing[json->depth], json->out);
	json->depth--;
}

void json_start(struct json *json, FILE *out, const char *schema)
{
	*json = (struct json){ .out = out };
	json_open(json, NULL, '{');
	if (schema)
		json_text(json, "schema", schema);
}

void json_end(struct json *json)
{
	while (json->depth)
		json_close(json);
	putc_unlocked('\n', json->out);
}

void json_text(struct json *json, const char *key, const char *text)
{
	put_key(json, key);
	if (text)
		json_quote(json->out, text);
	else
		fputs("null", json->out);
}

void json_number(struct json *json, const char *key, int64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRId64, number);
}

void json_count(struct json *json, const char *key, uint64_t number)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, number);
}

void json_double(struct json *json, const char *key, double number)
{
	put_key(json, key);
	if (isfinite(number))
		fprintf(json->out, "%.9g", number);
	else
		fputs("null", json->out);
}

void json_thousandths(struct json *json, const char *key, int64_t number)
{
	uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	put_key(json, key);
	fprintf(json->out, "%s%" PRIu64 ".%03" PRIu64, number < 0 ? "-" : "", size / 1000,
		size % 1000);
}

void json_bool(struct json *json, const char *key, bool truth)
{
	put_key(json, key);
	fputs(truth ? "true" : "false", json->out);
}

int json_check_schema(const char *found, const char *expected, struct err *err)
{
	size_t name = (size_t)(strrchr(expected, '/') - expected) + 1;

	if (found && strcmp(found, expected) == 0)
		return 0;
	if (found && strncmp(found, expected, name) == 0 &&
	    strtoul(found + name, NULL, 10) > strtoul(expected + name, NULL, 10))
		return err_set(err, EPROTONOSUPPORT,
			       "written by a later version of Sluice (schema %.60s, this version "
			       "reads %s); update Sluice",
			       found, expected);
	return err_set(err, EBADMSG, "\"schema\" is not %s", expected);
}
