/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lets the backlog of the user (contract/backlog.h) take part in the exchange with other users of
 * the node (contract/exchange.h), while a run places its files by the adaptive rule. The recorder
 * calls it; the program takes no part. Several recorders of a user take turns by themselves, so
 * that the daemon is asked ten times per second about a backlog with which files are placed, and
 * once per second about one whose runs do something else.
 *
 * Nothing depends on the daemon: without it, each user knows his own programs only.
 */
#ifndef SLUICE_RUN_SHARING_H
#define SLUICE_RUN_SHARING_H

struct collector;
struct config;
struct sharing;

/*
 * Asks for the first time, before the program starts, and waits for the answer up to 100 ms. NULL:
 * there is nothing to share, or nobody to share it with. The collector must outlive it.
 */
struct sharing *sharing_open(const struct config *config, const struct collector *collector);

/* Asks again if it is time, and takes the answer if there is one. Never waits. Accepts NULL. */
void sharing_poll(struct sharing *sharing);

void sharing_close(struct sharing *sharing); /* accepts NULL */

#endif
