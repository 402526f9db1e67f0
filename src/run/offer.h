/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Offers the complete trace of a `sluice run` to the daemon of the node, so that the site gets the
 * run although the program did not hand its spools to the daemon. The trace stays the user's; the
 * daemon receives a descriptor and copies what the policy of the site asks for. Nothing waits for
 * the daemon, and nothing depends on it.
 */
#ifndef SLUICE_RUN_OFFER_H
#define SLUICE_RUN_OFFER_H

struct config;
struct err;

/*
 * Offers a container by the setting site.use. Returns 1 if the daemon was told, 0 if the site keeps
 * nothing of this run or the setting says no, and -errno if there is no daemon or policy.
 */
int offer_trace(const struct config *config, const char *container, struct err *err);

#endif
