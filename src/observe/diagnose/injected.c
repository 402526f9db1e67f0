/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/injected.h"

#include <string.h>

#include "base/mem.h"
#include "observe/diagnose/finding.h"
#include "observe/profile/profile.h"
#include "observe/tally/effect.h"

void injected_init(struct injected *injected, const struct profile *profile)
{
	injected->parameters = &profile->summary.parameters;
	injected->rows = parameters_rows(injected->parameters, &injected->count);
}

void injected_release(struct injected *injected)
{
	parameters_rows_release(injected->rows, injected->count);
	*injected = (struct injected){ 0 };
}

/* Was the parameter passed on, and not demonstrably without effect? */
static bool is_in_force(const struct injected *injected, const struct parameter *row)
{
	const struct evidence *evidence = parameters_evidence(injected->parameters, row->file);

	return row->requested && effect_judge(row, evidence).effect != EFFECT_IGNORED;
}

static bool concerns(const struct finding *finding, file_id file)
{
	size_t known = finding->file_count < FINDING_FILES ? finding->file_count : FINDING_FILES;

	for (size_t i = 0; i < known; i++) {
		if (finding->files[i] == file)
			return true;
	}
	return !known;
}

/* Does a fix that sets `part`, NAME or NAME=VALUE, change the parameter? */
static bool changes(const char *part, size_t n, const struct parameter *row)
{
	size_t name = strlen(row->name);

	if (n < name || strncmp(part, row->name, name) != 0)
		return false;
	if (n == name)
		return true;
	return part[name] == '=' && (strlen(row->requested) != n - name - 1 ||
				     strncmp(part + name + 1, row->requested, n - name - 1) != 0);
}

static bool changes_any(const char *sets, const struct parameter *row)
{
	for (size_t n; *sets; sets += n + (sets[n] == ' ')) {
		n = strcspn(sets, " ");
		if (changes(sets, n, row))
			return true;
	}
	return false;
}

static void add_once(struct buf *list, const struct parameter *row)
{
	AUTO_FREE char *item = xprintf("%s=%s", row->name, row->requested);
	size_t length = strlen(item);

	for (const char *at = buf_text(list); *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == length && !memcmp(at, item, n))
			return;
		at += n;
	}
	buf_printf(list, "%s%s", list->len ? " " : "", item);
}

bool injected_is_undone(const struct injected *injected, const struct finding *finding,
			const char *sets, struct buf *undone)
{
	bool found = false;

	for (size_t i = 0; i < injected->count; i++) {
		const struct parameter *row = &injected->rows[i];

		if (!concerns(finding, row->file) || !is_in_force(injected, row) ||
		    !changes_any(sets, row))
			continue;
		add_once(undone, row);
		found = true;
	}
	return found;
}
