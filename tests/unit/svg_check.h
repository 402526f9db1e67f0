/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of SVG text for unit tests.
 */
#ifndef SLUICE_TESTS_UNIT_SVG_CHECK_H
#define SLUICE_TESTS_UNIT_SVG_CHECK_H

#include <mxml.h>

#include "check.h"

static inline size_t count_parts(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* Checks with an XML parser that the SVG is well-formed, and that all numbers are finite. */
static inline void check_well_formed(const char *text)
{
	mxml_node_t *tree = mxmlLoadString(NULL, text, MXML_OPAQUE_CALLBACK);

	REQUIRE(tree);
	CHECK_TEXT(mxmlGetElement(tree), "svg");
	CHECK(!strstr(text, "nan") && !strstr(text, "inf"));
	CHECK_INT(count_parts(text, "</svg>"), count_parts(text, "<svg"));
	mxmlDelete(tree);
}

#endif
