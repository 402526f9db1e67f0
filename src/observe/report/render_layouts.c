/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders the stripes of files.
 */
#include <inttypes.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/unit.h"
#include "observe/report/render.h"
#include "observe/tally/layouts.h"
#include "observe/tally/summary.h"

size_t render_layout_table(struct table *table, const struct report *report)
{
	static const char *const titles[] = { ">stripes", ">unit", "on", "file", NULL };
	size_t count;
	AUTO_FREE struct layout_row *rows = layout_rows(report->summary->head, &count);
	char text[UNIT_TEXT];

	table_init(table, titles);
	for (size_t i = 0; i < count && i < report->top; i++) {
		const struct layout *layout = &rows[i].layout;

		table_add_number(table, (double)layout->stripes, "%" PRIu64, layout->stripes);
		table_add_number(table, (double)layout->unit, "%s",
				 unit_bytes(text, (double)layout->unit));
		table_add(table, "%s", rows[i].filesystem);
		table_add(table, "%s", rows[i].file);
	}
	return count;
}

void render_layouts_json(struct json *json, const struct report *report)
{
	size_t count;
	AUTO_FREE struct layout_row *rows = layout_rows(report->summary->head, &count);

	if (!count)
		return;
	json_open(json, "layouts", '[');
	for (size_t i = 0; i < count && i < report->top; i++) {
		json_open(json, NULL, '{');
		json_text(json, "file", rows[i].file);
		json_text(json, "filesystem", rows[i].filesystem);
		json_count(json, "stripes", rows[i].layout.stripes);
		json_count(json, "unit", rows[i].layout.unit);
		json_close(json);
	}
	json_close(json);
}
