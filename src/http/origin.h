/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which web page a request comes from: the pages of other sites run in the same browser, which
 * sends them the cookies of this server and reaches it under the name localhost.
 */
#ifndef SLUICE_HTTP_ORIGIN_H
#define SLUICE_HTTP_ORIGIN_H

#include <stdbool.h>

struct MHD_Connection;

/* Does the request name a host of the loopback interface: "localhost", "127.0.0.1", "[::1]"? */
bool http_host_is_loopback(struct MHD_Connection *connection);

/* Is it a part of another site's page, by what the browser says? Links to a page are not. */
bool http_is_foreign(struct MHD_Connection *connection);

/* Why the request must not change anything; NULL: it may. */
const char *http_find_forgery(struct MHD_Connection *connection);

#endif
