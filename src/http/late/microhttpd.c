/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Takes the place of libmicrohttpd in `sluice`: loads it when a server is started. It brings a
 * dozen other libraries, among them those for TLS, that no other command needs; all commands would
 * take longer to start, and whatever these libraries do at the start and end of a process, each
 * would do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>

#define LIBRARY "libmicrohttpd.so.12"

/* name, type of the result, parameters, arguments */
#define LATE_LIST(X)                                                                             \
	X(MHD_lookup_connection_value, const char *,                                             \
	  (struct MHD_Connection * connection, enum MHD_ValueKind kind, const char *key),        \
	  (connection, kind, key))                                                               \
	X(MHD_get_connection_values, int,                                                        \
	  (struct MHD_Connection * connection, enum MHD_ValueKind kind,                          \
	   MHD_KeyValueIterator iterator, void *arg),                                            \
	  (connection, kind, iterator, arg))                                                     \
	X(MHD_get_connection_info, const union MHD_ConnectionInfo *,                             \
	  (struct MHD_Connection * connection, enum MHD_ConnectionInfoType type, ...),           \
	  (connection, type))                                                                    \
	X(MHD_create_response_from_buffer, struct MHD_Response *,                                \
	  (size_t bytes, void *buffer, enum MHD_ResponseMemoryMode mode), (bytes, buffer, mode)) \
	X(MHD_create_response_from_callback, struct MHD_Response *,                              \
	  (uint64_t bytes, size_t block, MHD_ContentReaderCallback reader, void *arg,            \
	   MHD_ContentReaderFreeCallback release),                                               \
	  (bytes, block, reader, arg, release))                                                  \
	X(MHD_add_response_header, enum MHD_Result,                                              \
	  (struct MHD_Response * response, const char *name, const char *value),                 \
	  (response, name, value))                                                               \
	X(MHD_queue_response, enum MHD_Result,                                                   \
	  (struct MHD_Connection * connection, unsigned int status,                              \
	   struct MHD_Response *response),                                                       \
	  (connection, status, response))

static struct {
#define MEMBER(name, type, parameters, arguments) type(*name) parameters;
	LATE_LIST(MEMBER)
#undef MEMBER
	struct MHD_Daemon *(*start)(unsigned int flags, uint16_t port, MHD_AcceptPolicyCallback apc,
				    void *apc_arg, MHD_AccessHandlerCallback handler, void *arg,
				    va_list options);
	void (*stop)(struct MHD_Daemon *daemon);
	void (*destroy)(struct MHD_Response *response);
	int is_complete;
} late;

static void load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return;
	late.is_complete = 1;
#define FIND(member, name)                                          \
	do {                                                        \
		*(void **)&late.member = dlsym(handle, name);       \
		late.is_complete = late.is_complete && late.member; \
	} while (0)
#define FIND_NAME(name, type, parameters, arguments) FIND(name, #name);
	LATE_LIST(FIND_NAME)
	FIND(start, "MHD_start_daemon_va");
	FIND(stop, "MHD_stop_daemon");
	FIND(destroy, "MHD_destroy_response");
#undef FIND_NAME
#undef FIND
}

/* The first function that a server calls; the others are called only if it has succeeded. */
struct MHD_Daemon *MHD_start_daemon(unsigned int flags, uint16_t port, MHD_AcceptPolicyCallback apc,
				    void *apc_arg, MHD_AccessHandlerCallback handler, void *arg,
				    ...)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct MHD_Daemon *daemon;
	va_list options;

	pthread_once(&once, load);
	if (!late.is_complete) {
		errno = ELIBACC;
		return NULL;
	}
	va_start(options, arg);
	daemon = late.start(flags, port, apc, apc_arg, handler, arg, options);
	va_end(options);
	return daemon;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
	late.stop(daemon);
}

void MHD_destroy_response(struct MHD_Response *response)
{
	late.destroy(response);
}

#define FORWARD(name, type, parameters, arguments) \
	type name parameters                       \
	{                                          \
		return late.name arguments;        \
	}
LATE_LIST(FORWARD)
