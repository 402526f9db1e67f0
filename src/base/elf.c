/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#if defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_NONE
#endif

/* The first word behind "#!", as the kernel reads it. */
static char *script_interpreter(FILE *f)
{
	char line[256], *p, *end;

	rewind(f);
	if (!fgets(line, sizeof(line), f))
		return NULL;
	p = line + 2 + strspn(line + 2, " \t");
	end = p + strcspn(p, " \t\n");
	return end > p ? xstrndup(p, (size_t)(end - p)) : NULL;
}

/* A note of ours in the segment, which may hold several; capture/attach.c makes it. */
static bool has_our_note(FILE *f, const Elf64_Phdr *ph)
{
	unsigned char bytes[4096];
	size_t n = ph->p_filesz < sizeof(bytes) ? (size_t)ph->p_filesz : sizeof(bytes), at = 0;
	Elf64_Nhdr note;

	if (fseeko(f, (off_t)ph->p_offset, SEEK_SET) != 0 || fread(bytes, 1, n, f) != n)
		return false;
	while (at + sizeof(note) <= n) {
		memcpy(&note, bytes + at, sizeof(note));
		at += sizeof(note);
		if (note.n_namesz == sizeof("Sluice") && at + sizeof("Sluice") <= n &&
		    !memcmp(bytes + at, "Sluice", sizeof("Sluice")))
			return true;
		if (note.n_namesz > n || note.n_descsz > n)
			return false;
		at += ((size_t)note.n_namesz + 3) / 4 * 4 + ((size_t)note.n_descsz + 3) / 4 * 4;
	}
	return false;
}

static enum elf_kind linkage(FILE *f, const Elf64_Ehdr *header)
{
	bool ours = false;
	Elf64_Phdr ph;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (fseeko(f, (off_t)(header->e_phoff + i * (uint64_t)sizeof(ph)), SEEK_SET) != 0 ||
		    fread(&ph, sizeof(ph), 1, f) != 1 || ph.p_type == PT_INTERP)
			return ELF_DYNAMIC;
		ours = ours || (ph.p_type == PT_NOTE && has_our_note(f, &ph));
	}
	return ours ? ELF_LINKED : ELF_STATIC;
}

static enum elf_kind elf_kind(FILE *f, const Elf64_Ehdr *header)
{
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != OWN_MACHINE)
		return ELF_FOREIGN;
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return ELF_UNKNOWN;
	return linkage(f, header);
}

enum elf_kind elf_inspect(const char *path, char **interpreter)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	Elf64_Ehdr header = { 0 };
	struct stat st;
	size_t n;

	*interpreter = NULL;
	if (stat(path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID))
		return ELF_SETUID;
	if (!f)
		return ELF_UNKNOWN;
	n = fread(&header, 1, sizeof(header), f);
	if (n >= 2 && !memcmp(&header, "#!", 2)) {
		*interpreter = script_interpreter(f);
		return *interpreter ? ELF_SCRIPT : ELF_UNKNOWN;
	}
	if (n < sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return ELF_UNKNOWN;
	return elf_kind(f, &header);
}
