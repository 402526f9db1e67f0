/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests that link the guest's sources: joining a run is replaced by a membership of our own,
 * with a spool that the test drains itself. Single include per program.
 */
#ifndef SLUICE_TESTS_GUEST_H
#define SLUICE_TESTS_GUEST_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/record/capture.h"
#include "capture/record/sandbox.h"
#include "check.h"
#include "observe/collect/drain.h"

struct membership capture_membership;
atomic_bool sandbox_sealed;
static struct gate gate;
static struct control control;
static struct spool spool;

bool attach(void)
{
	return false;
}

bool program_is_skipped(const char *skip, size_t bytes)
{
	(void)skip, (void)bytes;
	return false;
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

/* The path of a file of the run: the spool's, with another suffix. To be freed. */
static char *guest_path(const char *suffix)
{
	const struct membership *m = &capture_membership;

	return xprintf("%s/%.*s%s", m->directory, (int)(strlen(m->name) - strlen(SPOOL_SUFFIX)),
		       m->name, suffix);
}

static void spool_create(struct membership *m)
{
	int error;
	long directory;

	strcpy(m->directory, "/tmp/sluice-unit-XXXXXX");
	REQUIRE(mkdtemp(m->directory));
	directory = directory_open(m->directory, &m->directory_id);
	REQUIRE(directory >= 0);
	strcpy(m->name, "0" SPOOL_SUFFIX);
	m->header = file_create(directory, m->name, SPOOL_HEADER_BYTES, &m->spool_id, &error);
	REQUIRE(m->header);
	close((int)directory);
}

/* A fresh spool of this number of segments; the lanes of this thread are empty. */
static void guest_start(uint32_t segments, enum capture_mode mode)
{
	struct membership *m = &capture_membership;
	struct err err = { 0 };
	AUTO_FREE char *path = NULL;

	memset(m, 0, sizeof(*m));
	memset(&capture_self, 0, sizeof(capture_self));
	memset(&gate, 0, sizeof(gate));
	spool_forget();
	counters_forget();
	spool_create(m);
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
	path = guest_path(SPOOL_SUFFIX);
	REQUIRE(spool_open(&spool, path, &err) == 0);
	addresses_share(segments);
}

static void guest_stop(void)
{
	AUTO_FREE char *path = guest_path(SPOOL_SUFFIX);
	AUTO_FREE char *counters = guest_path(COUNTERS_SUFFIX);

	atomic_store(&gate.mode, CAPTURE_DETACHED);
	spool_close(&spool);
	unlink(path);
	unlink(counters);
	rmdir(capture_membership.directory);
}

#endif
