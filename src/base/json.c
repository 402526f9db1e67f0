/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Length of the UTF-8 sequence at s, or 0 if it is invalid, overlong or a surrogate. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80			 ? 1
		   : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
		   : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
		   : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0))
		return 0;
	if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90))
		return 0;
	return n;
}

static void put_ascii(FILE *out, unsigned char c)
{
	static const char from[] = "\n\t\r\b\f", to[] = "ntrbf";
	const char *hit = c ? strchr(from, c) : NULL;

	if (c == '"' || c == '\\')
		fprintf(out, "\\%c", c);
	else if (hit)
		fprintf(out, "\\%c", to[hit - from]);
	else if (c < 0x20 || c == 0x7F)
		fprintf(out, "\\u%04x", c);
	else
		putc_unlocked(c, out);
}

void json_quote(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc_unlocked('"', out);
	while (*s) {
		size_t n = utf8_length(s);

		if (n == 1)
			put_ascii(out, *s);
		else if (n)
			fwrite(s, 1, n, out);
		else
			fputs("\\ufffd", out);
		s += n ? n : 1;
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

void json_real(struct json *json, const char *key, double number)
{
	put_key(json, key);
	if (isfinite(number))
		fprintf(json->out, "%.9g", number);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool truth)
{
	put_key(json, key);
	fputs(truth ? "true" : "false", json->out);
}
