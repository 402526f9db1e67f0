/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/entry_runs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/store_internal.h"

static int add_locked(struct store *store, int64_t entry, const struct entry_run *run,
		      struct err *err)
{
	int r = store_run(store, err,
			  "INSERT INTO entry_run (entry, applied, cost, bytes, time) "
			  "VALUES (?1, ?2, ?3, ?4, ?5)",
			  "iiddi", entry, (int64_t)run->is_applied, run->cost, run->bytes,
			  run->time_ns);

	if (r < 0)
		return r;
	return store_run(store, err,
			 "DELETE FROM entry_run WHERE entry = ?1 AND applied = ?2 AND id <= "
			 "(SELECT id FROM entry_run WHERE entry = ?1 AND applied = ?2 "
			 "ORDER BY id DESC LIMIT 1 OFFSET ?3)",
			 "iii", entry, (int64_t)run->is_applied, (int64_t)ENTRY_RUNS_KEPT);
}

int entry_runs_add(struct store *store, int64_t entry, const struct entry_run *run, struct err *err)
{
	int r = store_begin(store, err);

	return r < 0 ? r : store_end_with(store, add_locked(store, entry, run, err), err);
}

int entry_runs_read(struct store *store, int64_t entry, struct entry_run **runs, size_t *count,
		    struct err *err)
{
	struct statement *s = store_query(store, err,
					  "SELECT applied, cost, bytes, time FROM entry_run "
					  "WHERE entry = ?1 ORDER BY id",
					  "i", entry);
	struct entry_run *list = NULL;
	size_t n = 0, cap = 0;
	int r;

	if (!s)
		return -EIO;
	while ((r = store_step(store, s, err)) > 0) {
		struct entry_run run = { (int)store_number(s, 0) != 0, store_real(s, 1),
					 store_real(s, 2), store_number(s, 3) };

		/* Other programs can change the file. */
		if (!(run.cost > 0) || !(run.bytes >= 0))
			continue;
		list = xgrow(list, &cap, n + 1, sizeof(*list));
		list[n++] = run;
	}
	if (r < 0) {
		free(list);
		return r;
	}
	*runs = list;
	*count = n;
	return 0;
}

int entry_runs_reset(struct store *store, int64_t entry, struct err *err)
{
	int r = store_run(store, err, "DELETE FROM entry_run WHERE entry = ?1", "i", entry);

	if (r < 0)
		return r;
	return store_run(
		store, err,
		"INSERT INTO entry_run (entry, applied, cost, bytes, time) " ENTRY_RUNS_OF_STUDIES
		" AND k.id = ?1 ORDER BY r.number",
		"i", entry);
}
