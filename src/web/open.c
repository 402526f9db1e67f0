/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/runs/runs.h"
#include "web/call.h"
#include "web/run_cache.h"

static bool is_id(const char *text)
{
	size_t n = strlen(text);

	return n >= RUNS_ID_SHOWN && n <= RUNS_ID_DIGITS && strspn(text, "0123456789abcdef") == n;
}

/* The path of the only run whose id starts like that; NULL: none or several. */
static char *find_path(const struct web_call *call, const char *id, struct err *err)
{
	struct runs runs;
	char *path = NULL;
	size_t found = 0;

	if (runs_read(&runs, call->directory, err) < 0)
		return NULL;
	for (size_t i = 0; i < runs.count; i++) {
		if (strncmp(runs.list[i].id, id, strlen(id)) != 0)
			continue;
		if (!found++)
			path = xstrdup(runs.list[i].path);
	}
	runs_release(&runs);
	if (found == 1)
		return path;
	free(path);
	err_set(err, ENOENT, "%s: %s", id,
		found ? "several runs have ids like that" : "no such run; 'sluice ls' lists them");
	return NULL;
}

struct open_run *open_named_run(struct web_call *call, const char *id)
{
	AUTO_FREE char *path = NULL;
	struct open_run *run;
	struct err err = { 0 };

	if (!is_id(id)) {
		call_fail(call, 400, "%s: not the id of a run", id);
		return NULL;
	}
	path = find_path(call, id, &err);
	run = path ? run_cache_get(call->cache, path, &err) : NULL;
	if (!run)
		call_fail(call, 404, "%s", err.text);
	return run;
}
