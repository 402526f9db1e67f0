/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the policy of a site. They are rejected with an error message, or the
 * page is valid and decides about any process. Bytes that are taken for a page are checked before
 * they are used.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
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
	policy_find_known(page, "app", "/data/file");
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
