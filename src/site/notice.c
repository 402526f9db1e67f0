/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/notice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "site/site_internal.h"

static const char *const channels[NOTICES] = { "sluice_anomaly", "sluice_knowledge" };

int notice_send(struct site_db *site, enum notice notice, int64_t id, struct err *err)
{
	AUTO_FREE char *text = xprintf("%lld", (long long)id);

	if (!site_is_postgres(site))
		return 0;
	return store_run(site->store, err, "SELECT pg_notify(?1, ?2)", "tt", channels[notice],
			 text);
}

static int check_server(const struct site_db *site, struct err *err)
{
	return site_is_postgres(site)
		       ? 0
		       : err_set(err, EOPNOTSUPP, "an SQLite file cannot notify other processes");
}

int notice_listen(struct site_db *site, enum notice notice, struct err *err)
{
	AUTO_FREE char *sql = xprintf("LISTEN %s", channels[notice]);
	int r = check_server(site, err);

	return r < 0 ? r : store_execute(site->store, sql, err);
}

int notice_wait(struct site_db *site, int timeout_ms, enum notice *notice, int64_t *id,
		struct err *err)
{
	AUTO_FREE char *channel = NULL, *text = NULL;
	int r = check_server(site, err);

	if (r >= 0)
		r = store_wait(site->store, timeout_ms, &channel, &text, err);
	if (r <= 0)
		return r;
	*notice = strcmp(channel, channels[NOTICE_KNOWLEDGE]) == 0 ? NOTICE_KNOWLEDGE
								   : NOTICE_ANOMALY;
	*id = strtoll(text, NULL, 10);
	return 1;
}
