/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/life.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

uint64_t life_start(int pid)
{
	AUTO_FREE char *path = xprintf("/proc/%d/stat", pid);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char text[1024], *fields;
	uint64_t start = 0;
	long threads = 0;
	char state = 0;

	if (!f || !fgets(text, sizeof(text), f))
		return 0;
	/* The name, which may hold anything, ends at the last bracket; the state is field 3. */
	fields = strrchr(text, ')');
	if (!fields ||
	    sscanf(fields + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d "
		   "%" SCNu64,
		   &state, &threads, &start) != 3)
		return 0;
	/* A leader that has left while others go on looks like a zombie, but has threads. */
	if (state == 'X' || (state == 'Z' && threads <= 1))
		return 0;
	return start;
}

bool life_thread(int pid, int tid)
{
	AUTO_FREE char *path = xprintf("/proc/%d/task/%d", pid, tid);

	return access(path, F_OK) == 0 || errno != ENOENT;
}

uint64_t life_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void life_directory_remove(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}
