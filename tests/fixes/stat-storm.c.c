/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

#include <sys/inotify.h>

/* The other process makes the file that this one waits for. */
static void make_file(void)
{
	usleep(20000);
	close(file_of(MIB));
}

static void program(void)
{
	struct stat s;
#ifdef FIX
	char events[4096];
#include FIX
	int rank = rank_fork();

	if (rank)
		make_file();
	else
		MUST(read(notes, events, sizeof(events)) > 0);
#else
	int rank = rank_fork(), tries = 0;

	if (rank)
		make_file();
	else
		while (stat(path, &s) < 0 || tries < 600) /* also if the file is there early */
			tries++;
#endif
	rank_join(rank);
	MUST(stat(path, &s) == 0);
}
