/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries of users: with the rights of the user's role, in a transaction that cannot change
 * anything. Rows arrive in portions, so that memory does not grow with the result.
 */
#ifndef SLUICE_SITE_QUERY_H
#define SLUICE_SITE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct site_db;

/* One row; a NULL pointer is NULL. names are those of the columns. Not 0 stops the query. */
typedef int query_row(void *arg, const char *const *names, const char *const *values, size_t count);

/* Runs one SELECT, WITH or VALUES statement. Returns 0, also if row() has stopped it. */
int site_query(struct site_db *site, const char *sql, query_row *row, void *arg, struct err *err);

#define QUERY_COLUMNS_MAX 1000

#endif
