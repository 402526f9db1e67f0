/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A directory that stands for / with recorded files of /proc and /sys for the providers to read.
 */
#ifndef SLUICE_TESTS_STATS_TREE_H
#define SLUICE_TESTS_STATS_TREE_H

#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/stats/statistics.h"

#define UNUSED __attribute__((unused))
#define POLL_NS INT64_C(100000000)

struct tree {
	char *root;
	struct statistics *statistics;
	int64_t now_ns;
};

static UNUSED struct tree tree_new(void)
{
	const char *directory = getenv("TMPDIR");
	struct tree tree = { .root = xprintf("%s/sluice-tree-XXXXXX",
					     directory ? directory : "/tmp"),
			     .now_ns = 77 };

	REQUIRE(mkdtemp(tree.root));
	return tree;
}

/*
 * Writes root/path in place, so that a process that has it open sees the change; creates the
 * directories.
 */
static UNUSED void tree_write(const struct tree *tree, const char *path, const char *text)
{
	AUTO_FREE char *whole = xprintf("%s/%s", tree->root, path);
	FILE *f;

	for (char *slash = whole + strlen(tree->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(whole, 0700);
		*slash = '/';
	}
	f = fopen(whole, "w");
	REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static UNUSED void tree_start(struct tree *tree, const char *names)
{
	struct err err = { 0 };

	if (statistics_new(&tree->statistics, names, tree->root, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(tree->statistics);
}

static UNUSED void tree_poll(struct tree *tree)
{
	tree->now_ns += POLL_NS;
	statistics_poll(tree->statistics, tree->now_ns);
}

static UNUSED double tree_last(const struct tree *tree, const char *name)
{
	const struct statistic *one = statistics_find(tree->statistics, name);

	if (!one)
		printf("there is no %s\n", name);
	REQUIRE(one);
	return one->last;
}

static int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st;
	(void)flag;
	(void)where;
	return remove(path);
}

static UNUSED void tree_free(struct tree *tree)
{
	statistics_free(tree->statistics);
	nftw(tree->root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(tree->root);
}

#endif
