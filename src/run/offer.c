/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "contract/handover.h"
#include "contract/policy.h"
#include "run/daemon_link.h"
#include "trace/format.h"
#include "wire/frame.h"

#define GROUPS_MAX 65536
/* If many runs end at once, the daemon cannot accept all of them immediately. */
#define ATTEMPTS 10

#define NAME_ITEM(name) name,

static const char *first_value(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && value[0])
			return value;
	}
	return "";
}

static uint64_t session_key(void)
{
	struct stat st;

	return handover_session_key(stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0, getsid(0));
}

/* Names are separated by newlines. */
static bool is_skipped(const struct policy *page, const char *program)
{
	const char *p = page->skip, *end;

	for (; (end = memchr(p, '\n', (size_t)(page->skip + sizeof(page->skip) - p))); p = end + 1)
		if ((size_t)(end - p) == strlen(program) && !memcmp(p, program, (size_t)(end - p)))
			return true;
	return false;
}

/* What the site keeps: the most that it would keep of any of the processes. */
static enum policy_mode decide(const struct policy *page, const struct trace_head *head,
			       struct handed_trace *handed)
{
	AUTO_FREE gid_t *groups = xcalloc(GROUPS_MAX, sizeof(*groups));
	int count = getgroups(GROUPS_MAX, groups);
	struct policy_subject who = {
		.user = geteuid(),
		.group = getegid(),
		.groups = groups,
		.group_count = count > 0 ? (size_t)count : 0,
		.partition = handed->partition,
		.key = handed->job[0] ? handover_job_key(handed->job) : session_key(),
	};
	enum policy_mode most = POLICY_OFF;

	for (size_t i = 0; i < head->process_count; i++) {
		const char *name = path_base_name(head->processes[i].program);
		enum policy_mode mode;

		if (is_skipped(page, name))
			continue;
		who.program = head->processes[i].program;
		mode = policy_decide(page, &who);
		if (mode <= most)
			continue;
		most = mode;
		snprintf(handed->program, sizeof(handed->program), "%s", name);
	}
	return most;
}

/* Fills in the message. Returns 0 if the site keeps nothing of the run. */
static int describe(const struct policy *page, const char *container, struct handed_trace *handed,
		    struct err *err)
{
	static const char *const jobs[] = { HANDOVER_JOB_VARIABLES(NAME_ITEM) NULL };
	static const char *const partitions[] = { HANDOVER_PARTITION_VARIABLES(NAME_ITEM) NULL };
	struct trace trace;
	int r = trace_open(&trace, container, NULL, err);

	if (r < 0)
		return r;
	*handed = (struct handed_trace){ .version = HANDED_TRACE_VERSION };
	snprintf(handed->job, sizeof(handed->job), "%s", first_value(jobs));
	if (handed->job[0])
		snprintf(handed->partition, sizeof(handed->partition), "%s",
			 first_value(partitions));
	handed->mode = decide(page, &trace.head, handed);
	trace_close(&trace);
	return handed->mode != POLICY_OFF;
}

static int send_trace(const struct policy *page, int trace, const struct handed_trace *handed,
		      struct err *err)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct frame_header header;
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)handed, sizeof(*handed) } };
	struct msghdr message = { .msg_iov = parts,
				  .msg_iovlen = 2,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	AUTO_CLOSE int fd = daemon_link_connect(page->socket, ATTEMPTS);

	if (fd < 0)
		return err_set(err, -fd, "%s: no daemon listens to this socket: %s", page->socket,
			       strerror(-fd));
	*rights = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
				    .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(rights), &trace, sizeof(int));
	frame_seal(&header, FRAME_TRACE, 1, handed, sizeof(*handed));
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)(sizeof(header) + sizeof(*handed)))
		return err_set(err, errno ? errno : EIO, "%s: the daemon did not take the trace",
			       page->socket);
	return 1;
}

int offer_trace(const struct config *config, const char *container, struct err *err)
{
	AUTO_FREE struct policy *page = NULL;
	AUTO_CLOSE int trace = -1;
	struct handed_trace handed;
	int r;

	if (config_choice(config, SETTING_SITE_USE) == CONFIG_USE_NO)
		return 0;
	page = daemon_link_policy(config, err);
	if (!page)
		return -ENOENT;
	r = page->rule_count ? describe(page, container, &handed, err) : 0;
	if (r <= 0)
		return r;
	trace = open(container, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (trace < 0)
		return err_set(err, errno, "%s: %s", container, strerror(errno));
	return send_trace(page, trace, &handed, err);
}
