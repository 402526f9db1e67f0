/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text from outside, such as names of files and hosts, commands and notes of plug-ins, made safe
 * for terminals, CSV and JSON. Such a text must neither control the terminal of its reader nor
 * look like several lines.
 */
#ifndef SLUICE_BASE_ESCAPE_H
#define SLUICE_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Decodes the UTF-8 character at `text`, which must not be its end. Returns the length in bytes; 0
 * if the bytes are invalid, an overlong form or a surrogate.
 */
size_t escape_decode(const char *text, uint32_t *code);

/*
 * True for characters that control a terminal or rearrange a line: C0, DEL and C1 controls, line
 * and paragraph separators, and marks that change the direction of text.
 */
bool escape_is_control(uint32_t code);

/* True if the text contains controls or invalid UTF-8. */
bool escape_is_needed(const char *text);

/*
 * Appends the text. Controls and bytes that are not UTF-8 become \t, \n or, byte by byte, \xHH;
 * every other character stays as it is. The characters in `also` (ASCII) get a backslash; if it
 * names the backslash, the result can be reverted.
 */
void escape_text(struct buf *out, const char *text, const char *also);

#endif
