/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/data_check.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "tune/content/digest.h"
#include "tune/trial/entries.h"
#include "tune/trial/reading.h"

/* Time limit for reading what one run wrote. */
#define READ_S 3600.0
#define CONTROLS_MAX 8

void data_check_release(struct data_check *check)
{
	data_comparison_release(&check->comparison);
	manifest_release(&check->manifest);
}

int data_check_read(struct data_check *check, struct reading *reading, const char *output,
		    const char *journal, const volatile sig_atomic_t *stop, struct err *err)
{
	struct output_sources *sources = &reading->outputs;
	struct digest_options options = { .limit_s = READ_S, .stop = stop };
	struct entries entries = { 0 };
	int r;

	/* Without its entries, past versions have no content. */
	if (journal)
		entries_read(&entries, journal, NULL);
	output_sources_add_past(sources, &entries);
	output_sources_add(sources, output, "standard output", MANIFEST_STDOUT);
	options.sources = sources->list;
	options.count = sources->count;
	manifest_release(&check->manifest);
	r = digest_files(&check->manifest, &options, err);
	if (r >= 0 && reading->gap)
		manifest_add_gap(&check->manifest, reading->gap);
	entries_release(&entries);
	return r;
}

bool data_check_add_baseline(struct data_check *check)
{
	return data_comparison_add_baseline(&check->comparison, &check->manifest);
}

struct manifest data_check_take(struct data_check *check)
{
	struct manifest manifest = check->manifest;

	check->manifest = (struct manifest){ 0 };
	return manifest;
}

bool data_check_compare(const struct data_check *check, const struct manifest *manifest, char **why)
{
	return !check->comparison.baselines ||
	       data_comparison_check(&check->comparison, manifest, why);
}

bool data_check_may_control(struct data_check *check)
{
	return check->controls++ < CONTROLS_MAX;
}

char *data_check_describe(const struct data_check *check, const struct manifest *manifest,
			  const char *verify)
{
	char *text = check->comparison.baselines
			     ? data_comparison_describe(&check->comparison, manifest)
			     : xstrdup("not compared: the runs of the baseline failed");
	char *longer;

	if (!verify)
		return text;
	longer = text_starts_with(text, "not compared") ? xprintf(DATA_VERIFIED "; %s", text)
							: xprintf("%s; verified by --verify", text);
	free(text);
	return longer;
}

void data_check_digest(const struct data_check *check, char text[MANIFEST_DIGEST])
{
	manifest_digest(&check->manifest, text);
}
