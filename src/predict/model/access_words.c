/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/access_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/unit.h"
#include "params/set.h"

static const char *plural_suffix(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void access_text(const struct access *access, char out[ACCESS_TEXT])
{
	char each[UNIT_TEXT], all[UNIT_TEXT], block[UNIT_TEXT], pieces[64] = "";

	if (access->pattern == ACCESS_STRIDED)
		snprintf(pieces, sizeof(pieces), ", in interleaved blocks of %s",
			 unit_bytes(block, (double)access->block_bytes));
	snprintf(out, ACCESS_TEXT,
		 "%" PRIu64 " rank%s on %" PRIu64 " node%s %s%s %s each%s (%s in total)",
		 access->ranks, plural_suffix(access->ranks), access->nodes,
		 plural_suffix(access->nodes), access->is_read ? "read" : "write",
		 access->ranks == 1 ? "s" : "", unit_bytes(each, (double)access->rank_bytes),
		 pieces, unit_bytes(all, (double)access->rank_bytes * (double)access->ranks));
}

char *settings_text(const struct settings *chosen, const struct machine *machine,
		    const struct access *access)
{
	struct param_set set = { 0 };
	struct buf line = { 0 };
	struct err err = { 0 };

	if (settings_to_params(chosen, machine, access, &set, &err) < 0)
		buf_puts(&line, err.text);
	else if (!set.count)
		buf_puts(&line, "the default");
	else
		param_set_line(&set, &line);
	param_set_release(&set);
	return buf_take(&line);
}

void access_json(struct json *json, const struct access *access)
{
	json_open(json, "access", '{');
	json_text(json, "direction", access->is_read ? "read" : "write");
	json_text(json, "pattern", access->pattern == ACCESS_STRIDED ? "strided" : "contiguous");
	json_count(json, "ranks", access->ranks);
	json_count(json, "nodes", access->nodes);
	json_count(json, "rank_bytes", access->rank_bytes);
	if (access->pattern == ACCESS_STRIDED) {
		json_count(json, "block_bytes", access->block_bytes);
		json_count(json, "stride_bytes", access->stride_bytes);
	}
	json_close(json);
}

void settings_json(struct json *json, const struct settings *chosen, const struct machine *machine,
		   const struct access *access)
{
	struct param_set set = { 0 };

	json_open(json, "settings", '{');
	if (settings_to_params(chosen, machine, access, &set, NULL) >= 0)
		for (size_t i = 0; i < set.count; i++)
			json_text(json, set.params[i].tunable->name, set.params[i].value);
	param_set_release(&set);
	json_close(json);
}
