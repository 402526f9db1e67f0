/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who may set a parameter of a run, in the order in which they decide: of all sources that have a
 * value for a parameter and a file, the first one of this table decides, and the others are noted
 * as conflicts if their values differ (docs/reference/arbitration.md). Guest-safe.
 *
 * params.authority moves the program: "application" to the front, "parameters" behind the knowledge
 * base. params.forbid and params.allow exclude a value whatever its source is.
 */
#ifndef SLUICE_CONTRACT_SOURCES_H
#define SLUICE_CONTRACT_SOURCES_H

/* One row per source: enum name, word in notes and reports, what it is. */
#define SOURCE_LIST(X)                                                                           \
	X(USER, "user", "the parameter file that the user names (--params, params.file)")        \
	X(PLACEMENT, "placement", "the forecast (--place, place.rule)")                          \
	X(PROGRAM, "program", "the program itself, or the file of ROMIO_HINTS")                  \
	X(SITE, "site", "the parameter file of the site's settings (params.file)")               \
	X(KNOWLEDGE, "knowledge", "an entry of the knowledge base (tune.apply)")                 \
	X(PLUGIN, "plugin", "an in-line plug-in (plugins.act), such as the history of hints")    \
	X(READ_AHEAD, "read_ahead", "the in-line plug-in that advises the kernel to read ahead") \
	X(DEFAULT, "default", "the default of the library or the kernel")

#define SOURCE_ENUM(name, word, what) SOURCE_##name,
enum source { SOURCE_LIST(SOURCE_ENUM) SOURCE_COUNT };
#undef SOURCE_ENUM

/* The word of a source; "?" if there is none. */
static inline const char *source_word(unsigned source)
{
#define SOURCE_WORD(name, word, what) word,
	static const char *const words[] = { SOURCE_LIST(SOURCE_WORD) };
#undef SOURCE_WORD

	return source < SOURCE_COUNT ? words[source] : "?";
}

#endif
