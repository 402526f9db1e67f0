/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "contract/group.h"
#include "contract/handover.h"
#include "contract/record.h"
#include "contract/spool.h"
#include "daemon/keeper.h"
#include "daemon/observer.h"
#include "daemon/status.h"

#define INBOX_MAX 1024
#define SCAN_NS (5 * NS_PER_S)
#define BUSY_NS NS_PER_MS /* between passes that found much */
#define QUIET_NS (20 * NS_PER_MS)
#define MUCH 1000

_Static_assert(sizeof(struct hello) <= KEPT_BYTES, "the keeper can hold it");
_Static_assert((int)HANDOVER_DESCRIPTORS <= FRAME_DESCRIPTORS_MAX, "and its descriptors");

/*
 * The counters of a process that counts its calls (contract/spool.h), and how far they were read:
 * at most COUNTED_MAX of them, about 11 KiB each.
 */
#define COUNTED_MAX 256
#define COUNTED_PERIOD_NS (2 * NS_PER_S)
#define COUNTED_AT_ONCE 4   /* processes that a pass reads, so that spools do not wait */
#define COUNTED_HANDLES 128 /* that are told apart; the last one stands for all others */
#define COUNTED_OLD_NS                                                             \
	(60 * NS_PER_S) /* without a change, until another process takes its place \
			 */

struct counts {
	uint64_t calls[LOAD_OPERATIONS], bytes[LOAD_OPERATIONS];
};

struct counted {
	uid_t user;
	uint64_t key; /* of the run */
	int fd;
	ino_t inode;
	int64_t read_ns, changed_ns;
	size_t handles;
	uint8_t handle_of[COUNTERS_SLOTS]; /* by slot: number of its handle + 1; 0: none yet */
	uint64_t links[COUNTED_HANDLES];
	struct counts seen[COUNTED_HANDLES];
};

struct collection {
	struct collection_options options;
	struct reception *reception;
	dev_t device; /* of the directory of the spools */
	pthread_t thread;
	struct counted *counted[COUNTED_MAX]; /* the collecting thread's, like the next ones */
	size_t counted_count, counted_next;
	struct counters_file *counters; /* a copy of those of one process */
	pthread_mutex_t lock;
	struct reception_message taken[INBOX_MAX]; /* the collecting thread's */
	struct reception_message inbox[INBOX_MAX]; /* under the lock, like the rest */
	size_t waiting;
	uint64_t ticket;
	struct reception_counts counts;
	_Atomic bool stops, is_full;
};

static int refuse(enum refusal why)
{
	return -1 - (int)why;
}

/* --- threads of the server --- */

/*
 * A file in the file system of the spools. Asking any other file system could block, for example
 * one that the client serves itself by FUSE; so the answer must come from the kernel's memory.
 */
static bool is_spool_file(const struct collection *collection, int fd, uid_t user)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_UID, &st) ==
		       0 &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == collection->device &&
	       S_ISREG(st.stx_mode) && st.stx_uid == user;
}

static void hold_message(struct collection *collection, const struct reception_message *message)
{
	struct kept kept = { .ticket = message->ticket,
			     .user = message->user,
			     .bytes = sizeof(message->hello),
			     .fd_count = (uint32_t)message->fd_count };

	memcpy(kept.payload, &message->hello, sizeof(message->hello));
	memcpy(kept.fds, message->fds, message->fd_count * sizeof(int));
	/* If the keeper is out of reach, the process hands over again, or its files are found. */
	keeper_hold(collection->options.channel, &kept);
}

/* Puts the message where the collecting thread finds it; false if there is no room. */
static bool post_message(struct collection *collection, struct reception_message *message)
{
	bool has_room;

	pthread_mutex_lock(&collection->lock);
	has_room = collection->waiting < INBOX_MAX;
	if (has_room) {
		message->ticket = ++collection->ticket;
		/* Before the thread can see it, so that the keeper holds it before it is dropped.
		 */
		hold_message(collection, message);
		collection->inbox[collection->waiting++] = *message;
	}
	pthread_mutex_unlock(&collection->lock);
	return has_room;
}

int collection_offer(struct collection *collection, struct client *client,
		     const struct frame *frame)
{
	struct reception_message message = { .user = client->user,
					     .process = client->process,
					     .fd_count = client->fd_count };

	if (frame->length != sizeof(message.hello))
		return refuse(REFUSAL_CONTENT);
	if (client->fd_count <= HANDOVER_SPOOL || client->fd_count > HANDOVER_DESCRIPTORS)
		return refuse(REFUSAL_DESCRIPTORS);
	for (uint32_t i = 0; i < client->fd_count; i++) {
		if (!is_spool_file(collection, client->fds[i], client->user))
			return refuse(REFUSAL_DESCRIPTORS);
		message.fds[i] = client->fds[i];
	}
	if (atomic_load(&collection->is_full))
		return refuse(REFUSAL_MEMORY);
	memcpy(&message.hello, frame->payload, sizeof(message.hello));
	if (!post_message(collection, &message))
		return refuse(REFUSAL_BUSY);
	client->fd_count = 0;
	counters_add(&collection->options.counters->hellos, 1);
	return 0;
}

struct reception_counts collection_counts(struct collection *collection)
{
	struct reception_counts counts;

	pthread_mutex_lock(&collection->lock);
	counts = collection->counts;
	pthread_mutex_unlock(&collection->lock);
	return counts;
}

/* --- counters of processes --- */

static void counted_free(struct counted *counted)
{
	close(counted->fd);
	free(counted);
}

/* A place for one more; NULL if all processes are active. */
static struct counted **find_place(struct collection *collection, int64_t now)
{
	size_t oldest = 0;

	if (collection->counted_count < COUNTED_MAX)
		return &collection->counted[collection->counted_count++];
	for (size_t i = 1; i < COUNTED_MAX; i++)
		if (collection->counted[i]->changed_ns < collection->counted[oldest]->changed_ns)
			oldest = i;
	if (now - collection->counted[oldest]->changed_ns < COUNTED_OLD_NS)
		return NULL;
	counted_free(collection->counted[oldest]);
	return &collection->counted[oldest];
}

/* Keeps a copy of the descriptor of the counters, if the message has one that is new. */
static void keep_counters(struct collection *collection, const struct reception_message *message)
{
	int64_t now = clock_now_ns();
	struct counted **place, *counted;
	struct stat st;
	int fd;

	if (message->hello.mode != POLICY_COUNTERS || !message->hello.key ||
	    message->fd_count <= HANDOVER_COUNTERS ||
	    fstat(message->fds[HANDOVER_COUNTERS], &st) != 0)
		return;
	for (size_t i = 0; i < collection->counted_count; i++)
		if (collection->counted[i]->inode == st.st_ino)
			return;
	fd = fcntl(message->fds[HANDOVER_COUNTERS], F_DUPFD_CLOEXEC, 0);
	place = fd < 0 ? NULL : find_place(collection, now);
	if (!place) {
		if (fd >= 0)
			close(fd);
		return;
	}
	counted = xcalloc(1, sizeof(*counted));
	counted->user = message->user;
	counted->key = message->hello.key;
	counted->fd = fd;
	counted->inode = st.st_ino;
	counted->changed_ns = now;
	*place = counted;
}

/* The number of the handle of a slot. */
static size_t find_handle(struct counted *counted, size_t slot, uint64_t link)
{
	if (!counted->handle_of[slot]) {
		bool is_known = slot >= COUNTERS_RESERVED && link;
		size_t handle = is_known && counted->handles < COUNTED_HANDLES - 1
					? counted->handles++
					: COUNTED_HANDLES - 1;

		counted->handle_of[slot] = (uint8_t)(handle + 1);
		counted->links[handle] = handle == COUNTED_HANDLES - 1 ? 0 : link;
	}
	return counted->handle_of[slot] - 1u;
}

static void add_slot(struct counts *to, const struct counters_slot *slot)
{
	for (unsigned g = 0; g < COUNTERS_GROUPS; g++) {
		enum load_operation operation = g == GROUP_READ	   ? LOAD_READ
						: g == GROUP_WRITE ? LOAD_WRITE
								   : LOAD_OTHER;

		to->calls[operation] += atomic_load(&slot->groups[g].calls);
		to->bytes[operation] += atomic_load(&slot->groups[g].bytes);
	}
}

/* Which pages of a file of counters were copied. */
struct counted_pages {
	uint64_t bits[COUNTERS_PAGES / 64];
};

static bool has_page(const struct counted_pages *pages, unsigned page)
{
	return pages->bits[page / 64] >> page % 64 & 1;
}

/* Copies a range of bytes; false if the file is too short, which no honest process does. */
static bool copy_range(struct collection *collection, int fd, size_t from, size_t to)
{
	return pread(fd, (char *)collection->counters + from, to - from, (off_t)from) ==
	       (ssize_t)(to - from);
}

/*
 * Copies the pages that have slots. The file is another user's: each byte is read once, by a system
 * call, which fails where memory that is mapped would end this process.
 */
static bool copy_counters(struct collection *collection, int fd, struct counted_pages *pages)
{
	struct counters_file *copy = collection->counters;
	size_t end = sizeof(*copy);

	if (!copy_range(collection, fd, 0, offsetof(struct counters_file, slots)) ||
	    copy->magic != COUNTERS_MAGIC)
		return false;
	for (size_t i = 0; i < COUNTERS_PAGES / 64; i++)
		pages->bits[i] = copy->has_used ? atomic_load(&copy->used[i]) : UINT64_MAX;
	for (unsigned page = 0, from; (size_t)page * COUNTERS_PAGE < end; page++) {
		if (!has_page(pages, page))
			continue;
		for (from = page;
		     (size_t)(page + 1) * COUNTERS_PAGE < end && has_page(pages, page + 1);)
			page++;
		if (!copy_range(collection, fd, (size_t)from * COUNTERS_PAGE,
				u64_min((uint64_t)(page + 1) * COUNTERS_PAGE, end)))
			return false;
	}
	return true;
}

/* Adds up the calls of libc: what libraries above it do ends there. Sockets are not storage. */
static void add_up_slots(struct collection *collection, struct counted *counted,
			 const struct counted_pages *pages, struct counts now[COUNTED_HANDLES])
{
	for (unsigned i = 0; i < COUNTERS_SLOTS; i++) {
		const struct counters_slot *slot = &collection->counters->slots[i];
		uint64_t link;
		unsigned layer;

		/* What was not copied is of another process. */
		if (!has_page(pages, counters_first_page(i)) ||
		    !has_page(pages, counters_last_page(i)))
			continue;
		link = atomic_load(&slot->key);
		layer = i < COUNTERS_RESERVED ? i : counters_layer(atomic_load(&slot->whose));
		if ((layer == LAYER_POSIX || layer == LAYER_STDIO) &&
		    link_kind(link) != LINK_NETWORK)
			add_slot(&now[find_handle(counted, i, link)], slot);
	}
}

/* What is new, without what a process has set back, which no honest one does. */
static size_t list_changes(const struct counted *counted, const struct counts *now,
			   struct observed_count *list)
{
	size_t n = 0;

	for (size_t i = 0; i < COUNTED_HANDLES; i++)
		for (int k = 0; k < LOAD_OPERATIONS; k++) {
			const struct counts *seen = &counted->seen[i];

			if (now[i].calls[k] <= seen->calls[k] || now[i].bytes[k] < seen->bytes[k])
				continue;
			list[n++] =
				(struct observed_count){ counted->links[i], (enum load_operation)k,
							 now[i].calls[k] - seen->calls[k],
							 now[i].bytes[k] - seen->bytes[k] };
		}
	return n;
}

static void read_counters(struct collection *collection, struct counted *counted)
{
	struct observed_count list[COUNTED_HANDLES * LOAD_OPERATIONS];
	struct counts now[COUNTED_HANDLES] = { 0 };
	struct counted_pages pages;
	size_t n;

	counted->read_ns = clock_now_ns();
	if (!copy_counters(collection, counted->fd, &pages))
		return;
	add_up_slots(collection, counted, &pages, now);
	n = list_changes(counted, now, list);
	if (!n ||
	    !observer_counts(collection->options.observer, counted->user, counted->key, list, n))
		return;
	counted->changed_ns = counted->read_ns;
	memcpy(counted->seen, now, sizeof(now));
}

/* Reads some of those whose turn it is. */
static void read_due_counters(struct collection *collection)
{
	int64_t due = clock_now_ns() - COUNTED_PERIOD_NS;
	size_t done = 0;

	for (size_t i = 0; i < collection->counted_count && done < COUNTED_AT_ONCE; i++) {
		struct counted *counted =
			collection->counted[collection->counted_next++ % collection->counted_count];

		if (counted->read_ns > due)
			continue;
		read_counters(collection, counted);
		done++;
	}
}

/* The run is over: reads its counters for the last time. */
static void end_counters(struct collection *collection, const struct reception_run *run)
{
	for (size_t i = collection->counted_count; i-- > 0;) {
		struct counted *counted = collection->counted[i];

		if (run->mode != POLICY_COUNTERS || counted->user != run->user ||
		    counted->key != run->key)
			continue;
		read_counters(collection, counted);
		counted_free(counted);
		collection->counted[i] = collection->counted[--collection->counted_count];
	}
}

/* --- the collecting thread --- */

static void take_message(struct collection *collection, const struct reception_message *message)
{
	size_t before = reception_counts(collection->reception).runs;
	struct err err = { 0 };

	keep_counters(collection, message);
	/* A refusal is counted by the reception. */
	reception_take(collection->reception, message, &err);
	if (reception_counts(collection->reception).runs > before)
		collection->options.on_begin(collection->options.arg, &message->user);
}

/* Looks for spools that were not handed over. */
static void scan(struct collection *collection)
{
	if (reception_scan(collection->reception))
		collection->options.on_begin(collection->options.arg, NULL);
}

static void take_inbox(struct collection *collection)
{
	size_t count;

	pthread_mutex_lock(&collection->lock);
	count = collection->waiting;
	memcpy(collection->taken, collection->inbox, count * sizeof(collection->inbox[0]));
	collection->waiting = 0;
	collection->counts = reception_counts(collection->reception);
	pthread_mutex_unlock(&collection->lock);
	for (size_t i = 0; i < count; i++)
		take_message(collection, &collection->taken[i]);
}

static void *collect(void *arg)
{
	struct collection *collection = arg;
	int64_t scanned_ns = 0;

	while (!atomic_load(&collection->stops)) {
		size_t found;

		take_inbox(collection);
		if (clock_now_ns() - scanned_ns > SCAN_NS) {
			scan(collection);
			scanned_ns = clock_now_ns();
		}
		found = reception_poll(collection->reception);
		read_due_counters(collection);
		atomic_store(&collection->is_full,
			     status_resident_bytes() > collection->options.resident_max);
		clock_sleep_ns(found > MUCH ? BUSY_NS : QUIET_NS);
	}
	return NULL;
}

static void see_release(void *arg, uint64_t ticket)
{
	struct collection *collection = arg;

	keeper_drop(collection->options.channel, ticket);
}

static struct observed observed_run(const struct reception_run *run)
{
	return (struct observed){ run->id, run->user, run->job,
				  run->mode == POLICY_COUNTERS ? run->key : 0 };
}

static void see_file(void *arg, const struct reception_run *run, file_id id, const char *path)
{
	struct collection *collection = arg;
	struct observed seen = observed_run(run);

	observer_file(collection->options.observer, &seen, id, path);
}

static void see_activities(void *arg, const struct reception_run *run, const struct activity *batch,
			   size_t n)
{
	struct collection *collection = arg;
	struct observed seen = observed_run(run);

	observer_activities(collection->options.observer, &seen, batch, n);
}

static void see_end(void *arg, const struct reception_end *end)
{
	struct collection *collection = arg;

	end_counters(collection, &end->run);
	observer_end(collection->options.observer, end->run.id);
	if (collection->options.on_end)
		collection->options.on_end(collection->options.arg, end);
}

/* --- start and stop --- */

static void release_counters(struct collection *collection)
{
	for (size_t i = 0; i < collection->counted_count; i++)
		counted_free(collection->counted[i]);
	free(collection->counters);
}

/* What an earlier worker had received. */
static int take_kept(struct collection *collection)
{
	struct kept kept;
	int r;

	while ((r = keeper_next(collection->options.channel, &kept)) > 0) {
		struct reception_message message = { .user = kept.user, .ticket = kept.ticket };

		if (collection->options.on_kept &&
		    collection->options.on_kept(collection->options.arg, &kept))
			continue;
		memcpy(&message.hello, kept.payload, sizeof(message.hello));
		for (; message.fd_count < kept.fd_count && message.fd_count < HANDOVER_DESCRIPTORS;
		     message.fd_count++)
			message.fds[message.fd_count] = kept.fds[message.fd_count];
		take_message(collection, &message);
	}
	return r;
}

static int open_reception(struct collection *collection, struct err *err)
{
	const struct collection_options *options = &collection->options;
	const struct config *config = options->config;
	struct reception_options reception = {
		.spools = options->spools,
		.traces = options->traces,
		.flight_ring = config_number(config, SETTING_FLIGHT_CALLS),
		.config = config,
		.on_end = see_end,
		.on_release = see_release,
		.on_activities = see_activities,
		.on_file = see_file,
		.arg = collection,
	};
	struct stat st;

	if (stat(options->spools, &st) != 0)
		return err_set(err, errno, "%s: %s", options->spools, strerror(errno));
	collection->device = st.st_dev;
	return reception_open(&collection->reception, &reception, err);
}

int collection_start(struct collection **made, const struct collection_options *options,
		     struct err *err)
{
	struct collection *collection = xcalloc(1, sizeof(*collection));
	int r;

	collection->options = *options;
	collection->counters = xcalloc(1, sizeof(*collection->counters));
	/* Larger than those of earlier workers. */
	collection->ticket = (uint64_t)clock_realtime_ns();
	pthread_mutex_init(&collection->lock, NULL);
	r = open_reception(collection, err);
	if (r == 0) {
		/* Runs of an earlier worker, which has perhaps not seen them begin. */
		options->on_begin(options->arg, NULL);
		r = take_kept(collection);
		if (r < 0)
			err_set(err, -r, "the keeper is gone: %s", strerror(-r));
	}
	if (r == 0) {
		r = -pthread_create(&collection->thread, NULL, collect, collection);
		if (r < 0)
			err_set(err, -r, "cannot start a thread: %s", strerror(-r));
	}
	if (r < 0) {
		release_counters(collection);
		reception_close(collection->reception);
		pthread_mutex_destroy(&collection->lock);
		free(collection);
		return r;
	}
	*made = collection;
	return 0;
}

void collection_stop(struct collection *collection)
{
	if (!collection)
		return;
	atomic_store(&collection->stops, true);
	pthread_join(collection->thread, NULL);
	for (size_t i = 0; i < collection->waiting; i++)
		for (size_t k = 0; k < collection->inbox[i].fd_count; k++)
			close(collection->inbox[i].fds[k]);
	release_counters(collection);
	reception_close(collection->reception);
	pthread_mutex_destroy(&collection->lock);
	free(collection);
}
