/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/mapping.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

static struct mapping *open_mappings;
static atomic_flag list_lock = ATOMIC_FLAG_INIT;

/* Who holds the lock accesses no mapping, so the handler never waits for its own thread. */
static void lock_list(void)
{
	while (atomic_flag_test_and_set_explicit(&list_lock, memory_order_acquire))
		sched_yield();
}

static void unlock_list(void)
{
	atomic_flag_clear_explicit(&list_lock, memory_order_release);
}

static struct mapping *find_mapping(const void *address)
{
	struct mapping *m;

	lock_list();
	m = open_mappings;
	while (m && (uintptr_t)address - (uintptr_t)m->base >= m->bytes)
		m = m->next;
	unlock_list();
	return m;
}

/* Replaces a mapping whose file was truncated by zeros; the access is then repeated. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	struct mapping *m = find_mapping(info->si_addr);
	int saved = errno;

	(void)context;
	if (m && mmap(m->base, m->bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
		m->lost = 1;
	else
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	errno = saved;
}

int mapping_open(struct mapping *mapping, int fd, size_t bytes)
{
	static atomic_bool installed;
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*mapping = (struct mapping){ 0 };
	if (base == MAP_FAILED)
		return -errno;
	if (!installed && sigaction(SIGBUS, &action, NULL) == 0)
		installed = true;
	lock_list();
	*mapping = (struct mapping){ .base = base, .bytes = bytes, .next = open_mappings };
	open_mappings = mapping;
	unlock_list();
	return 0;
}

void mapping_rest(const struct mapping *mapping)
{
	if (mapping->base)
		madvise(mapping->base, mapping->bytes, MADV_DONTNEED);
}

void mapping_close(struct mapping *mapping)
{
	struct mapping **at = &open_mappings;

	if (!mapping->base)
		return;
	lock_list();
	while (*at != mapping)
		at = &(*at)->next;
	*at = mapping->next;
	unlock_list();
	munmap(mapping->base, mapping->bytes);
	*mapping = (struct mapping){ 0 };
}
