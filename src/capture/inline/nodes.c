/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/inline/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#define XXH_NO_STREAM
#include <xxhash.h>

#include "capture/inline/served.h"
#include "capture/libraries/hints_file.h"
#include "capture/libraries/mpi.h"
#include "capture/libraries/mpi_job.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/number.h"
#include "capture/record/sandbox.h"
#include "capture/record/site.h"
#include "contract/agreement.h"
#include "contract/clock.h"
#include "contract/frame.h"
#include "contract/policy.h"

#define ANCESTORS_MAX 16
#define PAUSE_NS 1000000
#define HYDRA_OPTION "--control-port"

enum { RESULT_UNKNOWN, RESULT_GRANTED, RESULT_REFUSED };

/* Written by nodes_vote(), before other threads ask. Not on the stack, which may be small. */
static struct {
	struct frame_header header;
	struct vote vote;
} message;
static struct sockaddr_un to;
static char text[4096];
static const struct agreement_page *table;
static bool has_voted;
static _Atomic int result;

/* The hash of variables, all of which must be set but the last; 0: they are not. */
static uint64_t hash_variables(const char *first, const char *second, bool needs_second)
{
	const char *a = getenv(first), *b = getenv(second);

	if (!a || !a[0] || (needs_second && !b))
		return 0;
	return mpi_mix(mpi_text_hash(a), mpi_text_hash(b ? b : ""));
}

/* Writes /proc/PID/NAME. */
static const char *proc_path(long pid, const char *name)
{
	static char path[48];
	char digits[20], *p = path + sizeof("/proc/") - 1;
	int n = 0;

	memcpy(path, "/proc/", sizeof("/proc/") - 1);
	do
		digits[n++] = (char)('0' + pid % 10);
	while (pid /= 10);
	while (n)
		*p++ = digits[--n];
	*p++ = '/';
	memcpy(p, name, strlen(name) + 1);
	return path;
}

static long parent_of(long pid)
{
	const char *end;

	if (!file_read(AT_FDCWD, proc_path(pid, "stat"), text, sizeof(text)))
		return 0;
	end = strrchr(text, ')');
	/* ") S PPID" */
	if (!end || strlen(end) <= 4)
		return 0;
	end += 4;
	return (long)number_read(&end);
}

/* Hydra: the proxies of all nodes have the address of mpiexec in their command line. */
static uint64_t hydra_key(void)
{
	long pid = kernel_call(SYS_getppid);

	if (!getenv("PMI_FD") && !getenv("PMI_PORT"))
		return 0;
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = parent_of(pid)) {
		size_t n = file_read(AT_FDCWD, proc_path(pid, "cmdline"), text, sizeof(text));

		for (const char *word = text; word < text + n; word += strlen(word) + 1)
			if (!strcmp(word, HYDRA_OPTION) && word + sizeof(HYDRA_OPTION) < text + n)
				return mpi_text_hash(word + sizeof(HYDRA_OPTION));
	}
	return 0;
}

/* The same on all nodes of the job, in the order of base/job.c; 0: unknown. */
static uint64_t job_key(void)
{
	uint64_t key = hash_variables("SLUICE_JOB", "", false);

	if (!key)
		key = hash_variables("PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports",
				     false);
	if (!key)
		key = hydra_key();
	if (!key)
		key = hash_variables("PALS_APID", "", false);
	return key ? key : hash_variables("SLURM_JOB_ID", "SLURM_STEP_ID", true);
}

/* Everything that decides on the hints of a file, except its name and the program's own hints. */
static uint64_t make_digest(const struct knowledge *page)
{
	const struct control *c = capture_membership.control;
	uint64_t digest = mpi_mix(page->digest, mpi_text_hash(served_program()));

	/* forbidden begins with an empty line: its names are behind that. */
	digest = knowledge_hash(digest, c->forbidden, sizeof(c->forbidden));
	digest = mpi_mix(digest, hints_file_hash());
	return mpi_mix(digest, mpi_kind.is_open);
}

/* Copies the path of the daemon's socket from the policy page. */
static bool find_socket(void)
{
	uint64_t bytes = sizeof(struct policy);
	const struct policy *page = site_map_file(POLICY_NAME, &bytes, bytes);

	if (!page)
		return false;
	to.sun_family = AF_UNIX;
	if (policy_is_valid(page, bytes))
		memcpy(to.sun_path, page->socket, sizeof(page->socket));
	kernel_call(SYS_munmap, page, bytes);
	return to.sun_path[0];
}

static bool find_table(void)
{
	uint64_t bytes = sizeof(*table);

	table = site_map_file(AGREEMENT_NAME, &bytes, bytes);
	return table && table->magic == AGREEMENT_MAGIC && table->bytes == sizeof(*table);
}

static bool vote_send(void)
{
	struct frame_header *h = &message.header;
	long fd = kernel_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool sent;

	if (fd < 0)
		return false;
	*h = (struct frame_header){ .magic = FRAME_MAGIC,
				    .version = FRAME_VERSION,
				    .type = FRAME_VOTE,
				    .length = sizeof(message.vote),
				    .check = (uint32_t)XXH3_64bits(&message.vote,
								   sizeof(message.vote)) };
	h->head_check = (uint32_t)XXH3_64bits(h, offsetof(struct frame_header, head_check));
	sent = kernel_call(SYS_connect, fd, &to, sizeof(to)) == 0 &&
	       kernel_call(SYS_sendto, fd, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL,
			   NULL, 0) == (long)sizeof(message);
	kernel_call(SYS_close, fd);
	return sent;
}

void nodes_vote(void)
{
	const struct spool_header *h = capture_membership.header;
	int saved = errno;

	if (has_voted || !served_page() || !h || atomic_load(&h->ranks) < 2 ||
	    mpi_job_is_complete() || sandbox_is_sealed())
		return;
	message.vote = (struct vote){ .job = job_key(),
				      .digest = make_digest(served_page()),
				      .sent_ns = (int64_t)clock_monotonic_ns(),
				      .ranks = (uint32_t)atomic_load(&h->ranks) };
	has_voted = message.vote.job && find_table() && find_socket() && vote_send();
	errno = saved;
}

bool nodes_have_voted(void)
{
	return has_voted;
}

static enum agreement_state state_read(void)
{
	uint32_t user = (uint32_t)kernel_call(SYS_geteuid);

	for (uint32_t i = 0; i < AGREEMENT_PROBES; i++) {
		const struct agreement_entry *e = &table->jobs[agreement_slot(message.vote.job, i)];
		/* Pairs with the store of the daemon. */
		uint32_t state = atomic_load(&e->state);

		if (state != AGREEMENT_FREE && e->job == message.vote.job && e->user == user)
			return (enum agreement_state)state;
	}
	return AGREEMENT_FREE;
}

/* RESULT_UNKNOWN: not yet. */
static int result_find(void)
{
	int64_t late_ns =
		(int64_t)clock_monotonic_ns() - message.vote.sent_ns - AGREEMENT_DEADLINE_NS;

	/* After the time was read: a job that is found waiting now is never granted. */
	switch (state_read()) {
	case AGREEMENT_GRANTED:
		return RESULT_GRANTED;
	case AGREEMENT_REFUSED:
		return RESULT_REFUSED;
	case AGREEMENT_CONFIRMING:
		return late_ns >= AGREEMENT_LIMIT_NS ? RESULT_REFUSED : RESULT_UNKNOWN;
	case AGREEMENT_CONFIRMED:
		/* The daemon has died. The others see that it has confirmed, and grant. */
		return late_ns >= AGREEMENT_LIMIT_NS ? RESULT_GRANTED : RESULT_UNKNOWN;
	default:
		return late_ns >= 0 ? RESULT_REFUSED : RESULT_UNKNOWN;
	}
}

bool nodes_agree(void)
{
	static const struct timespec pause = { 0, PAUSE_NS };
	int found = atomic_load(&result);

	if (!has_voted || sandbox_is_sealed())
		return has_voted && found == RESULT_GRANTED;
	while (found == RESULT_UNKNOWN) {
		found = result_find();
		if (found == RESULT_UNKNOWN)
			kernel_call(SYS_nanosleep, &pause, NULL);
	}
	atomic_store(&result, found);
	return found == RESULT_GRANTED;
}

const char *nodes_hints(const char *path, int amode)
{
	const struct knowledge_hints *found =
		knowledge_suggest(served_page(), served_program(), path, NULL, amode);

	return found ? found->hints : NULL;
}
