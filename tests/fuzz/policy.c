/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the policy of a site. They are rejected with an error message, or the
 * page is valid and decides about any process. Bytes that are taken for a page of the policy or of
 * knowledge are checked before they are used.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "contract/knowledge.h"
#include "contract/policy.h"
#include "policy/policy_page.h"
#include "policy/rules.h"

static void use_page(const struct policy *page)
{
	static const uint32_t groups[] = { 1, 2, 3 };
	struct policy_subject who = { .user = 1000,
				      .group = 1,
				      .groups = groups,
				      .group_count = 3,
				      .program = "/bin/app",
				      .partition = "batch" };

	for (who.key = 0; who.key < 4; who.key++)
		if (policy_decide(page, &who) >= POLICY_MODE_COUNT)
			abort();
}

/* The sums are right, so that the checks behind them are reached. */
static void use_knowledge(const uint8_t *data, size_t n)
{
	static struct {
		struct knowledge head;
		struct knowledge_hints hints[2];
		struct knowledge_duration durations[2];
	} page;
	const struct knowledge_hints *found;

	memset(&page, 0, sizeof(page));
	memcpy(&page, data, n < sizeof(page) ? n : sizeof(page));
	page.head.magic = KNOWLEDGE_MAGIC;
	page.head.version = KNOWLEDGE_VERSION;
	page.head.hint_slots = page.head.duration_slots = 2;
	page.head.check = knowledge_hash(0, &page.head, offsetof(struct knowledge, check));
	for (size_t i = 0; i < 2; i++)
		page.hints[i].check =
			knowledge_hash(0, &page.hints[i], offsetof(struct knowledge_hints, check));
	if (!knowledge_is_valid(&page.head, sizeof(page)))
		return;
	found = knowledge_suggest(&page.head, "app", "/data/file.nc", "/", 2);
	if (found && !memchr(found->hints, 0, sizeof(found->hints)))
		abort();
	knowledge_find_duration(&page.head, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct policy page;
	struct err err = { 0 };

	memset(&page, 0, sizeof(page));
	memcpy(&page, data, n < sizeof(page) ? n : sizeof(page));
	page.magic = POLICY_MAGIC;
	page.version = POLICY_VERSION;
	page.bytes = sizeof(page);
	page.socket[0] = page.spools[0] = '/';
	if (policy_is_valid(&page, sizeof(page)))
		use_page(&page);
	use_knowledge(data, n);
	if (policy_page_init(&page, "/socket", "/spools", &err) < 0)
		abort();
	if (rules_parse(&page, "test", (const char *)data, n, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	if (!policy_is_valid(&page, sizeof(page)))
		abort();
	use_page(&page);
	return 0;
}
