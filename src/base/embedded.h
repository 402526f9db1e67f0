/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A text file of the sources that is part of the program, such as a style sheet. embed_text() in
 * CMakeLists.txt compiles src/FOLDER/NAME.EXTENSION into the constant embedded_NAME_EXTENSION:
 *
 *	extern const struct embedded embedded_page_css;
 */
#ifndef SLUICE_BASE_EMBEDDED_H
#define SLUICE_BASE_EMBEDDED_H

#include <stddef.h>

struct embedded {
	const char *text; /* ends with a zero byte */
	size_t length;
};

#endif
