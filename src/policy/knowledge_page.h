/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Builds and publishes the knowledge page of a site (contract/knowledge.h). For the daemon.
 *
 * The page is bounded: entries that do not fit are counted and left out. Entries that are added in
 * the same order give the same page, and so the same digest, on all nodes.
 */
#ifndef SLUICE_POLICY_KNOWLEDGE_PAGE_H
#define SLUICE_POLICY_KNOWLEDGE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "contract/knowledge.h"

struct err;

struct knowledge_page {
	struct knowledge_hints *hints;
	struct knowledge_duration *durations;
	char mounts[KNOWLEDGE_MOUNTS][KNOWLEDGE_NAME_BYTES]; /* that entries name */
	uint32_t mount_count;
	char **points; /* mount points of the node */
	size_t point_count;
	size_t hint_count, hint_cap, duration_count, duration_cap;
	uint64_t left_out; /* entries that do not fit; complete after the page is published */
	uint64_t digest;   /* of the page that was published last; 0: none */
};

void knowledge_page_release(struct knowledge_page *page);

/* See struct knowledge_hints. */
struct knowledge_advice {
	const char *program;
	const char *filesystem; /* mount point; "": any */
	const char *extension;	/* "*": any */
	char mode;
	const char *hints;
	double gain;
	unsigned places;
};

/* An entry whose mount point has no place among KNOWLEDGE_MOUNTS would never be found, and is left
 * out. */
void knowledge_page_add_hints(struct knowledge_page *page, const struct knowledge_advice *advice);
void knowledge_page_add_duration(struct knowledge_page *page, const char *filesystem,
				 const struct knowledge_duration *duration);

/* Adds a mount point of the node. What is not named by entries is told apart from what is. */
void knowledge_page_add_mount(struct knowledge_page *page, const char *point);

/*
 * Publishes the entries as the file `path`, in place of an older page, and sets page->digest. Does
 * nothing if that file holds the same already.
 */
int knowledge_page_publish(struct knowledge_page *page, const char *path, struct err *err);

/* Copies a valid page to another path, in place of an older one. -EBADMSG: it is not valid. */
int knowledge_page_copy(const char *from, const char *path, struct err *err);

#endif
