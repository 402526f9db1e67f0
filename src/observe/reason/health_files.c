/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A health file consists of lines KEY=VALUE after a first line that names the version:
 *
 *   sluice-health 1
 *   id=node17
 *   role=node
 *   state=bad
 *   rule=slow
 *   time_ns=1763200000000000000
 *   counts=12 3 80 0 0
 *   excess_ns=61000000
 *   utilization=12.5 nan 99 40
 *   end=
 *
 * Unknown keys are ignored. The file is named after the id, with special characters written as %XX,
 * and ends in ".health".
 */
#include "observe/reason/health_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/trusted.h"

#define HEAD "sluice-health 1\n"
#define SUFFIX ".health"
/* Far more than a report needs. */
#define FILE_BYTES_MAX 4096

static char *file_name(const char *id)
{
	struct buf name = { 0 };

	for (const unsigned char *c = (const unsigned char *)id; *c; c++) {
		if (isalnum(*c) || *c == '-' || *c == '_' || (*c == '.' && c != (const void *)id))
			buf_putc(&name, (char)*c);
		else
			buf_printf(&name, "%%%02X", *c);
	}
	buf_puts(&name, SUFFIX);
	return buf_take(&name);
}

static void format_report(struct buf *out, const struct health_report *report)
{
	buf_printf(out, HEAD "id=%s\nrole=%s\nstate=%s\nrule=%s\ntime_ns=%" PRId64 "\ncounts=",
		   report->id, role_names[report->role], health_names[report->state],
		   rule_names[report->rule], report->time_ns);
	for (size_t i = 0; i < SLUICE_SPEEDS; i++)
		buf_printf(out, "%s%" PRIu64, i ? " " : "", report->health.counts[i]);
	buf_printf(out, "\nexcess_ns=%" PRId64 "\nutilization=", report->health.excess_ns);
	for (size_t i = 0; i < 4; i++)
		buf_printf(out, "%s%g", i ? " " : "", report->utilization[i]);
	buf_puts(out, "\nend=\n");
}

static int write_file(int directory, const char *name, const struct buf *text)
{
	AUTO_CLOSE int fd = trusted_create_file(directory, name, NULL);
	ssize_t n = fd < 0 ? -1 : write(fd, text->data, text->len);

	if (fd < 0)
		return fd;
	if (n < 0)
		return -errno;
	return (size_t)n == text->len ? 0 : -ENOSPC;
}

/* Writes the text to a new file and renames it, so that readers see all of it or nothing. */
static int replace_file(int directory, const char *name, const struct buf *text)
{
	/* The suffix hides the file from readers, and the pid makes its name unique. */
	AUTO_FREE char *fresh = xprintf("%s.%ld.new", name, (long)getpid());
	int r;

	unlinkat(directory, fresh, 0); /* of a killed process with the same pid */
	r = write_file(directory, fresh, text);
	if (r >= 0 && renameat(directory, fresh, directory, name) != 0)
		r = -errno;
	if (r < 0)
		unlinkat(directory, fresh, 0);
	return r;
}

/* A node that leaves removes the directory if no other node has written its file yet. */
static int open_or_make(const char *directory, struct err *err)
{
	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return -errno;
	return trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, err);
}

int health_files_write(const char *directory, const struct health_report *report, struct err *err)
{
	AUTO_CLOSE int dir = open_or_make(directory, err);
	AUTO_FREE char *name = file_name(report->id);
	AUTO_BUF struct buf text = { 0 };
	int r = dir;

	format_report(&text, report);
	if (dir >= 0)
		r = replace_file(dir, name, &text);
	if (r >= 0)
		return 0;
	return err_set(err, -r, "%s/%s: cannot write the health file for the other nodes: %s",
		       directory, name, strerror(-r));
}

void health_files_leave(const char *directory, const char *id)
{
	AUTO_FREE char *name = file_name(id);
	AUTO_FREE char *path = place_join(directory, name);

	unlink(path);
	rmdir(directory);
}

static int find_word(const char *const *words, int count, const char *text)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
	}
	return -1;
}

static bool parse_word(uint8_t *out, const char *const *words, int count, const char *text)
{
	int word = find_word(words, count, text);

	*out = (uint8_t)word;
	return word >= 0;
}

static bool parse_number(int64_t *out, const char *text)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

static bool parse_counts(uint64_t counts[SLUICE_SPEEDS], const char *text)
{
	for (size_t i = 0; i < SLUICE_SPEEDS; i++) {
		char *end;

		errno = 0;
		counts[i] = strtoull(text, &end, 10);
		/* The sum of such counts must not overflow. */
		if (end == text || errno || counts[i] > UINT64_MAX >> 16)
			return false;
		text = end;
	}
	return !*text;
}

static bool parse_percentages(double utilization[4], const char *text)
{
	for (size_t i = 0; i < 4; i++) {
		char *end;

		utilization[i] = strtod(text, &end);
		if (end == text)
			return false;
		text = end;
	}
	return !*text;
}

enum line {
	LINE_ID,
	LINE_ROLE,
	LINE_STATE,
	LINE_RULE,
	LINE_TIME,
	LINE_COUNTS,
	LINE_EXCESS,
	LINE_UTILIZATION,
	LINE_END,
	LINES
};
static const char *const line_keys[LINES] = {
	"id", "role", "state", "rule", "time_ns", "counts", "excess_ns", "utilization", "end",
};

static bool parse_line(struct health_report *report, enum line line, const char *value)
{
	switch (line) {
	case LINE_ID:
		snprintf(report->id, sizeof(report->id), "%s", value);
		return *value && strlen(value) < sizeof(report->id);
	case LINE_ROLE:
		return parse_word(&report->role, role_names, ROLES, value);
	case LINE_STATE:
		return parse_word(&report->state, health_names, HEALTH_STATES, value);
	case LINE_RULE:
		return parse_word(&report->rule, rule_names, HEALTH_RULES, value);
	case LINE_TIME:
		return parse_number(&report->time_ns, value);
	case LINE_COUNTS:
		return parse_counts(report->health.counts, value);
	case LINE_EXCESS:
		return parse_number(&report->health.excess_ns, value) &&
		       llabs(report->health.excess_ns) < INT64_MAX >> 16;
	case LINE_UTILIZATION:
		return parse_percentages(report->utilization, value);
	default:
		return true;
	}
}

/* Succeeds only if every line is present and valid. */
bool health_files_parse(struct health_report *report, char *text)
{
	unsigned seen = 0;
	char *rest, *at;

	*report = (struct health_report){ 0 };
	if (strncmp(text, HEAD, strlen(HEAD)) != 0)
		return false;
	rest = text + strlen(HEAD);
	while ((at = strsep(&rest, "\n"))) {
		char *value = strchr(at, '=');
		int line;

		if (!value)
			continue;
		*value++ = 0;
		line = find_word(line_keys, LINES, at);
		if (line < 0)
			continue;
		if (!parse_line(report, (enum line)line, value))
			return false;
		seen |= 1u << line;
	}
	return seen == (1u << LINES) - 1;
}

static bool read_report(int directory, const char *name, struct health_report *report)
{
	AUTO_CLOSE int fd = trusted_open_file(directory, name, O_RDONLY, TRUSTED_PRIVATE, NULL);
	char text[FILE_BYTES_MAX + 1];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size > FILE_BYTES_MAX)
		return false;
	n = read(fd, text, FILE_BYTES_MAX);
	if (n <= 0)
		return false;
	text[n] = 0;
	return health_files_parse(report, text);
}

static int report_compare(const void *a, const void *b)
{
	const struct health_report *x = a, *y = b;

	return strcmp(x->id, y->id);
}

size_t health_files_read(const char *directory, struct health_report **out)
{
	struct health_report *reports = NULL, report;
	size_t count = 0, cap = 0;
	int fd = trusted_open_directory(AT_FDCWD, directory, TRUSTED_PRIVATE, NULL);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (n <= strlen(SUFFIX) ||
		    strcmp(entry->d_name + n - strlen(SUFFIX), SUFFIX) != 0 ||
		    !read_report(dirfd(dir), entry->d_name, &report))
			continue;
		reports = xgrow(reports, &cap, count + 1, sizeof(*reports));
		reports[count++] = report;
	}
	if (dir)
		closedir(dir);
	if (count)
		qsort(reports, count, sizeof(*reports), report_compare);
	*out = reports;
	return count;
}
