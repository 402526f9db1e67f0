/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libpq, the client library of PostgreSQL, loaded on first use. It is not linked, because it loads
 * a dozen further libraries (TLS, Kerberos, LDAP), and `sluice run` starts every program of a site.
 * Without the headers of libpq at build time, or without the library at run time, libpq_load()
 * fails and says what to install.
 * Papers: SIOX-29.
 */
#ifndef SLUICE_STORE_LIBPQ_H
#define SLUICE_STORE_LIBPQ_H

#ifdef SLUICE_LIBPQ
#include <libpq-fe.h>

/* Functions that are used: PQ without the prefix. */
#define LIBPQ_LIST(X)       \
	X(connectdb)        \
	X(finish)           \
	X(reset)            \
	X(status)           \
	X(errorMessage)     \
	X(serverVersion)    \
	X(db)               \
	X(host)             \
	X(exec)             \
	X(prepare)          \
	X(execPrepared)     \
	X(resultStatus)     \
	X(resultErrorField) \
	X(clear)            \
	X(ntuples)          \
	X(nfields)          \
	X(fname)            \
	X(getvalue)         \
	X(getisnull)        \
	X(putCopyData)      \
	X(putCopyEnd)       \
	X(getResult)        \
	X(socket)           \
	X(consumeInput)     \
	X(notifies)         \
	X(freemem)          \
	X(setNoticeProcessor)

struct libpq {
#define LIBPQ_MEMBER(name) __typeof__(PQ##name) *name;
	LIBPQ_LIST(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
};

struct err;

/* The functions, or NULL with a message. Thread-safe. */
const struct libpq *libpq_load(struct err *err);
#endif

#endif
