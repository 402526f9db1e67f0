/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests that link the guest's sources: joining a run is replaced by a membership of our own,
 * with a spool that the test drains itself. Single include per program.
 */
#ifndef SLUICE_TESTS_GUEST_H
#define SLUICE_TESTS_GUEST_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/record/capture.h"
#include "check.h"
#include "observe/collect/drain.h"

struct membership capture_membership;
static struct gate gate;
static struct control control;
static struct spool spool;

bool attach(void)
{
	return false;
}

static void *map_new(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	void *p;

	REQUIRE(fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(p != MAP_FAILED);
	close(fd);
	return p;
}

/* Guest and host through one mapping of the header: a sanitizer knows memory by its address. */
static void addresses_share(uint32_t segments)
{
	struct membership *m = &capture_membership;

	for (uint32_t i = 0; i < segments; i++)
		REQUIRE(spool_grow());
	munmap(m->header, SPOOL_HEADER_BYTES);
	m->header = spool.header.base;
}

/* A fresh spool of this number of segments; the lanes of this thread are empty. */
static void guest_start(uint32_t segments, enum capture_mode mode)
{
	struct membership *m = &capture_membership;
	struct err err = { 0 };

	memset(m, 0, sizeof(*m));
	memset(&capture_self, 0, sizeof(capture_self));
	memset(&gate, 0, sizeof(gate));
	spool_forget();
	counters_forget();
	snprintf(m->path, sizeof(m->path), "/tmp/sluice-unit-%d%s", (int)getpid(), SPOOL_SUFFIX);
	m->header = map_new(m->path, SPOOL_HEADER_BYTES);
	m->header->magic = SPOOL_MAGIC;
	m->header->version = SPOOL_VERSION;
	atomic_store(&m->header->state, SPOOL_LIVE);
	m->header->pid = (int32_t)getpid();
	m->control = &control;
	control = (struct control){ .chunks_max = SPOOL_FIRST_CHUNKS +
						  (segments - 1) * SPOOL_SEGMENT_CHUNKS,
				    .clock = CLOCK_SOURCE_COUNTER };
	atomic_store(&control.mode, mode);
	gate.clock = CLOCK_SOURCE_COUNTER;
	atomic_store(&gate.mode, mode);
	capture_gate = &gate;
	REQUIRE(spool_open(&spool, m->path, &err) == 0);
	addresses_share(segments);
}

static void guest_stop(void)
{
	AUTO_FREE char *counters = xstrdup(capture_membership.path);

	atomic_store(&gate.mode, CAPTURE_DETACHED);
	spool_close(&spool);
	unlink(capture_membership.path);
	strcpy(strstr(counters, SPOOL_SUFFIX), "");
	AUTO_FREE char *path = xprintf("%s%s", counters, COUNTERS_SUFFIX);
	unlink(path);
}

#endif
