/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a job that a command's operands name: files, and directories of parts.
 */
#ifndef SLUICE_CMD_PART_LIST_H
#define SLUICE_CMD_PART_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct part_list {
	char **paths;
	size_t count, cap;
};

void part_list_add(struct part_list *list, const char *path);

bool part_list_is_directory(const char *path);

/*
 * Lists the parts. saved: takes the saved profile of a part in a directory, if there is one,
 * instead of the part, also if the part itself has been removed. The caller releases the list, also
 * on failure.
 */
int part_list_find(struct part_list *list, int argc, char *const *argv, bool saved,
		   struct err *err);
void part_list_release(struct part_list *list);

/* The name of the saved profile beside a part. The caller frees it. */
char *part_list_saved_path(const char *part);

#endif
