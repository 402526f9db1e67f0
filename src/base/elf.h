/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inspects executable files: whether a library can be preloaded into a program, and which build of
 * the program it is.
 */
#ifndef SLUICE_BASE_ELF_H
#define SLUICE_BASE_ELF_H

enum elf_kind {
	ELF_DYNAMIC, /* has a dynamic loader: LD_PRELOAD works */
	ELF_STATIC,  /* has no dynamic loader: nothing can be preloaded */
	ELF_LINKED,  /* has no dynamic loader, but Sluice's wrappers were linked in */
	ELF_MUSL,    /* has the dynamic loader of musl, whose libc Sluice does not know */
	ELF_GO,	     /* written in Go, which makes system calls without libc */
	ELF_FOREIGN, /* built for another architecture or word size */
	ELF_SCRIPT,  /* begins with #!; *interpreter names the program that runs it */
	ELF_SETUID,  /* gives this user privileges: the loader ignores LD_PRELOAD */
	ELF_UNKNOWN, /* not readable, or of an unknown format */
};

/* For a script, *interpreter is set and the caller frees it; otherwise it is NULL. */
enum elf_kind elf_inspect(const char *path, char **interpreter);

/*
 * The build ID that the linker stored in a 64-bit program or library, as hexadecimal digits, or
 * NULL if there is none. The caller frees it.
 */
char *elf_build_id(const char *path);

#endif
