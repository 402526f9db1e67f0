/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/site.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#define XXH_NO_STREAM
#include <xxhash.h>

#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "contract/call.h"
#include "contract/clock.h"
#include "contract/frame.h"
#include "contract/handover.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define SHARED_MODE (S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP)
#define CONTROL_SUFFIX ".control"
#define DRAFT_SUFFIX ".new"
#define GROUPS_MAX 256
/* Not inlined, so that callers do not need its stack for what they do afterwards. */
#define APART __attribute__((noinline))
/* Time to wait after the daemon could not be reached before the next attempt. */
#define RETRY_NS UINT64_C(1000000000)

/* Not on the stack, which may be small. Written before the gate opens, by one thread. */
static char program[SPOOL_TEXT_BYTES];
static uint32_t groups[GROUPS_MAX];
static struct policy_subject subject;
static enum policy_mode mode;

/* The message, and what is needed to send it: used by the thread that has set `sending`, and before
 * the gate opens. Not on the stack. */
static struct {
	struct frame_header header;
	struct hello hello;
} message;
static struct {
	int fds[HANDOVER_DESCRIPTORS];
	char name[HANDOVER_NAME_BYTES + sizeof(COUNTERS_SUFFIX)]; /* of a file */
	struct stat st, directory, above;
	struct sockaddr_un to;
	_Alignas(struct cmsghdr) unsigned char rights[CMSG_SPACE(HANDOVER_DESCRIPTORS *
								 sizeof(int))];
	struct iovec part;
	struct msghdr all;
} scratch;
static atomic_bool sending;
static _Atomic uint64_t retry_at_ns;

_Static_assert(sizeof(message) == sizeof(struct frame_header) + sizeof(struct hello),
	       "the frame is sent as it is in memory");

/*
 * The page decides where records go, so only root, the user, or someone whom root has given the
 * directory may have written it.
 */
static bool page_is_trusted(long directory, const struct stat *page)
{
	const struct stat *own = &scratch.directory, *above = &scratch.above;

	if (!S_ISREG(page->st_mode) || page->st_mode & OTHERS_WRITE ||
	    kernel_call(SYS_fstat, directory, own) != 0 || own->st_mode & OTHERS_WRITE ||
	    (own->st_uid != page->st_uid && own->st_uid != 0))
		return false;
	if (page->st_uid == 0 || page->st_uid == (uid_t)kernel_call(SYS_geteuid))
		return true;
	return kernel_call(SYS_newfstatat, directory, "..", above, AT_SYMLINK_NOFOLLOW) == 0 &&
	       above->st_uid == 0 && !(above->st_mode & OTHERS_WRITE);
}

/*
 * Maps a page of the site of at least *bytes bytes; at `at`, if that is not NULL. Without `at`,
 * maps all of it and sets *bytes. NULL: it cannot be trusted, or is longer than max.
 */
static const void *file_map_trusted(long directory, const char *name, void *at, uint64_t *bytes,
				    uint64_t max)
{
	long fd = kernel_call(SYS_openat, directory, name,
			      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	const struct stat *st = &scratch.st;
	long mapped = -EINVAL;

	if (fd < 0)
		return NULL;
	if (kernel_call(SYS_fstat, fd, st) == 0 && page_is_trusted(directory, st) &&
	    (uint64_t)st->st_size >= *bytes && (uint64_t)st->st_size <= max) {
		*bytes = at ? *bytes : (uint64_t)st->st_size;
		mapped = kernel_call(SYS_mmap, at, *bytes, PROT_READ,
				     MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	}
	kernel_call(SYS_close, fd);
	return (unsigned long)mapped > -4096ul ? NULL : (const void *)mapped;
}

/* Maps the policy page; at `at`, if that is not NULL. */
static const struct policy *page_map(long directory, void *at, uint32_t *owner)
{
	uint64_t bytes = sizeof(struct policy);
	const struct policy *page = file_map_trusted(directory, POLICY_NAME, at, &bytes, bytes);

	if (page)
		*owner = scratch.st.st_uid;
	return page;
}

static long site_directory_open(void)
{
	const char *site = getenv(POLICY_SITE_VARIABLE);

	return kernel_call(SYS_openat, AT_FDCWD, site && site[0] == '/' ? site : POLICY_SITE,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

const void *site_map_file(const char *name, uint64_t *bytes, uint64_t max)
{
	long directory = site_directory_open();
	const void *page;

	if (directory < 0)
		return NULL;
	page = file_map_trusted(directory, name, NULL, bytes, max);
	kernel_call(SYS_close, directory);
	return page;
}

/* NULL: the site has no policy, or it cannot be trusted. */
APART static const struct policy *page_find(uint32_t *owner)
{
	long directory = site_directory_open();
	const struct policy *page;

	if (directory < 0)
		return NULL;
	page = page_map(directory, NULL, owner);
	kernel_call(SYS_close, directory);
	if (!page || policy_is_valid(page, sizeof(*page)))
		return page;
	kernel_call(SYS_munmap, page, sizeof(*page));
	return NULL;
}

/* The value of the first of these variables that is set; "" if none is. */
static const char *first_value(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && value[0])
			return value;
	}
	return "";
}

/* A session keeps its number as long as a process of it lives. */
static uint64_t session_key(void)
{
	uint64_t processes = 0; /* the namespace of process ids */

	if (kernel_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &scratch.st, 0) == 0)
		processes = scratch.st.st_ino;
	return handover_session_key(processes, kernel_call(SYS_getsid, 0));
}

static void put_text(char *to, size_t bytes, const char *text)
{
	size_t n = 0;

	for (; n < bytes - 1 && text[n]; n++)
		to[n] = text[n];
	to[n] = 0;
}

#define NAME_ITEM(name) name,

APART static void subject_init(struct hello *hello)
{
	static const char *const jobs[] = { HANDOVER_JOB_VARIABLES(NAME_ITEM) NULL };
	static const char *const partitions[] = { HANDOVER_PARTITION_VARIABLES(NAME_ITEM) NULL };
	long n = kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program,
			     sizeof(program) - 1);
	long count = kernel_call(SYS_getgroups, GROUPS_MAX, groups);

	program[n > 0 ? n : 0] = 0;
	put_text(hello->job, sizeof(hello->job), first_value(jobs));
	put_text(hello->partition, sizeof(hello->partition),
		 hello->job[0] ? first_value(partitions) : "");
	hello->key = hello->job[0] ? handover_job_key(hello->job) : session_key();
	subject = (struct policy_subject){ .user = (uint32_t)kernel_call(SYS_geteuid),
					   .group = (uint32_t)kernel_call(SYS_getegid),
					   .groups = groups,
					   .group_count = count > 0 ? (size_t)count : 0,
					   .program = program,
					   .partition = hello->partition,
					   .key = hello->key };
}

APART static char *put_decimal(char *p, uint32_t number)
{
	char digits[10];
	int n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

/* UID-KEY-M; see contract/handover.h. */
static char *put_run(char *p)
{
	static const char letters[] = { [POLICY_OFF] = 'o',
					[POLICY_COUNTERS] = 'c',
					[POLICY_FLIGHT] = 'f',
					[POLICY_TRACE] = 't' };

	p = put_decimal(p, subject.user);
	*p++ = '-';
	for (int shift = 60; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[message.hello.key >> shift & 15];
	*p++ = '-';
	*p++ = letters[mode];
	return p;
}

char *site_put_prefix(const struct membership *m, char *name)
{
	if (!m->policy)
		return name;
	name = put_run(name);
	*name++ = '-';
	return name;
}

/* Fills a new page. Nobody else sees it before it gets its name. */
APART static void control_fill(struct control *c, const struct policy *page)
{
	c->version = SPOOL_VERSION;
	c->calls = call_digest;
	c->clock = page->clock;
	c->owner = subject.user;
	c->chunks_max = page->chunks_max;
	memcpy(c->skip, page->skip, sizeof(page->skip));
	c->skip[sizeof(c->skip) - 1] = '\n';
	memcpy(c->job, message.hello.job, sizeof(c->job));
	memcpy(c->partition, message.hello.partition, sizeof(c->partition));
	c->begin_ticks = clock_ticks(c->clock);
	memcpy(c->plugins[0].name, page->act, sizeof(page->act));
	c->plugins[0].layers = UINT32_MAX;
	atomic_store(&c->mode, mode == POLICY_COUNTERS ? CAPTURE_COUNTERS : CAPTURE_TRACE);
	c->magic = CONTROL_MAGIC;
}

/* Creates the page under a name of its own, and links it to its name, so that it is complete. */
static bool control_create(const struct membership *m, long directory)
{
	char *draft = scratch.name, *end = put_run(draft);
	static struct file_id id; /* of no use; not on the stack */
	struct control *c;
	int error;

	*end++ = '-';
	end = put_decimal(end, (uint32_t)kernel_call(SYS_getpid));
	memcpy(end, DRAFT_SUFFIX, sizeof(DRAFT_SUFFIX));
	c = file_create(directory, draft, sizeof(*c), &id, &error);
	if (!c)
		return false;
	control_fill(c, m->policy);
	kernel_call(SYS_munmap, c, sizeof(*c));
	kernel_call(SYS_linkat, directory, draft, directory, message.hello.control, 0);
	kernel_call(SYS_unlinkat, directory, draft, 0);
	return true;
}

static bool control_is_valid(const struct control *c)
{
	return c->magic == CONTROL_MAGIC && c->version == SPOOL_VERSION &&
	       control_knows_calls(c, call_digest) && c->owner == subject.user &&
	       c->clock < CLOCK_SOURCE_COUNT;
}

static struct control *control_map(struct membership *m)
{
	long directory = membership_directory_open(m);
	struct control *c;

	if (directory < 0)
		return NULL;
	c = file_map(directory, message.hello.control, sizeof(*c));
	if (!c && control_create(m, directory))
		c = file_map(directory, message.hello.control, sizeof(*c));
	kernel_call(SYS_close, directory);
	if (!c || control_is_valid(c))
		return c;
	kernel_call(SYS_munmap, c, sizeof(*c));
	return NULL;
}

/* The process does not join. */
static struct control *page_release(struct membership *m)
{
	kernel_call(SYS_munmap, m->policy, sizeof(*m->policy));
	m->policy = NULL;
	return NULL;
}

struct control *site_find_control(struct membership *m)
{
	struct control *c;
	char *end;

	if (!m->policy) {
		m->policy = page_find(&m->directory_owner);
		if (!m->policy)
			return NULL;
		subject_init(&message.hello);
		mode = policy_decide(m->policy, &subject);
	}
	if (mode == POLICY_OFF || program_is_skipped(m->policy->skip, sizeof(m->policy->skip)))
		return page_release(m);
	message.hello.mode = mode;
	end = put_run(message.hello.control);
	memcpy(end, CONTROL_SUFFIX, sizeof(CONTROL_SUFFIX));
	put_text(m->directory, sizeof(m->directory), m->policy->spools);
	m->directory_id = (struct file_id){ 0 };
	c = control_map(m);
	return c ? c : page_release(m);
}

bool site_is_closed(const struct membership *m)
{
	return m->policy && m->control &&
	       atomic_load_explicit(&m->control->pass_state, memory_order_relaxed) == PASS_CLOSED;
}

bool site_includes(const struct membership *m, const char *path)
{
	struct policy_subject who = subject;

	if (!m->policy)
		return true;
	who.program = path;
	return policy_decide(m->policy, &who) == mode;
}

/* The daemon may open the file by its name, too, if the site has a group for that. */
static void share_with_group(long fd, uint32_t group)
{
	const struct stat *st = &scratch.st;

	if (group != POLICY_NOBODY && kernel_call(SYS_fstat, fd, st) == 0 && st->st_gid == group &&
	    (st->st_mode & ALLPERMS) != SHARED_MODE)
		kernel_call(SYS_fchmod, fd, SHARED_MODE);
}

/* Opens a file of this process: enum handover_descriptor. */
static long file_open_number(const struct membership *m, long directory, int number)
{
	size_t stem = strlen(m->name) - (sizeof(SPOOL_SUFFIX) - 1);

	if (number == HANDOVER_CONTROL)
		return file_reopen(directory, message.hello.control, NULL);
	if (number == HANDOVER_SPOOL)
		return file_reopen(directory, m->name, &m->spool_id);
	memcpy(scratch.name, m->name, stem);
	memcpy(scratch.name + stem, COUNTERS_SUFFIX, sizeof(COUNTERS_SUFFIX));
	return file_reopen(directory, scratch.name, NULL);
}

/* Opens the files of this process; returns their number. */
static int files_open(struct membership *m)
{
	long directory = membership_directory_open(m);
	int count = 0;

	while (directory >= 0 && count < HANDOVER_DESCRIPTORS) {
		long fd = file_open_number(m, directory, count);

		if (fd < 0)
			break;
		share_with_group(fd, m->policy->group);
		scratch.fds[count++] = (int)fd;
	}
	if (directory >= 0)
		kernel_call(SYS_close, directory);
	return count;
}

static void message_seal(struct membership *m)
{
	struct frame_header *h = &message.header;
	struct hello *hello = &message.hello;

	hello->version = SPOOL_VERSION;
	hello->epoch = atomic_load_explicit(&m->policy->epoch, memory_order_relaxed);
	hello->number = m->number;
	hello->pid = m->header->pid;
	put_text(hello->spool, sizeof(hello->spool), m->name);
	*h = (struct frame_header){ .magic = FRAME_MAGIC,
				    .version = FRAME_VERSION,
				    .type = FRAME_HELLO,
				    .length = sizeof(*hello),
				    .check = (uint32_t)XXH3_64bits(hello, sizeof(*hello)) };
	h->head_check = (uint32_t)XXH3_64bits(h, offsetof(struct frame_header, head_check));
}

static bool message_send(const struct membership *m, int count)
{
	struct sockaddr_un *to = &scratch.to;
	struct cmsghdr *rights = (struct cmsghdr *)scratch.rights;
	size_t bytes = (size_t)count * sizeof(int);
	long fd = kernel_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool sent;

	if (fd < 0)
		return false;
	*rights = (struct cmsghdr){ .cmsg_len = CMSG_LEN(bytes),
				    .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(rights), scratch.fds, bytes);
	to->sun_family = AF_UNIX;
	put_text(to->sun_path, sizeof(to->sun_path), m->policy->socket);
	scratch.part = (struct iovec){ &message, sizeof(message) };
	scratch.all = (struct msghdr){ .msg_iov = &scratch.part,
				       .msg_iovlen = 1,
				       .msg_control = rights,
				       .msg_controllen = CMSG_SPACE(bytes) };
	sent = kernel_call(SYS_connect, fd, to, sizeof(*to)) == 0 &&
	       kernel_call(SYS_sendmsg, fd, &scratch.all, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		       (long)sizeof(message);
	kernel_call(SYS_close, fd);
	return sent;
}

static void hand_over(struct membership *m)
{
	uint32_t wanted = atomic_load(&m->wanted);
	int count = files_open(m);
	bool sent = false;

	if (count > HANDOVER_SPOOL) {
		message_seal(m);
		sent = message_send(m, count);
	}
	for (int i = 0; i < count; i++)
		kernel_call(SYS_close, scratch.fds[i]);
	if (!sent) {
		atomic_store(&retry_at_ns, clock_monotonic_ns() + RETRY_NS);
		return;
	}
	atomic_store(&m->epoch, message.hello.epoch);
	atomic_store(&m->done, wanted);
}

void site_hand_over(struct membership *m)
{
	if (!m->policy)
		return;
	atomic_fetch_add(&m->wanted, 1);
	/* If another thread is sending, site_follow() does this later. */
	if (sandbox_is_sealed() || atomic_exchange(&sending, true))
		return;
	hand_over(m);
	atomic_store(&sending, false);
}

/* Replaces the mapping of a page that another page has replaced. */
static void page_renew(struct membership *m)
{
	long directory = site_directory_open();
	uint32_t owner;

	if (directory < 0)
		return;
	page_map(directory, (void *)(uintptr_t)m->policy, &owner);
	kernel_call(SYS_close, directory);
}

void site_follow(struct membership *m)
{
	const struct policy *p = m->policy;

	if (!p ||
	    (atomic_load(&m->wanted) == atomic_load(&m->done) && !atomic_load(&p->superseded) &&
	     atomic_load(&p->epoch) == atomic_load(&m->epoch)))
		return;
	if (sandbox_is_sealed() || clock_monotonic_ns() < atomic_load(&retry_at_ns) ||
	    atomic_exchange(&sending, true))
		return;
	if (atomic_load(&p->superseded))
		page_renew(m);
	/* A page of another version is of no use, but the mapping must stay. */
	if (policy_is_valid(p, sizeof(*p)))
		hand_over(m);
	else
		atomic_store(&retry_at_ns, clock_monotonic_ns() + RETRY_NS);
	atomic_store(&sending, false);
}

void site_forget(void)
{
	atomic_store(&sending, false);
	atomic_store(&retry_at_ns, 0);
}
