/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The policy page of the node, which tells every process whether it is recorded and where it hands
 * its spool over (contract/policy.h, src/policy): the directory of the spools is prepared when the
 * daemon starts; the page is published when it serves, and again when its rules have changed.
 */
#ifndef SLUICE_DAEMON_PUBLICATION_H
#define SLUICE_DAEMON_PUBLICATION_H

struct config;
struct err;

/* Creates or checks the directory of the spools. */
int publication_prepare(const struct config *config, struct err *err);

/*
 * Reads the rules and publishes them. Running processes hand over their spools again. Returns the
 * number of rules. If the rules are invalid, the page that is there stays. A site without a file of
 * rules has none: only `sluice run` records then.
 *
 * The page stays when the daemon ends, so that processes go on and are collected later.
 */
int publication_update(const struct config *config, struct err *err);

#endif
