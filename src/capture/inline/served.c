/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/served.h"

#include <errno.h>

#include "capture/inline/hint_text.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/site.h"
#include "contract/program.h"

/* Written by start() only, before any thread asks. */
static const struct knowledge *page;
static char program[PROGRAM_NAME_BYTES];

const struct knowledge *served_page(void)
{
	return page;
}

const char *served_program(void)
{
	return program;
}

static int served_start(const struct sluice_guest *guest, void **state)
{
	const struct spool_header *h = capture_membership.header;
	uint64_t bytes = sizeof(*page);
	const struct knowledge *mapped;

	(void)guest;
	*state = NULL;
	if (h)
		program_name(h->program, h->command, h->command_bytes, program);
	/* A forked child keeps the page of its parent. */
	if (page)
		return 0;
	mapped = site_map_file(KNOWLEDGE_NAME, &bytes, KNOWLEDGE_BYTES_MAX);
	if (!mapped)
		return -ENODATA;
	if (knowledge_is_valid(mapped, bytes)) {
		page = mapped;
		return 0;
	}
	kernel_call(SYS_munmap, mapped, bytes);
	return -EBADMSG;
}

static bool served_answer(void *state, const struct sluice_query *query,
			  struct sluice_answer *answer)
{
	const struct knowledge_hints *found = knowledge_suggest(
		page, program, query->path, capture_membership.header->directory, query->flags);

	(void)state;
	answer->trial = 0;
	hint_text_read(found ? found->hints : NULL, answer);
	return answer->count > 0;
}

static const struct sluice_inline served_ops = { .start = served_start, .suggest = served_answer };

const struct sluice_plugin inline_served = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_INLINE,
	.name = "served",
	.help = "open MPI files with the hints that the site has learned for the program",
	.in_line = &served_ops,
};
