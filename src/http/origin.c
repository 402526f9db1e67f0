/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/origin.h"

#include <microhttpd.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

bool http_host_is_loopback(struct MHD_Connection *connection)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	const char *host = header(connection, MHD_HTTP_HEADER_HOST);

	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		/* The port is that of a tunnel, which the server does not know. */
		if (strncasecmp(host, names[i], n) == 0 && (!host[n] || host[n] == ':'))
			return true;
	}
	return false;
}

bool http_is_foreign(struct MHD_Connection *connection)
{
	const char *site = header(connection, "Sec-Fetch-Site");
	const char *mode = header(connection, "Sec-Fetch-Mode");

	if (!site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0)
		return false;
	return !mode || strcmp(mode, "navigate") != 0;
}

/* "http://localhost:8080" for the host "localhost:8080". */
static bool origin_is_host(const char *origin, const char *host)
{
	const char *rest = strstr(origin, "://");

	return rest && host && strcasecmp(rest + strlen("://"), host) == 0;
}

const char *http_find_forgery(struct MHD_Connection *connection)
{
	const char *mark = header(connection, "X-Sluice");
	const char *origin = header(connection, "Origin");
	const char *site = header(connection, "Sec-Fetch-Site");

	if (!mark || strcmp(mark, "1") != 0)
		return "a request that changes something needs the header \"X-Sluice: 1\"";
	if ((site && strcmp(site, "same-origin") != 0) ||
	    (origin && !origin_is_host(origin, header(connection, MHD_HTTP_HEADER_HOST))))
		return "the page of another site must not change anything";
	return NULL;
}
