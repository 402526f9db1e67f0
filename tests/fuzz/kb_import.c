/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as entries of `sluice kb import`. They are rejected with an error message,
 * or every text can be printed and every figure is plausible.
 */
#include <stdint.h>
#include <stdlib.h>

#include "cmd/kb/import.c" /* the functions that check entries are static */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const struct entry *entry)
{
	const struct knowledge *k = &entry->knowledge;

	if (escape_is_needed(k->key.program) || escape_is_needed(k->key.arguments) ||
	    escape_is_needed(k->key.platform) || !(k->gain > 0) || !(k->gain_low <= k->gain_high))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct entries entries = { 0 };
	struct err err = { 0 };
	json_error_t wrong;
	json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &wrong);

	if (!root)
		return 0;
	if (read_entries(root, &entries, &err) < 0) {
		if (!*err.text)
			abort();
	} else {
		for (size_t i = 0; i < entries.count; i++)
			check_entry(&entries.items[i]);
	}
	release_entries(&entries);
	json_decref(root);
	return 0;
}
