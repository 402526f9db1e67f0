/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/life.h"

#include <dirent.h>
#include <errno.h>
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
	char text[1024], *p;

	if (!f || !fgets(text, sizeof(text), f))
		return 0;
	p = strrchr(text, ')');
	if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X')
		return 0;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
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
