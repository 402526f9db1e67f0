/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joins a run: at start-up, at the first call if that comes before the constructor, and again in
 * the child after any kind of fork. If anything fails, the process runs as it would without Sluice.
 *
 * This may happen at any time: while an allocator initializes itself, in a signal handler on a
 * small stack, or in a sandbox. So it calls no function of libc that allocates memory, and the
 * texts that it reads are not on the stack.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/record/capture.h"
#include "capture/record/exec.h"
#include "capture/record/files.h"
#include "capture/record/handles.h"
#include "capture/record/hooks.h"
#include "capture/record/kernel.h"
#include "capture/record/launch.h"
#include "capture/record/number.h"
#include "capture/record/old_libc.h"
#include "capture/record/sandbox.h"
#include "capture/record/site.h"
#include "capture/record/symbols.h"
#include "contract/call.h"

#define PAGE_BYTES 4096
#define STAT_START_FIELD 22 /* of /proc/self/stat */
#define STAT_OF_THREAD "/proc/self/task/"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct membership capture_membership;

/* State that fork must reset: in the same page as the gate. */
struct gate_page {
	struct gate gate;
	atomic_bool attaching;
};

static struct gate_page *page;		       /* NULL until the first attach */
static const struct control *control_of_spool; /* the run that the spool belongs to */
static atomic_bool early;		       /* set by the thread that creates the page */
static bool resolved;			       /* the table of real functions is complete */

#ifdef SLUICE_LINKED

static bool is_foreign_libc(void)
{
	return false;
}

static void call_after_fork(void (*child)(void))
{
	pthread_atfork(NULL, NULL, child);
}

/* The linker has resolved all functions. */
void *real_find(const char *name)
{
	(void)name;
	return NULL;
}

/* A note by which `sluice run` sees that the program needs no preloading: elf_inspect(). */
__asm__(".pushsection .note.sluice, \"a\", %note\n"
	".balign 4\n"
	".long 7, 0, 1\n"
	".asciz \"Sluice\"\n"
	".balign 4\n"
	".popsection\n");

/* If the library is preloaded, too, it captures instead: it sees the calls of libraries as well. */
static bool is_doubled(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return getauxval(AT_BASE) && preload && strstr(preload, "libsluice.so");
}

#else

/*
 * What pthread_atfork() calls in glibc. The reference is weak because musl lacks the function and
 * would not start a program without it. In such a program the wrappers only make the real calls.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *object) __attribute__((weak));

static bool is_foreign_libc(void)
{
	return !__register_atfork;
}

#ifdef __aarch64__
/* libgcc calls this to find out whether the processor has atomic instructions. musl does not have
 * the name, and would not start a program. */
unsigned long __getauxval(unsigned long type) __attribute__((visibility("hidden")));

unsigned long __getauxval(unsigned long type)
{
	return getauxval(type);
}
#endif

static void call_after_fork(void (*child)(void))
{
	if (!is_foreign_libc())
		__register_atfork(NULL, NULL, child, NULL);
}

/* In musl, objects are not listed where glibc lists them, and dlsym() allocates nothing. */
void *real_find(const char *name)
{
	return is_foreign_libc() ? dlsym(RTLD_NEXT, name) : symbol_find_next(name, NULL);
}

static bool is_doubled(void)
{
	return false;
}

#endif

static void gate_wipe(void)
{
	memset(page, 0, sizeof(*page));
}

/* Creates the page once; after that capture_gate never changes, only the contents of the page. */
static bool create_gate_page(void)
{
	struct gate_page *p;

	if (page)
		return true;
	if (atomic_exchange(&early, true))
		return false;
	p = kernel_map_private(PAGE_BYTES);
	if (!p)
		return false;
	page = p;
	capture_gate = &p->gate;
	return true;
}

/*
 * If the kernel does not wipe the page, the constructor registers gate_wipe(), because that may
 * allocate memory. This is so before Linux 4.14, and under emulators that accept any advice without
 * following it, as qemu-user 7.2: they are recognized by advice that does not exist.
 */
#define MADV_NONSENSE (-1)
static bool is_wiped_on_fork, needs_atfork;

static void wipe_gate_on_fork(void)
{
	if (is_wiped_on_fork)
		return;
	needs_atfork = kernel_call(SYS_madvise, page, PAGE_BYTES, MADV_WIPEONFORK) != 0 ||
		       kernel_call(SYS_madvise, page, PAGE_BYTES, MADV_NONSENSE) == 0;
	is_wiped_on_fork = true;
}

static void gate_set(uint32_t mode)
{
	/* Publishes the membership, which is complete. */
	atomic_store_explicit(&page->gate.mode, mode, memory_order_release);
}

bool program_is_skipped(const char *skip, size_t bytes)
{
	size_t n = strlen(program_invocation_short_name);
	const char *p = skip, *end;

	for (; (end = memchr(p, '\n', (size_t)(skip + bytes - p))); p = end + 1)
		if ((size_t)(end - p) == n && !memcmp(p, program_invocation_short_name, n))
			return true;
	return false;
}

static struct control *control_map(struct membership *m)
{
	long directory = directory_open(m->directory, &m->directory_id);
	struct control *c;

	if (directory < 0)
		return NULL;
	c = file_map(directory, CONTROL_NAME, sizeof(*c));
	kernel_call(SYS_close, directory);
	if (c && c->magic == CONTROL_MAGIC && c->version == SPOOL_VERSION &&
	    control_knows_calls(c, call_digest) && !program_is_skipped(c->skip, sizeof(c->skip)))
		return c;
	if (c)
		kernel_call(SYS_munmap, c, sizeof(*c));
	return NULL;
}

/* May this process be captured at all? */
static bool is_allowed(void)
{
	const char *disable;

	if (getauxval(AT_SECURE) || is_doubled())
		return false;
	disable = getenv("SLUICE_DISABLE");
	return !disable || !disable[0] || !strcmp(disable, "0");
}

/* Maps the control page of the run that the environment names; NULL if nothing is to be captured.
 */
static struct control *control_find(struct membership *m)
{
	const char *directory = is_allowed() ? getenv("SLUICE_SPOOL") : NULL;

	if (!directory || directory[0] != '/' || strlen(directory) >= sizeof(m->directory))
		return NULL;
	strcpy(m->directory, directory);
	return control_map(m);
}

/* The same for a process that was not started by `sluice run`, if the policy of the site says so. A
 * child may have inherited a run that is over. */
static struct control *control_find_of_site(struct membership *m)
{
	if (m->policy ? !site_is_closed(m)
		      : m->control || getenv("SLUICE_SPOOL") || !is_allowed() || is_foreign_libc())
		return m->control;
	return site_find_control(m);
}

static char *put_number(char *p, uint32_t number, int digits)
{
	for (int i = digits - 1; i >= 0; i--, number /= 10)
		p[i] = (char)('0' + number % 10);
	return p + digits;
}

/* NNNNNNNN-PID.spool: unique in the run, and tells a human which process it belongs to. */
static void spool_name(struct membership *m, int pid)
{
	char *p = put_number(site_put_prefix(m, m->name), m->number, 8);
	int digits = 1;

	for (int rest = pid; rest >= 10; rest /= 10)
		digits++;
	*p++ = '-';
	p = put_number(p, (uint32_t)pid, digits);
	memcpy(p, SPOOL_SUFFIX, sizeof(SPOOL_SUFFIX));
}

/*
 * The start time in /proc/self/stat, counted from the end of the name, which may contain blanks. It
 * is read from the first thread: qemu-user makes up /proc/self/stat, with a different time than
 * other processes see. /proc/self names the process as /proc does, in whatever namespace.
 */
static uint64_t read_process_start(void)
{
	static char text[1024]; /* only one thread at a time attaches */
	static char path[sizeof(STAT_OF_THREAD) + 32] = STAT_OF_THREAD;
	char *name = path + sizeof(STAT_OF_THREAD) - 1;
	long n = kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self", name, 24);
	const char *p;
	int field = 2;

	if (n <= 0)
		return 0;
	memcpy(name + n, "/stat", sizeof("/stat"));
	file_read(AT_FDCWD, path, text, sizeof(text));
	p = strrchr(text, ')');
	while (p && field < STAT_START_FIELD) {
		p = strchr(p + 1, ' ');
		field++;
	}
	if (!p)
		return 0;
	p++;
	return number_read(&p);
}

static void describe_process(struct spool_header *h)
{
	struct stat ns;
	long n;

	h->pid = (int32_t)kernel_call(SYS_getpid);
	h->ppid = (int32_t)kernel_call(SYS_getppid);
	h->process_start = read_process_start();
	if (kernel_call(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &ns, 0) == 0)
		h->pid_namespace = ns.st_ino;
	n = kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", h->program,
			SPOOL_TEXT_BYTES - 1);
	h->program[n > 0 ? n : 0] = 0;
	if (kernel_call(SYS_getcwd, h->directory, SPOOL_TEXT_BYTES - 1) < 0)
		h->directory[0] = 0;
	h->command_bytes =
		(uint32_t)file_read(AT_FDCWD, "/proc/self/cmdline", h->command, SPOOL_TEXT_BYTES);
}

/*
 * Replaces the chunk of a record that was being written when its thread forked. It has full size
 * because the interrupted code may be about to compute its place from lane->chunk.
 */
static union {
	struct chunk chunk;
	unsigned char bytes[SPOOL_CHUNK_BYTES];
} orphan;

/*
 * Unmaps a part of the parent's spool. If a signal handler forked in the middle of guest code, that
 * code continues in the child and finishes its record. So the part is replaced by private memory
 * at the same address.
 */
static void unmap_parent(void *base, size_t bytes, bool interrupted)
{
	if (!base)
		return;
	if (interrupted)
		kernel_call(SYS_mmap, base, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	else
		kernel_call(SYS_munmap, base, bytes);
}

/* The description of the parent in a child's header. */
struct ancestry {
	int32_t parent; /* number of its spool, -1: none */
	uint32_t first_thread, forked_thread;
	uint64_t forked_seq;
};

/* Sequence numbers continue: a call under way at the fork keeps its number in the child. */
static void lanes_reset(struct self *s)
{
	bool interrupted = s->level > 0;

	for (int i = 0; i < LANES; i++)
		s->lanes[i] = (struct lane){ .chunk = interrupted ? &orphan.chunk : NULL,
					     .seq = s->lanes[i].seq,
					     .costed = s->lanes[i].seq,
					     .current = s->lanes[i].current,
					     .current_at = s->lanes[i].current_at,
					     .thread = s->lanes[i].thread };
	s->tid = 0;
}

/* Forgets what belongs to the parent, without a system call. */
static void forget_parent(struct membership *m)
{
	spool_forget();
	counters_forget();
	site_forget();
	record_hooks.forked(&capture_self);
	lanes_reset(&capture_self);
	m->header = NULL;
}

/* Drops the parent's spool in a child. Only the numbers that inherited links refer to are kept. */
static struct ancestry leave_parent(struct membership *m)
{
	struct self *s = &capture_self;
	bool interrupted = s->level > 0;

	struct ancestry from = { (int32_t)m->number, atomic_load(&m->header->threads),
				 s->lanes[0].thread, interrupted ? 0 : s->lanes[0].seq };

	for (uint32_t i = 0; i < SPOOL_SEGMENTS_MAX; i++)
		unmap_parent(atomic_exchange(&m->segments[i], NULL),
			     (size_t)spool_segment_chunks(i) * SPOOL_CHUNK_BYTES, interrupted);
	unmap_parent(m->header, SPOOL_HEADER_BYTES, interrupted);
	forget_parent(m);
	return from;
}

/* NULL on failure, with an error number. */
static struct spool_header *create_header(struct membership *m, int *error)
{
	long directory = membership_directory_open(m);
	struct spool_header *h;

	*error = (int)-directory;
	if (directory < 0)
		return NULL;
	spool_name(m, (int)kernel_call(SYS_getpid));
	h = file_create(directory, m->name, SPOOL_HEADER_BYTES, &m->spool_id, error);
	kernel_call(SYS_close, directory);
	return h;
}

static bool create_spool(struct membership *m)
{
	struct ancestry from = { .parent = -1 };
	struct spool_header *h;
	int error;

	if (m->header)
		from = leave_parent(m);
	/* The child of a run that is over starts anew. */
	if (control_of_spool != m->control)
		from = (struct ancestry){ .parent = -1, .first_thread = from.first_thread };
	control_of_spool = m->control;
	m->number = atomic_fetch_add(&m->control->sequence, 1);
	h = create_header(m, &error);
	if (!h) {
		launch_failed(loss_cause_of(error));
		return false;
	}
	h->magic = SPOOL_MAGIC;
	h->version = SPOOL_VERSION;
	h->number = m->number;
	h->parent_number = from.parent;
	h->first_thread = from.first_thread;
	h->forked_thread = from.forked_thread;
	h->forked_seq = from.forked_seq;
	/* No process has a rank before MPI_Init, and the child of a rank is not a rank. */
	atomic_store(&h->rank, -1);
	atomic_store(&h->ranks, 0);
	atomic_store(&h->threads, from.first_thread);
	h->attached = clock_ticks(m->control->clock);
	describe_process(h);
	m->header = h;
	/* The host takes this number for the thread that forked, if guest code was not interrupted.
	 */
	if (from.forked_seq)
		lane_number(&capture_self, &capture_self.lanes[0]);
	spool_grow();
	/* The header is complete; pairs with the acquire in header_check(). */
	atomic_store_explicit(&h->state, SPOOL_LIVE, memory_order_release);
	site_hand_over(m);
	return true;
}

static bool membership_init(struct membership *m)
{
	if (!m->control) {
		if (m->header)
			forget_parent(m);
		return false;
	}
	if (!capture_handles)
		capture_handles = kernel_map_private(HANDLES_MAX * sizeof(*capture_handles));
	if (!capture_handles) {
		launch_failed(LOSS_ADDRESS_SPACE);
		return false;
	}
	return create_spool(m);
}

/* The user says that the filters of a container permit what the guest does. */
static bool sandbox_is_trusted(void)
{
	const char *seccomp = getenv("SLUICE_SECCOMP");

	return seccomp && !strcmp(seccomp, "trust");
}

/*
 * Is this process in a sandbox that the collector is not in? Then nothing else must be tried. What
 * was done before are system calls of the dynamic linker.
 */
static bool is_sandboxed(void)
{
	struct membership *m = &capture_membership;
	uint32_t filters;

	if (sandbox_is_sealed())
		return true;
	/* A forked child: its filters are those of its parent. */
	if (resolved)
		return false;
	filters = sandbox_is_trusted() ? 0 : sandbox_count_filters();
	if (filters)
		m->control = control_find(m);
	return filters && (!m->control || filters != m->control->seccomp_filters);
}

/* The process does not take part in the run. Makes no system call. */
static void stay_out(void)
{
	atomic_store(&sandbox_sealed, true);
	if (capture_membership.header) {
		launch_failed(LOSS_SANDBOX);
		forget_parent(&capture_membership);
	}
	gate_set(CAPTURE_OFF);
}

/* A process with another libc is not captured, but the run counts it. */
static void count_foreign_libc(struct membership *m)
{
	launch_failed(LOSS_MUSL);
	kernel_call(SYS_munmap, m->control, sizeof(*m->control));
	m->control = NULL;
}

/* Joins the run. Signals are blocked, because a handler may leave this function by longjmp. */
static void join(void)
{
	struct membership *m = &capture_membership;
	struct signals_held held = signals_hold();
	uint32_t mode;
	bool joined;

	wipe_gate_on_fork();
	if (!m->control)
		m->control = control_find(m);
	if (m->control && is_foreign_libc())
		count_foreign_libc(m);
	m->control = control_find_of_site(m);
	joined = membership_init(m);
	mode = joined ? atomic_load(&m->control->mode) : CAPTURE_OFF;
	page->gate.clock = joined ? m->control->clock : 0;
	page->gate.messages = joined ? m->control->messages : 0;
	/* Before the gate opens, so that nothing that is done to start is recorded. */
	if (joined)
		record_hooks.joined(mode);
	gate_set(mode);
	signals_release(held);
}

bool attach(void)
{
	int saved = errno;
	bool sandboxed;

	/* Before libc is initialized there is no environment: the next call tries again. */
	if (!page && (!environ || sandbox_is_sealed()))
		return false;
	if (!create_gate_page())
		return false;
	/* Calls of other threads are not recorded meanwhile, because the guest never waits. */
	if (atomic_exchange(&page->attaching, true))
		return false;
	sandboxed = is_sandboxed();
	/* Before any mode is set, also OFF, because frame_is_off() implies it. */
	if (!resolved) {
		real_resolve(real_find);
		exec_resolve(real_find);
	}
	resolved = true;
	if (sandboxed)
		stay_out();
	else
		join();
	errno = saved;
	return true;
}

__attribute__((constructor(102))) static void attach_at_start(void)
{
	if (atomic_load(&capture_gate->mode) == CAPTURE_DETACHED)
		attach();
	if (needs_atfork)
		call_after_fork(gate_wipe);
	record_hooks.started();
}
