/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as rows of benchmarks. They are rejected with an error message, or are the
 * same after they were written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "predict/model/costs/rows.h"
#include "store/elements.h"

static void write_and_read(const struct elements *rows)
{
	struct elements again = { 0 };
	AUTO_BUF struct buf first = { 0 }, second = { 0 };

	rows_write(rows, &first);
	if (rows_parse(&again, "again", buf_text(&first), first.len, NULL) < 0)
		abort();
	rows_write(&again, &second);
	if (again.count != rows->count || strcmp(buf_text(&first), buf_text(&second)) != 0)
		abort();
	elements_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct elements rows = { 0 }, means = { 0 };
	struct err err = { 0 };

	if (rows_parse(&rows, "fuzz", (const char *)data, n, &err) < 0) {
		if (rows.count || !*err.text)
			abort();
	} else {
		write_and_read(&rows);
		rows_means(&rows, &means);
		if (means.count > rows.count || !means.count != !rows.count)
			abort();
	}
	elements_release(&rows);
	elements_release(&means);
	return 0;
}
