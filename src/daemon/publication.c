/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/publication.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "contract/policy.h"
#include "contract/spool.h"
#include "daemon/accounts.h"
#include "observe/collect/cpu_counter.h"
#include "policy/policy_page.h"
#include "policy/rules.h"

/*
 * Spools belong to the daemon's group, if that is private, so that the daemon can read those that
 * were not handed over. root can read all of them anyway.
 */
static uint32_t group_of_spools(void)
{
	gid_t group = accounts_private_group();

	return group == GROUP_NONE ? POLICY_NOBODY : group;
}

/* The processes of Sluice are not part of what users do: `sluice run` below a site that preloads
 * the library would be recorded together with its program. */
static void skip_own_programs(struct policy *page)
{
	static const char own[] = "sluice\nsluiced\nsluice-lab\n";
	size_t n = strnlen(page->skip, sizeof(page->skip));

	if (n + sizeof(own) <= sizeof(page->skip))
		memcpy(page->skip + n, own, sizeof(own));
}

int publication_prepare(const struct config *config, struct err *err)
{
	return policy_page_prepare(config_text(config, SETTING_SITE_SPOOLS), group_of_spools(),
				   err);
}

int publication_update(const struct config *config, struct err *err)
{
	const char *socket = config_text(config, SETTING_SITE_SOCKET);
	const char *rules = config_text(config, SETTING_SITE_POLICY);
	AUTO_FREE struct policy *page = xcalloc(1, sizeof(*page));
	AUTO_FREE char *copy = xstrdup(socket);
	struct cpu_counter counter;
	int r = policy_page_init(page, socket, config_text(config, SETTING_SITE_SPOOLS), err);

	if (r < 0)
		return r;
	cpu_counter_read(&counter);
	page->clock = cpu_counter_choose(&counter);
	page->group = group_of_spools();
	if (place_exists(rules)) {
		r = rules_load(page, rules, err);
		if (r < 0)
			return r;
	}
	skip_own_programs(page);
	r = policy_page_publish(dirname(copy), page, err);
	return r < 0 ? r : (int)page->rule_count;
}
