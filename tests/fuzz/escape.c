/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Escapes arbitrary bytes: the result contains no controls, and unescaping gives the bytes again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "trace/text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	AUTO_BUF struct buf escaped = { 0 }, cell = { 0 }, xml = { 0 };

	buf_put_csv_cell(&cell, text);
	buf_put_xml(&xml, text);
	escape_text(&escaped, text, "\\\"");
	if (escape_is_needed(buf_text(&escaped)) || escape_is_needed(buf_text(&cell)))
		abort();
	buf_clear(&escaped);
	escape_text(&escaped, text, "\\");
	if (escaped.len && (!text_unescape(escaped.data) || strcmp(escaped.data, text) != 0))
		abort();
	return 0;
}
