/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/access.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define TOKEN_BYTES 64	/* of a new token, in hexadecimal digits */
#define TOKEN_MAX 512	/* of a token that a person has written */
#define GROUPS_MAX 1024 /* of a client; further ones are not seen */
#define BEARER "Bearer "

int http_connection_fd(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static bool find_peer(struct MHD_Connection *connection, struct ucred *peer)
{
	struct sockaddr any = { 0 };
	socklen_t any_bytes = sizeof(any), bytes = sizeof(*peer);
	int fd = http_connection_fd(connection);

	/* Over TCP the kernel answers, but not with the sender. */
	return getsockname(fd, &any, &any_bytes) == 0 && any.sa_family == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &bytes) == 0;
}

bool http_peer(struct MHD_Connection *connection, uid_t *user)
{
	struct ucred peer;

	if (!find_peer(connection, &peer))
		return false;
	*user = peer.uid;
	return true;
}

bool http_peer_is_in(struct MHD_Connection *connection, gid_t group)
{
	AUTO_FREE gid_t *groups = xcalloc(GROUPS_MAX, sizeof(*groups));
	socklen_t bytes = GROUPS_MAX * sizeof(*groups);
	struct ucred peer;

	if (group == (gid_t)-1 || !find_peer(connection, &peer))
		return false;
	if (peer.gid == group)
		return true;
	if (getsockopt(http_connection_fd(connection), SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) <
	    0)
		return false;
	for (size_t i = 0; i < bytes / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}

char *http_token_new(struct err *err)
{
	unsigned char bytes[TOKEN_BYTES / 2];
	AUTO_BUF struct buf text = { 0 };

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
		err_set(err, EIO, "no random numbers for a token");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&text, "%02x", bytes[i]);
	return buf_take(&text);
}

static int make_token(const char *path, gid_t group, char **token, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	AUTO_FREE char *text = NULL;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	text = http_token_new(err);
	if (!text)
		return -EIO;
	if (write(fd, text, TOKEN_BYTES) != TOKEN_BYTES ||
	    (group != (gid_t)-1 && (fchown(fd, (uid_t)-1, group) < 0 || fchmod(fd, 0640) < 0)))
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	*token = text;
	text = NULL;
	return 0;
}

int http_token_load(const char *path, gid_t group, char **token, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[TOKEN_MAX + 1];
	struct stat st;
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return make_token(path, group, token, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_mode & 07 || (st.st_uid != geteuid() && st.st_uid != 0))
		return err_set(err, EPERM,
			       "%s: other users have access to the token, or own it; remove the "
			       "file, and a new one is made",
			       path);
	n = read(fd, text, TOKEN_MAX);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\r\n \t")] = 0;
	if (!text[0])
		return err_set(err, EINVAL, "%s: the file has no token; remove it", path);
	*token = xstrdup(text);
	return 0;
}

bool http_token_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char difference = 0;

	if (strlen(b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return !difference;
}

bool http_has_bearer(struct MHD_Connection *connection, const char *token)
{
	const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_AUTHORIZATION);

	return header && strncmp(header, BEARER, strlen(BEARER)) == 0 &&
	       http_token_equal(token, header + strlen(BEARER));
}

struct header_search {
	const char *name, *value;
	int count;
};

static enum MHD_Result find_header(void *arg, enum MHD_ValueKind kind, const char *key,
				   const char *value)
{
	struct header_search *search = arg;

	(void)kind;
	if (strcasecmp(key, search->name) == 0) {
		search->value = value;
		search->count++;
	}
	return MHD_YES;
}

const char *http_only_header(struct MHD_Connection *connection, const char *name)
{
	struct header_search search = { .name = name };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, find_header, &search);
	return search.count == 1 && search.value && *search.value ? search.value : NULL;
}
