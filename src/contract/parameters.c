/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one writer and the one reader of the compiled parameters. Guest and host link the same
 * code, so it uses libc only and allocates nothing.
 */
#include "contract/parameters.h"

static const char *const place_words[] = {
#define WORD(name, word) [PLACE_##name] = word,
	PARAMETERS_PLACES(WORD)
#undef WORD
};

/* Appends what fits and counts the rest. */
static void append(struct parameters_writer *writer, const char *text, char separator)
{
	for (;; text++) {
		char c = *text ? *text : separator;

		if (writer->bytes + 1 < PARAMETERS_BYTES) {
			writer->text[writer->bytes] = c;
			writer->text[writer->bytes + 1] = 0;
		}
		writer->bytes++;
		if (!*text)
			return;
	}
}

void parameters_write_title(struct parameters_writer *writer, char text[PARAMETERS_BYTES],
			    bool application_wins)
{
	size_t title = strlen(PARAMETERS_TITLE);

	memcpy(text, PARAMETERS_TITLE, title + 1);
	*writer = (struct parameters_writer){ .text = text, .bytes = title };
	append(writer, application_wins ? PARAMETERS_APPLICATION : PARAMETERS_PARAMETERS, '\n');
}

void parameters_write_line(struct parameters_writer *writer, const struct parameters_line *line)
{
	append(writer, place_words[line->place], '\t');
	append(writer, line->file, '\t');
	append(writer, line->object, '\t');
	append(writer, line->name, '\t');
	append(writer, line->value, '\n');
}

/* Terminates the field and returns the one behind it; NULL if another separator ends it. */
static char *end_field(char *field, char separator)
{
	char *end = strpbrk(field, "\t\n");

	if (!end || *end != separator)
		return NULL;
	*end = 0;
	return end + 1;
}

static bool find_place(const char *word, enum parameters_place *place)
{
	for (unsigned i = 0; i < PLACE_COUNT; i++)
		if (strcmp(place_words[i], word) == 0) {
			*place = (enum parameters_place)i;
			return true;
		}
	return false;
}

char *parameters_read_title(char *text, bool *application_wins)
{
	size_t title = strlen(PARAMETERS_TITLE);
	char *authority = text + title, *first;

	if (strncmp(text, PARAMETERS_TITLE, title) != 0)
		return NULL;
	first = end_field(authority, '\n');
	if (!first)
		return NULL;
	*application_wins = strcmp(authority, PARAMETERS_APPLICATION) == 0;
	return *application_wins || strcmp(authority, PARAMETERS_PARAMETERS) == 0 ? first : NULL;
}

bool parameters_read_line(char **at, struct parameters_line *line)
{
	while (*at && **at) {
		char *place = *at, *file = end_field(place, '\t');
		char *object = file ? end_field(file, '\t') : NULL;
		char *name = object ? end_field(object, '\t') : NULL;
		char *value = name ? end_field(name, '\t') : NULL;

		*at = value ? end_field(value, '\n') : NULL;
		if (!*at)
			return false;
		*line = (struct parameters_line){ 0, file, object, name, value };
		if (find_place(place, &line->place) && *file && *object && *name)
			return true;
	}
	return false;
}
