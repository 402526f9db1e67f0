/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The events of a process that the rest of the guest acts on: record/ announces them through this
 * table, so that it depends neither on in-line plug-ins nor on the injection of parameters. The
 * one table is in capture/guest.c; unit tests define their own. Guest.
 *
 * All entries are required. None of them is on the hot path. They must preserve errno.
 */
#ifndef SLUICE_CAPTURE_RECORD_HOOKS_H
#define SLUICE_CAPTURE_RECORD_HOOKS_H

#include <stdint.h>

struct self;

struct record_hooks {
	/*
	 * The process has joined its run (capture_membership is valid) and is about to capture in
	 * this mode (enum capture_mode). The gate is still closed, so nothing that is called here
	 * is recorded. Signals are blocked. Called once, and once more in every forked child.
	 */
	void (*joined)(uint32_t mode);

	/* The constructor of the library runs: other libraries may be loaded. Once per image. */
	void (*started)(void);

	/* In a forked child, before it joins: the state inherited from the parent is invalid. */
	void (*forked)(struct self *s);

	/* The process is sealed (sandbox.h): no part of the guest may make system calls any more.
	 */
	void (*sealed)(void);

	/* The thread or the process ends: add what the thread has counted to the spool's header. */
	void (*flush)(struct self *s);
};

extern const struct record_hooks record_hooks __attribute__((visibility("hidden")));

#endif
