/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/launches.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/elf.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/process.h"
#include "contract/clock.h"
#include "observe/tally/losses.h"

/* Bounds of the memory: beyond them, launches are counted but not followed or named. */
#define WAITING_MAX 16384
#define JOINED_MAX 65536
#define KINDS_MAX 4096
#define COUNTS_MAX 256
/* Interpreters of scripts that are scripts again. */
#define SCRIPT_DEPTH 4
/* At the end of the run, a program that started later than this may be about to join. */
#define STARTING_NS (5 * NS_PER_S)

struct launch_waiting {
	enum launch_kind kind;
	unsigned flags;
	int32_t pid;
	uint64_t pid_namespace, time; /* as in the note */
	uint64_t taken_ns;
	enum loss_cause cause; /* of a LAUNCH_FAILED, or found by inspection */
	bool inspected;
	bool ended; /* in the last launches_check() */
	char *program;
};

struct launch_count {
	enum loss_cause cause;
	char *program;
	uint64_t processes;
};

static void waiting_remove(struct launches *l, size_t i)
{
	free(l->waiting[i].program);
	l->waiting[i] = l->waiting[--l->waiting_count];
}

void launches_release(struct launches *l)
{
	while (l->waiting_count)
		waiting_remove(l, 0);
	for (size_t i = 0; i < l->count_count; i++)
		free(l->counts[i].program);
	free(l->waiting);
	free(l->counts);
	map_release(&l->joined);
	map_release(&l->kinds);
	*l = (struct launches){ 0 };
}

static uint64_t process_key(int32_t pid, uint64_t pid_namespace)
{
	return pid_namespace << 32 | (uint32_t)pid;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash | 1;
}

/* The kind of the executable file that runs in the end: for a script, that of its interpreter. */
static enum elf_kind inspect(struct launches *l, const char *path)
{
	uint64_t key = hash_text(path);
	uintptr_t known = (uintptr_t)map_get(&l->kinds, key);
	AUTO_FREE char *interpreter = NULL;
	enum elf_kind kind;

	if (known)
		return (enum elf_kind)(known - 1);
	if (l->is_blind)
		return ELF_UNKNOWN;
	kind = elf_inspect(path, &interpreter);
	for (int i = 0; i < SCRIPT_DEPTH && kind == ELF_SCRIPT; i++) {
		char *script = interpreter;

		kind = elf_inspect(script, &interpreter);
		free(script);
	}
	if (l->kinds.count >= KINDS_MAX)
		map_release(&l->kinds);
	map_put(&l->kinds, key, (void *)((uintptr_t)kind + 1));
	return kind;
}

static enum loss_cause cause_of_file(struct launches *l, const struct launch_waiting *w)
{
	switch (inspect(l, w->program)) {
	case ELF_STATIC:
		return LOSS_STATIC;
	case ELF_MUSL:
		return LOSS_MUSL;
	case ELF_GO:
		return LOSS_GO;
	case ELF_FOREIGN:
		return LOSS_MACHINE;
	case ELF_SETUID:
		return LOSS_PRIVILEGES;
	case ELF_DYNAMIC:
	case ELF_LINKED:
	case ELF_SCRIPT:
	case ELF_UNKNOWN:
		break;
	}
	return LOSS_UNKNOWN;
}

/* Why a program that has not joined could not do so. */
static enum loss_cause find_cause(struct launches *l, const struct launch_waiting *w)
{
	enum loss_cause cause;

	if (w->kind == LAUNCH_FAILED)
		return w->cause;
	if (w->flags & LAUNCH_UNREACHABLE)
		return w->flags & LAUNCH_OTHER_USER ? LOSS_USER : LOSS_NAMESPACE;
	cause = cause_of_file(l, w);
	if (cause != LOSS_UNKNOWN)
		return cause;
	if (w->flags & LAUNCH_OTHER_USER)
		return LOSS_USER;
	if (w->flags & LAUNCH_NO_ENVIRONMENT)
		return LOSS_ENVIRONMENT;
	if (w->flags & LAUNCH_SANDBOXED)
		return LOSS_SANDBOX;
	return w->flags & LAUNCH_SMALL_MEMORY ? LOSS_ADDRESS_SPACE : LOSS_UNKNOWN;
}

static struct launch_count *count_find(struct launches *l, enum loss_cause cause,
				       const char *program)
{
	for (size_t i = 0; i < l->count_count; i++)
		if (l->counts[i].cause == cause && !strcmp(l->counts[i].program, program))
			return &l->counts[i];
	if (l->count_count >= COUNTS_MAX && program[0])
		return count_find(l, cause, "");
	l->counts = xgrow(l->counts, &l->count_cap, l->count_count + 1, sizeof(*l->counts));
	l->counts[l->count_count] = (struct launch_count){ cause, xstrdup(program), 0 };
	return &l->counts[l->count_count++];
}

void launches_count(struct launches *l, enum loss_cause cause, const char *program,
		    uint64_t processes)
{
	count_find(l, cause, program)->processes += processes;
	l->unrecorded += processes;
	if (l->control)
		atomic_fetch_add(&l->control->unrecorded[cause], processes);
}

static void count_waiting(struct launches *l, size_t i)
{
	struct launch_waiting *w = &l->waiting[i];

	if (!w->inspected)
		w->cause = find_cause(l, w);
	launches_count(l, w->cause, w->program, 1);
	waiting_remove(l, i);
}

/* Programs that the user does not want to record. */
static bool is_skipped(const struct launches *l, const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	const char *p = l->control->skip, *end;
	size_t n = strlen(name);

	while ((end = memchr(p, '\n', (size_t)(l->control->skip + CONTROL_SKIP_BYTES - p)))) {
		if ((size_t)(end - p) == n && !memcmp(p, name, n))
			return true;
		p = end + 1;
	}
	return false;
}

/* The same process, as far as its PID namespaces are known. */
static bool is_same(const struct launch_waiting *a, const struct launch_waiting *b)
{
	return a->pid == b->pid &&
	       (a->pid_namespace == b->pid_namespace || !a->pid_namespace || !b->pid_namespace);
}

/* Removes the earlier note of the same process, and returns its program; NULL: there was none. */
static char *supersede(struct launches *l, const struct launch_waiting *later)
{
	for (size_t i = l->waiting_count; i-- > 0;) {
		struct launch_waiting *w = &l->waiting[i];
		char *program = w->program;

		if (!is_same(w, later) || w->time > later->time)
			continue;
		w->program = NULL;
		waiting_remove(l, i);
		return program;
	}
	return NULL;
}

static void set_joined(struct launches *l, int32_t pid, uint64_t pid_namespace, uint64_t time)
{
	if (l->joined.count >= JOINED_MAX)
		map_release(&l->joined);
	if (pid)
		map_put(&l->joined, process_key(pid, pid_namespace), (void *)(uintptr_t)time);
}

/* The process has reported itself. A note about its start may follow, which is settled by this. */
static void accept_failure(struct launches *l, const struct launch_waiting *w)
{
	free(supersede(l, w));
	set_joined(l, w->pid, w->pid_namespace, w->time);
	launches_count(l, w->cause, w->program, 1);
}

void launches_unreadable(struct launches *l, int32_t pid, enum loss_cause cause)
{
	struct launch_waiting w = { .pid = pid, .time = UINT64_MAX };
	AUTO_FREE char *program = supersede(l, &w);

	launches_count(l, cause, program ? program : "", 1);
}

static void add_waiting(struct launches *l, const struct launch_waiting *w)
{
	if (l->waiting_count >= WAITING_MAX) {
		l->unchecked++;
		free(w->program);
		return;
	}
	l->waiting = xgrow(l->waiting, &l->waiting_cap, l->waiting_count + 1, sizeof(*l->waiting));
	l->waiting[l->waiting_count++] = *w;
}

static void accept_note(struct launches *l, const struct launch_waiting *w)
{
	switch (w->kind) {
	case LAUNCH_STARTS:
		if (!is_skipped(l, w->program)) {
			add_waiting(l, w);
			return;
		}
		break;
	case LAUNCH_WITHDRAWN:
		free(supersede(l, w));
		break;
	case LAUNCH_FAILED:
		accept_failure(l, w);
		break;
	case LAUNCH_HIDDEN:
		launches_count(l, find_cause(l, w), w->program, 1);
		break;
	}
	free(w->program);
}

/* Copies a note, which its process may overwrite at any time, without control characters. */
static struct launch_waiting copy_note(const struct launch_note *note)
{
	struct launch_waiting w = { .kind = note->kind,
				    .flags = note->flags,
				    .pid = note->pid,
				    .pid_namespace = note->pid_namespace,
				    .time = note->time,
				    .taken_ns = clock_monotonic_ns(),
				    .cause = note->cause };

	if (w.cause >= LOSS_CAUSES)
		w.cause = LOSS_UNKNOWN;
	w.program = xstrndup(note->path, LAUNCH_PATH_BYTES - 1);
	for (char *p = w.program; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return w;
}

static int waiting_compare(const void *a, const void *b)
{
	const struct launch_waiting *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/*
 * Copies the published notes to `taken` and frees their entries. Returns their number. Entries that
 * are being written are left for the next pass.
 */
static size_t take_published(struct launches *l, struct launch_waiting *taken)
{
	struct launch_table *table = &l->control->launches;
	uint32_t claims = atomic_load(&table->next);
	bool complete = true;
	size_t count = 0;

	if (claims == l->seen)
		return 0;
	for (size_t i = 0; i < LAUNCH_NOTES; i++) {
		struct launch_note *note = &table->notes[i];

		complete &= atomic_load(&note->state) != LAUNCH_NOTE_WRITING;
		if (!launch_take(note))
			continue;
		taken[count++] = copy_note(note);
		launch_free(note);
	}
	if (complete)
		l->seen = claims;
	return count;
}

/* Notes are read in the order of their times, because a withdrawal has a note of its own. */
static void take_notes(struct launches *l)
{
	struct launch_waiting taken[LAUNCH_NOTES];
	size_t count = l->control ? take_published(l, taken) : 0;

	qsort(taken, count, sizeof(taken[0]), waiting_compare);
	for (size_t i = 0; i < count; i++)
		accept_note(l, &taken[i]);
}

/* Has the process joined the run since the program was announced? */
static bool has_joined(const struct launches *l, const struct launch_waiting *w)
{
	uintptr_t joined = (uintptr_t)map_get(&l->joined, process_key(w->pid, w->pid_namespace));

	return joined >= w->time && joined;
}

void launches_joined(struct launches *l, const struct spool_header *header)
{
	AUTO_FREE char *program = xstrndup(header->program, SPOOL_TEXT_BYTES - 1);

	/* A note without a namespace matches a spool with any. */
	set_joined(l, header->pid, header->pid_namespace, header->attached);
	set_joined(l, header->pid, 0, header->attached);
	/* A Go program that uses libc joins, but its I/O does not go through libc. A forked child
	 * of such a program is counted, too. */
	if (inspect(l, program) == ELF_GO)
		launches_count(l, LOSS_GO, program, 1);
}

static bool has_ended(const struct launch_waiting *w, uint64_t own, struct process_scan *scan,
		      bool *scanned)
{
	if (!w->pid_namespace || w->pid_namespace == own)
		return process_start(w->pid) == 0;
	if (!*scanned)
		process_scan(scan, own);
	*scanned = true;
	return !process_scan_has(scan, w->pid_namespace, w->pid);
}

void launches_check(struct launches *l)
{
	struct process_scan scan = { 0 };
	uint64_t own = l->waiting_count ? process_namespace() : 0;
	bool scanned = false;

	for (size_t i = 0; i < l->waiting_count; i++)
		l->waiting[i].ended = has_ended(&l->waiting[i], own, &scan, &scanned);
	process_scan_release(&scan);
}

void launches_settle(struct launches *l)
{
	take_notes(l);
	for (size_t i = l->waiting_count; i-- > 0;) {
		struct launch_waiting *w = &l->waiting[i];

		if (has_joined(l, w)) {
			waiting_remove(l, i);
			continue;
		}
		/* The file may be gone later. */
		if (!w->inspected)
			w->cause = find_cause(l, w);
		w->inspected = true;
		if (w->ended)
			count_waiting(l, i);
	}
}

/* May the process be about to join? Its program could be recorded, as far as we know. */
static bool is_starting(const struct launch_waiting *w)
{
	bool possible = w->cause == LOSS_UNKNOWN || w->cause == LOSS_ADDRESS_SPACE ||
			w->cause == LOSS_SANDBOX;

	return possible && clock_monotonic_ns() - w->taken_ns < STARTING_NS;
}

size_t launches_starting(const struct launches *l)
{
	size_t starting = 0;

	for (size_t i = 0; i < l->waiting_count; i++)
		starting += !l->waiting[i].ended && is_starting(&l->waiting[i]);
	return starting;
}

void launches_finish(struct launches *l)
{
	launches_settle(l);
	for (size_t i = l->waiting_count; i-- > 0;) {
		if (is_starting(&l->waiting[i]))
			waiting_remove(l, i);
		else
			count_waiting(l, i);
	}
	if (l->control)
		l->unchecked += atomic_load(&l->control->launches.overflow);
}

static void write_count(const struct launch_count *count, const char *host, void *arg,
			void (*write)(void *arg, const struct note *note))
{
	AUTO_FREE char *value =
		xprintf("%llu %s", (unsigned long long)count->processes, count->program);
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .host = (char *)host,
			     .source = LOSSES_SOURCE,
			     .kind = NOTE_UNRECORDED,
			     .name = (char *)loss_texts[count->cause].name,
			     .value = value };

	write(arg, &note);
}

void launches_report(const struct launches *l, const char *host, void *arg,
		     void (*write)(void *arg, const struct note *note))
{
	AUTO_FREE char *value = xprintf("%llu programs started too fast to check whether they "
					"were recorded",
					(unsigned long long)l->unchecked);
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .host = (char *)host,
			     .source = LOSSES_SOURCE,
			     .kind = NOTE_DEGRADED,
			     .name = NOTE_WARNING,
			     .value = value };

	for (size_t i = 0; i < l->count_count; i++)
		write_count(&l->counts[i], host, arg, write);
	if (l->unchecked)
		write(arg, &note);
}

static struct control *open_control(const char *directory)
{
	AUTO_FREE char *path = place_join(directory, CONTROL_NAME);
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct control *c;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(*c) ||
	    st.st_uid != geteuid())
		return NULL;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return c == MAP_FAILED ? NULL : c;
}

static void publish(const char *directory, enum launch_kind kind, pid_t pid, const char *program)
{
	struct control *c = open_control(directory);
	struct launch_note *note = NULL;

	if (c && c->magic == CONTROL_MAGIC && c->version == SPOOL_VERSION &&
	    atomic_load(&c->mode) > CAPTURE_OFF)
		note = launch_claim(&c->launches);
	if (note) {
		note->kind = (uint16_t)kind;
		note->flags = 0;
		note->pid = (int32_t)pid;
		note->pid_namespace = process_namespace();
		note->time = clock_ticks(c->clock);
		snprintf(note->path, sizeof(note->path), "%s", program);
		launch_publish(note);
	}
	if (c)
		munmap(c, sizeof(*c));
}

void launches_announce(const char *directory, pid_t pid, const char *program)
{
	AUTO_FREE char *path = realpath(program, NULL);

	publish(directory, LAUNCH_STARTS, pid, path ? path : program);
}

void launches_withdraw(const char *directory)
{
	publish(directory, LAUNCH_WITHDRAWN, getpid(), "");
}
