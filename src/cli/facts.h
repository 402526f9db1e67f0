/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of this build, for bug reports and for packages. The facts do not depend on where
 * and when it was built: two builds of the same sources with the same tools have the same facts.
 * CMake writes them (src/cli/facts.c.in), for each of the programs.
 */
#ifndef SLUICE_CLI_FACTS_H
#define SLUICE_CLI_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct fact {
	const char *name, *value;
};

struct build_facts {
	const char *commit; /* NULL: built neither from a repository nor from a release */
	bool is_modified;   /* sources differ from the commit */
	const char *compiler, *type, *flags, *architecture;
	uint32_t plugin_abi, instrument_abi;
	bool has_web, has_postgresql;
	const struct fact
		*interfaces; /* newest version whose functions are recorded; NULL ends it */
	const struct fact *libraries; /* versions that Sluice was compiled with; NULL ends it */
};

extern const struct build_facts build_facts;

#endif
