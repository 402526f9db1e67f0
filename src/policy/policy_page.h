/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the policy page of a site (contract/policy.h), and prepares the directory in which the
 * processes of all users create their spools (contract/handover.h). For the daemon.
 */
#ifndef SLUICE_POLICY_POLICY_PAGE_H
#define SLUICE_POLICY_POLICY_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct policy;

/* Starts an empty page, by which nothing is recorded: it has no rules. */
int policy_page_init(struct policy *page, const char *socket, const char *spools, struct err *err);

/*
 * Creates the directory of the spools, or checks that it is the caller's and has the right mode:
 * everybody may create files in it, nobody but the caller may list it or remove files of others.
 * With a group other than POLICY_NOBODY, files in it belong to that group, so that a daemon that
 * is its member can read spools that were not handed over. No user must be a member of the group.
 */
int policy_page_prepare(const char *spools, uint32_t group, struct err *err);

/*
 * Publishes the page as SITE/policy, in place of an older one. Processes that are running hand over
 * their spools again. Sets epoch and generation of *page.
 */
int policy_page_publish(const char *site, struct policy *page, struct err *err);

#endif
