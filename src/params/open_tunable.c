/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/open_tunable.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROWS_MAX 4096 /* a limit for files that are made to fill memory */
#define NAME_BYTES 128

static const struct kind {
	const char *prefix, *suffix;
	const char *variable; /* what the variable's name begins with; NULL: an argument */
	const char *help;
} kinds[] = {
	/* The first that fits: env:UCX_TLS is ucx:TLS. */
	{ "mca:", "", "OMPI_MCA_", "setting of Open MPI" },
	{ "ucx:", "", "UCX_", "setting of UCX" },
	{ "env:", "", "", "environment variable" },
	{ "{", "}", NULL, "argument of the command" },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Variables that lose data, or that Sluice sets itself. A name that ends in "*" is a beginning. */
static const struct {
	const char *variable, *reason;
} dangers[] = {
	{ "OMPI_MCA_io_ompio_num_aggregators",
	  "with several aggregators, OMPIO's data sieving overwrites data of other ranks" },
	{ "LD_PRELOAD", "Sluice sets it itself" },
	{ "LD_AUDIT", "it keeps Sluice from recording the program" },
	{ "SLUICE_*", "it changes how Sluice runs the program" },
};

/* All rows that were made. They are never freed or changed. */
struct row {
	struct tunable tunable;
	struct row *next;
};

static struct row *rows;
static size_t row_count;
static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_word(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return n && n < NAME_BYTES && !isdigit((unsigned char)name[0]);
}

/* Returns the word between prefix and suffix, which the caller frees; NULL: the name differs. */
static char *strip_name(const char *name, const char *prefix, const char *suffix)
{
	size_t p = strlen(prefix), s = strlen(suffix), n = strlen(name);

	if (n <= p + s || strncmp(name, prefix, p) != 0 || strcmp(name + n - s, suffix) != 0 ||
	    !is_word(name + p, n - p - s))
		return NULL;
	return xstrndup(name + p, n - p - s);
}

/* The name of the variable or of the argument, and its kind; NULL: this is not such a name. */
static char *parse_name(const char *name, const struct kind **kind)
{
	for (const struct kind *k = kinds; k < kinds + KINDS; k++) {
		AUTO_FREE char *word = strip_name(name, k->prefix, k->suffix);

		*kind = k;
		if (word)
			return xprintf("%s%s", k->variable ? k->variable : "", word);
	}
	return NULL;
}

/* OMPI_MCA_1 remains env:OMPI_MCA_1, because "mca:1" would not be a name. */
static const struct kind *kind_of_variable(const char *variable)
{
	const struct kind *k = kinds;

	for (;; k++) {
		size_t n = strlen(k->variable);

		if (strncmp(variable, k->variable, n) == 0 &&
		    is_word(variable + n, strlen(variable + n)))
			return k;
	}
}

static const char *find_danger(const char *variable)
{
	for (size_t i = 0; i < sizeof(dangers) / sizeof(dangers[0]); i++) {
		const char *name = dangers[i].variable;
		size_t n = strlen(name);
		bool is_beginning = name[n - 1] == '*';

		if (is_beginning ? strncmp(variable, name, n - 1) == 0
				 : strcmp(variable, name) == 0)
			return dangers[i].reason;
	}
	return NULL;
}

static struct row *make_row(const struct kind *kind, const char *key)
{
	size_t skipped = kind->variable ? strlen(kind->variable) : 0;
	const char *danger = kind->variable ? find_danger(key) : NULL;
	struct row *row = xcalloc(1, sizeof(*row));

	row->tunable = (struct tunable){
		.name = xprintf("%s%s%s", kind->prefix, key + skipped, kind->suffix),
		.layer = kind->variable ? TUNABLE_ENVIRONMENT : TUNABLE_COMMAND,
		.kind = TUNABLE_WORDS,
		.unit = "",
		.words = "text",
		.safety = danger ? TUNABLE_DANGEROUS : TUNABLE_LAYOUT,
		.consumers = TUNABLE_CONSUMER_PROGRAM,
		.place = TUNABLE_NO_PLACE,
		.key = xstrdup(key),
		.help = kind->help,
		.warning = danger ? danger : "Sluice does not know what it changes",
	};
	return row;
}

static const struct tunable *find_or_make(const struct kind *kind, const char *key)
{
	enum tunable_layer layer = kind->variable ? TUNABLE_ENVIRONMENT : TUNABLE_COMMAND;
	struct row *row = rows;

	while (row && (row->tunable.layer != layer || strcmp(row->tunable.key, key) != 0))
		row = row->next;
	if (!row && row_count < ROWS_MAX) {
		row = make_row(kind, key);
		row->next = rows;
		rows = row;
		row_count++;
	}
	return row ? &row->tunable : NULL;
}

const struct tunable *open_tunable(const char *name)
{
	const struct kind *kind;
	AUTO_FREE char *key = parse_name(name, &kind);
	const struct tunable *found;

	if (!key)
		return NULL;
	if (kind->variable)
		kind = kind_of_variable(key);
	pthread_mutex_lock(&rows_lock);
	found = find_or_make(kind, key);
	pthread_mutex_unlock(&rows_lock);
	return found;
}
