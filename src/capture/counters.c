/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that are counted instead of recorded: in counters mode, and when the spool is full. The
 * table is a small file beside the spool, made at first need; without room for it only the loss
 * itself is counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture.h"
#include "trace/call.h"
#include "trace/group.h"

#define PROBES 64

static _Atomic(struct counters_file *) counters;
static atomic_bool making;

/* path of the spool with the other suffix */
static void path_make(char path[SPOOL_TEXT_BYTES])
{
	size_t n = strlen(capture_membership.path) - (sizeof(SPOOL_SUFFIX) - 1);

	memcpy(path, capture_membership.path, n);
	memcpy(path + n, COUNTERS_SUFFIX, sizeof(COUNTERS_SUFFIX));
}

static struct counters_file *counters_make(void)
{
	char path[SPOOL_TEXT_BYTES + sizeof(COUNTERS_SUFFIX)];
	struct counters_file *file = MAP_FAILED;
	long fd;

	path_make(path);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	if (file_allocate(fd, 0, sizeof(*file)))
		file = (struct counters_file *)syscall(SYS_mmap, NULL, sizeof(*file),
						       PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (file == MAP_FAILED)
		return NULL;
	file->magic = COUNTERS_MAGIC;
	return file;
}

/* One thread makes the file; the others count nothing meanwhile, and a failure is final. */
static struct counters_file *counters_get(void)
{
	struct counters_file *file = atomic_load_explicit(&counters, memory_order_acquire);
	int saved = errno;
	signal_mask held;

	if (file || atomic_load_explicit(&making, memory_order_relaxed))
		return file;
	held = signals_hold();
	if (!atomic_exchange(&making, true))
		file = counters_make();
	if (file)
		atomic_store_explicit(&counters, file, memory_order_release);
	signals_release(held);
	errno = saved;
	return file;
}

void counters_forget(void)
{
	atomic_store(&counters, NULL);
	atomic_store(&making, false);
}

/* layer is kept plus one: a slot whose key is set and whose layer is 0 is just being made. */
static struct counters_slot *slot_find(struct counters_file *file, uint64_t link, unsigned layer)
{
	uint64_t hash = (link + layer) * UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned i = 0; link && i < PROBES; i++) {
		struct counters_slot *slot =
			&file->slots[COUNTERS_RESERVED +
				     ((hash >> 40) + i) % (COUNTERS_SLOTS - COUNTERS_RESERVED)];
		uint64_t key = atomic_load_explicit(&slot->key, memory_order_relaxed);

		if (!key && atomic_compare_exchange_strong(&slot->key, &key, link)) {
			atomic_store(&slot->layer, layer + 1);
			return slot;
		}
		if (key == link && atomic_load(&slot->layer) == layer + 1)
			return slot;
	}
	return &file->slots[layer];
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void counters_add(const uint64_t *w)
{
	struct counters_file *file = counters_get();
	const struct call_info *call = &call_table[record_call(w)];
	uint64_t link = 0, result = 0;
	struct counter *counter;
	unsigned layer = call->layer;

	if (!file)
		return;
	for (unsigned i = 0; i < call->field_count; i++) {
		if (call->fields[i] == FIELD_RESULT)
			result = w[RECORD_HEAD_WORDS + i];
		if (call->fields[i] == FIELD_LINK)
			link = w[RECORD_HEAD_WORDS + i];
	}
	if (link_kind(link) == LINK_NETWORK)
		layer = LAYER_NETWORK;
	counter = &slot_find(file, link, layer)->groups[group_of_class(call->class)];
	add(&counter->calls, 1);
	add(&counter->errors, record_error(w) != 0);
	add(&counter->ticks, record_duration(w));
	if (class_moves_bytes(call->class) && (int64_t)result > 0)
		add(&counter->bytes, result);
}
