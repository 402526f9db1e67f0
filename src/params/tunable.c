/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/tunable.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/unit.h"
#include "params/open_tunable.h"
#include "params/spread.h"

#define SHAPE_RANK 32  /* H5S_MAX_RANK */
#define TEXT_BYTES 191 /* limit in contract/hints.h */
#define RATIO_DECIMALS 6
#define VALUE_BYTES 512 /* limit of a value before it is parsed */

static const char *const layer_names[TUNABLE_LAYERS] = { "hdf5",  "mpi",	 "storage",
							 "stdio", "environment", "command" };
static const char *const section_names[TUNABLE_LAYERS] = { "High_Level_IO_Library",
							   "Middleware_Layer",
							   "Parallel_File_System" };
static const char *const safety_names[] = { "safe", "layout", "semantics", "dangerous" };
static const char *const middleware_names[] = { "any", "mpich", "openmpi-romio", "ompio", NULL };
static const char *const filesystem_names[] = { "any",	"local", "nfs",	   "lustre",
						"gpfs", "ceph",	 "beegfs", NULL };

const char *tunable_layer_name(enum tunable_layer layer)
{
	return layer_names[layer];
}

const char *tunable_section(enum tunable_layer layer)
{
	return section_names[layer];
}

const char *tunable_safety_name(enum tunable_safety safety)
{
	return safety_names[safety];
}

const char *middleware_name(enum middleware middleware)
{
	return middleware_names[middleware];
}

const char *filesystem_name(enum filesystem filesystem)
{
	return filesystem_names[filesystem];
}

static int find_name(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (strcasecmp(names[i], name) == 0)
			return i;
	return -1;
}

int middleware_by_name(const char *name)
{
	return find_name(middleware_names, name);
}

int filesystem_by_name(const char *name)
{
	return find_name(filesystem_names, name);
}

const char *tunable_consumer_name(enum tunable_consumer bit)
{
	switch (bit) {
	case TUNABLE_CONSUMER_HDF5:
		return "HDF5";
	case TUNABLE_CONSUMER_ROMIO:
		return "ROMIO";
	case TUNABLE_CONSUMER_ROMIO_UFS:
		return "ROMIO (UFS)";
	case TUNABLE_CONSUMER_ROMIO_NFS:
		return "ROMIO (NFS)";
	case TUNABLE_CONSUMER_ROMIO_LUSTRE:
		return "ROMIO (Lustre)";
	case TUNABLE_CONSUMER_ROMIO_GPFS:
		return "ROMIO (GPFS)";
	case TUNABLE_CONSUMER_OMPIO:
		return "OMPIO";
	case TUNABLE_CONSUMER_LUSTRE:
		return "Lustre";
	case TUNABLE_CONSUMER_CEPH:
		return "CephFS";
	case TUNABLE_CONSUMER_SLUICE:
		return "any file system";
	case TUNABLE_CONSUMER_LIBC:
		return "C library";
	case TUNABLE_CONSUMER_PROGRAM:
		return "the program";
	case TUNABLE_CONSUMER_BEEGFS:
		return "BeeGFS";
	}
	return "?";
}

/* Like option_choice(), but ignores case. */
static int find_word(const char *words, const char *word)
{
	size_t n = strlen(word), length;

	for (int i = 0; n; i++) {
		length = strcspn(words, "|");
		if (length == n && strncasecmp(words, word, n) == 0)
			return i;
		if (!words[length])
			break;
		words += length + 1;
	}
	return -1;
}

const struct tunable *tunable_by_name(const char *name)
{
	for (const struct tunable *t = tunables; t->name; t++)
		if (strcasecmp(t->name, name) == 0)
			return t;
	for (const struct tunable *t = tunables; t->name; t++)
		if (t->aliases && find_word(t->aliases, name) >= 0)
			return t;
	return open_tunable(name);
}

/* Has the path, which is on a mount by FUSE, an attribute of directories or files of CephFS? */
static bool is_ceph_by_fuse(const char *path)
{
	char value[32];

	return getxattr(path, "ceph.dir.entries", value, sizeof(value)) > 0 ||
	       getxattr(path, "ceph.file.layout.stripe_unit", value, sizeof(value)) > 0;
}

static enum filesystem filesystem_of_magic(uint32_t magic, const char *path)
{
	switch (magic) {
	case 0x0BD00BD0:
		return FILESYSTEM_LUSTRE;
	case 0x47504653:
		return FILESYSTEM_GPFS;
	case 0x00C36400:
		return FILESYSTEM_CEPH;
	case 0x65735546:
		return is_ceph_by_fuse(path) ? FILESYSTEM_CEPH : FILESYSTEM_LOCAL;
	case 0x19830326:
		return FILESYSTEM_BEEGFS;
	case 0x6969:
		return FILESYSTEM_NFS;
	default:
		return FILESYSTEM_LOCAL;
	}
}

enum filesystem filesystem_of(const char *path)
{
	AUTO_FREE char *at = xstrdup(path);
	struct statfs fs;

	while (statfs(*at ? at : ".", &fs) != 0) {
		char *slash = strrchr(at, '/');

		if (!*at || strcmp(at, "/") == 0)
			return FILESYSTEM_ANY;
		if (slash == at)
			at[1] = 0;
		else if (slash)
			*slash = 0;
		else
			*at = 0;
	}
	return filesystem_of_magic((uint32_t)fs.f_type, *at ? at : ".");
}

static unsigned romio_drivers(enum filesystem filesystem)
{
	switch (filesystem) {
	case FILESYSTEM_NFS:
		return TUNABLE_CONSUMER_ROMIO_NFS;
	case FILESYSTEM_LUSTRE:
		return TUNABLE_CONSUMER_ROMIO_LUSTRE;
	case FILESYSTEM_GPFS:
		return TUNABLE_CONSUMER_ROMIO_GPFS;
	case FILESYSTEM_ANY:
		return TUNABLE_CONSUMER_ROMIO_UFS | TUNABLE_CONSUMER_ROMIO_NFS |
		       TUNABLE_CONSUMER_ROMIO_LUSTRE | TUNABLE_CONSUMER_ROMIO_GPFS;
	default:
		return TUNABLE_CONSUMER_ROMIO_UFS;
	}
}

unsigned tunable_consumers(const struct tunable *tunable, const struct tunable_context *context)
{
	unsigned present = TUNABLE_CONSUMER_HDF5 | TUNABLE_CONSUMER_SLUICE | TUNABLE_CONSUMER_LIBC |
			   TUNABLE_CONSUMER_PROGRAM;
	enum filesystem fs = context->filesystem;

	if (context->middleware != MIDDLEWARE_OMPIO)
		present |= TUNABLE_CONSUMER_ROMIO | romio_drivers(fs);
	if (context->middleware == MIDDLEWARE_OMPIO || context->middleware == MIDDLEWARE_ANY)
		present |= TUNABLE_CONSUMER_OMPIO;
	if (fs == FILESYSTEM_LUSTRE || fs == FILESYSTEM_ANY)
		present |= TUNABLE_CONSUMER_LUSTRE;
	if (fs == FILESYSTEM_CEPH || fs == FILESYSTEM_ANY)
		present |= TUNABLE_CONSUMER_CEPH;
	if (fs == FILESYSTEM_BEEGFS || fs == FILESYSTEM_ANY)
		present |= TUNABLE_CONSUMER_BEEGFS;
	return tunable->consumers & present;
}

static char *report_invalid(const struct tunable *t, const char *text, struct err *err,
			    const char *legal)
{
	char shown[80];
	size_t n = 0;

	for (; n < sizeof(shown) - 1 && text[n]; n++)
		shown[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
	shown[n] = 0;
	err_set(err, EINVAL, "%s: invalid value \"%s\"; expected %s", t->name, shown, legal);
	return NULL;
}

static char *report_range(const struct tunable *t, const char *text, struct err *err)
{
	AUTO_FREE char *legal = xprintf("a number from %" PRIu64 " to %" PRIu64, t->min, t->max);

	return report_invalid(t, text, err, legal);
}

/* "1.5M" is a valid size, "1.5" is not. */
static int read_number(const struct tunable *t, const char *text, uint64_t *number)
{
	if (t->kind == TUNABLE_COUNT || !text[strcspn(text, "KMGTPBkmgtpb")])
		return unit_parse_count(text, number);
	return unit_parse_bytes(text, number);
}

static char *parse_number(const struct tunable *t, const char *text, struct err *err)
{
	uint64_t number;
	int r = read_number(t, text, &number);

	if (r == -EINVAL)
		return report_invalid(t, text, err,
				      t->kind == TUNABLE_COUNT ? "a whole number"
							       : "a size such as 1048576 or 1M");
	if (r < 0 || number < t->min || number > t->max)
		return report_range(t, text, err);
	return xprintf("%" PRIu64, number);
}

/* "0.750" becomes "0.75", as the guest writes it. */
static char *parse_ratio(const struct tunable *t, const char *text, struct err *err)
{
	size_t whole = strspn(text, "0123456789"), decimals = 0;
	const char *point = text + whole;
	double ratio = strtod(text, NULL);
	char *value;

	if (*point == '.')
		decimals = strspn(++point, "0123456789");
	if (point[decimals] || !(whole + decimals) || decimals > RATIO_DECIMALS || ratio > 1)
		return report_invalid(t, text, err,
				      "a number from 0 to 1 with up to 6 decimals, such as 0.75");
	value = xprintf("%.*f", RATIO_DECIMALS, ratio);
	for (size_t n = strlen(value); value[n - 1] == '0' || value[n - 1] == '.'; n--) {
		bool is_point = value[n - 1] == '.';

		value[n - 1] = 0;
		if (is_point)
			break;
	}
	return value;
}

/* Splits a list such as "(a, b x c)" into its items, in place. Returns their number; -1: too many.
 */
static int split_items(char *text, const char *separators, char **items, int max)
{
	int count = 0;

	for (char *at = text; *at; at++)
		if (*at == '(' || *at == ')' || *at == '[' || *at == ']')
			*at = ' ';
	for (char *save, *item = strtok_r(text, separators, &save); item;
	     item = strtok_r(NULL, separators, &save)) {
		if (count == max)
			return -1;
		items[count++] = item;
	}
	return count;
}

static void trim(char *item)
{
	size_t n = strlen(item), lead = strspn(item, " \t\r\n\f\v");

	while (n > lead && isspace((unsigned char)item[n - 1]))
		n--;
	memmove(item, item + lead, n - lead);
	item[n - lead] = 0;
}

/* Blanks separate the numbers ("0 64K") unless there is a comma: "64 K" is one number then. */
static char *parse_pair(const struct tunable *t, const char *text, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text);
	const char *separators = strchr(text, ',') ? "," : " \t\r\n";
	uint64_t numbers[2];
	char *items[2];
	int count = split_items(copy, separators, items, 2);

	if (count != 2)
		return report_invalid(t, text, err, "two numbers separated by a comma");
	for (int i = 0; i < 2; i++) {
		trim(items[i]);
		if (read_number(t, items[i], &numbers[i]) < 0)
			return report_invalid(t, text, err, "two sizes such as 0, 65536");
		if (numbers[i] > t->max)
			return report_range(t, items[i], err);
	}
	if (!numbers[1])
		return report_invalid(t, text, err, "two sizes, the second at least 1");
	return xprintf("%" PRIu64 ",%" PRIu64, numbers[0], numbers[1]);
}

static char *parse_extents(const struct tunable *t, const char *text, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *items[SHAPE_RANK];
	int count = split_items(copy, ", \t\r\nxX", items, SHAPE_RANK);
	AUTO_BUF struct buf out = { 0 };
	uint64_t extent;

	if (count < 1)
		return report_invalid(t, text, err, "a shape of 1 to 32 extents");
	for (int i = 0; i < count; i++) {
		if (unit_parse_count(items[i], &extent) < 0 || !extent || extent > t->max)
			return report_invalid(t, text, err,
					      "extents such as 1,26,327680, or a size");
		buf_printf(&out, i ? ",%" PRIu64 : "%" PRIu64, extent);
	}
	if (count == 1)
		buf_putc(&out, ',');
	return buf_take(&out);
}

static char *parse_shape(const struct tunable *t, const char *text, struct err *err)
{
	uint64_t bytes;

	if (read_number(t, text, &bytes) < 0)
		return parse_extents(t, text, err);
	if (!bytes || bytes > t->max)
		return report_invalid(t, text, err, "a size from 1 to 4294967295 bytes");
	return xprintf("%" PRIu64, bytes);
}

/* Finds the first word with the same meaning as the text: people write 1, yes or TRUE. -1: none. */
static int find_synonym(const char *words, const char *text)
{
	static const char *const senses[] = { "true|on|yes|1|enable|enabled",
					      "false|off|no|0|disable|disabled" };
	char word[32];

	for (int i = 0; i < 2; i++) {
		if (find_word(senses[i], text) < 0)
			continue;
		for (int k = 0; option_choice_name(words, k, word, sizeof(word)), *word; k++)
			if (find_word(senses[i], word) >= 0)
				return k;
	}
	return -1;
}

static char *parse_choice(const struct tunable *t, const char *text, struct err *err)
{
	int index = find_word(t->words, text);
	AUTO_FREE char *legal = NULL;
	char word[32];

	if (index < 0)
		index = find_synonym(t->words, text);
	if (index >= 0) {
		option_choice_name(t->words, index, word, sizeof(word));
		return xstrdup(word);
	}
	legal = xprintf("one of %s", t->words);
	return report_invalid(t, text, err, legal);
}

static char *parse_text(const struct tunable *t, const char *text, struct err *err)
{
	AUTO_FREE char *value = xstrdup(text);
	size_t n = 0;

	for (const char *p = text; *p; p++)
		if (!isspace((unsigned char)*p))
			value[n++] = *p;
	value[n] = 0;
	for (const char *p = value; *p; p++)
		if (*p < ' ' || *p > '~' || *p == ';' || *p == '|')
			return report_invalid(t, text, err, "plain text without ; and |");
	if (!n || n > TEXT_BYTES)
		return report_invalid(t, text, err, "a text of 1 to 191 bytes");
	if (t->fits && !t->fits(value))
		return report_invalid(t, text, err, t->words);
	return xstrdup(value);
}

/* Values of variables and arguments. Those that cannot be shown in one line are refused. */
static char *parse_words(const struct tunable *t, const char *text, struct err *err)
{
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			return report_invalid(t, text, err, "printable ASCII characters");
	return xstrdup(text);
}

char *tunable_parse(const struct tunable *tunable, const char *text, struct err *err)
{
	size_t most = tunable->kind == TUNABLE_SPREAD ? SPREAD_BYTES : VALUE_BYTES;
	AUTO_FREE char *copy = xstrndup(text, most + 1);

	if (strlen(copy) > most)
		return report_invalid(tunable, text, err, "a shorter value");
	trim(copy);
	if (!*copy) {
		err_set(err, EINVAL, "%s: missing value", tunable->name);
		return NULL;
	}
	switch (tunable->kind) {
	case TUNABLE_COUNT:
	case TUNABLE_BYTES:
		return parse_number(tunable, copy, err);
	case TUNABLE_RATIO:
		return parse_ratio(tunable, copy, err);
	case TUNABLE_PAIR:
		return parse_pair(tunable, copy, err);
	case TUNABLE_SHAPE:
		return parse_shape(tunable, copy, err);
	case TUNABLE_CHOICE:
		return parse_choice(tunable, copy, err);
	case TUNABLE_SPREAD:
		return spread_parse(tunable, copy, err);
	case TUNABLE_WORDS:
		return parse_words(tunable, copy, err);
	default:
		return parse_text(tunable, copy, err);
	}
}
