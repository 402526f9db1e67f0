/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as an annotated header. The result is rows that every template can print,
 * or an error that names a line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "capture/wrapgen/interface.h"
#include "capture/wrapgen/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct interface rows = { 0 };
	struct err err = { 0 };
	int error = interface_read(&rows, "fuzz.h", (const char *)data, n, &err);

	if (!error)
		error = interface_complete(&rows, &err);
	if (error && strncmp(err.text, "fuzz.h:", 7) != 0)
		abort();
	for (size_t i = 0; !error && template_list[i]; i++) {
		struct buf out = { 0 };

		template_list[i]->print(&out, &rows);
		buf_release(&out);
	}
	interface_release(&rows);
	return 0;
}
