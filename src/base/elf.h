/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What kind of program a file is, as far as preloading a library into it is concerned, and which
 * build of it.
 */
#ifndef SLUICE_BASE_ELF_H
#define SLUICE_BASE_ELF_H

enum elf_kind {
	ELF_DYNAMIC, /* has an interpreter: LD_PRELOAD works */
	ELF_STATIC,  /* no interpreter: nothing can be preloaded */
	ELF_LINKED,  /* likewise, but our wrappers were linked in */
	ELF_FOREIGN, /* another machine or word size than ours */
	ELF_SCRIPT,  /* begins with #!; *interpreter names the program that runs it */
	ELF_SETUID,  /* gains privileges: the loader ignores LD_PRELOAD */
	ELF_UNKNOWN, /* not readable, or nothing we know */
};

/* Looks at the file. For a script *interpreter is the caller's to free; otherwise NULL. */
enum elf_kind elf_inspect(const char *path, char **interpreter);

/*
 * The build id that the linker left in a program or library of our word size, as hexadecimal
 * digits; NULL where there is none. The caller frees.
 */
char *elf_build_id(const char *path);

#endif
