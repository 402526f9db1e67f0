/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/mem.h"

#if defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#else
#define OWN_MACHINE EM_NONE
#endif

/* The first word after "#!", as the kernel reads it. */
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

#define NOTES_MAX 4096 /* only this many bytes of a segment are read */

struct note {
	const char *name;	    /* header.n_namesz bytes */
	const unsigned char *bytes; /* header.n_descsz bytes */
	Elf64_Nhdr header;
};

/* Reads the notes of a segment and returns the number of bytes read. */
static size_t notes_read(FILE *f, const Elf64_Phdr *ph, unsigned char bytes[NOTES_MAX])
{
	size_t n = size_min(ph->p_filesz, NOTES_MAX);

	if (fseeko(f, (off_t)ph->p_offset, SEEK_SET) != 0 || fread(bytes, 1, n, f) != n)
		return 0;
	return n;
}

/* Decodes the note at *at and advances *at to the next one. False if no complete note is left. */
static bool notes_next(const unsigned char *bytes, size_t n, size_t *at, struct note *note)
{
	size_t name = *at + sizeof(note->header), data;

	if (name > n)
		return false;
	memcpy(&note->header, bytes + *at, sizeof(note->header));
	if (note->header.n_namesz > n || note->header.n_descsz > n)
		return false;
	data = name + ((size_t)note->header.n_namesz + 3) / 4 * 4;
	if (data + note->header.n_descsz > n)
		return false;
	note->name = (const char *)bytes + name;
	note->bytes = bytes + data;
	*at = data + ((size_t)note->header.n_descsz + 3) / 4 * 4;
	return true;
}

static bool note_is_of(const struct note *note, const char *owner)
{
	size_t n = strlen(owner) + 1;

	return note->header.n_namesz == n && !memcmp(note->name, owner, n);
}

/* capture/record/attach.c puts this note into programs that are linked with the wrappers. */
static bool has_sluice_note(FILE *f, const Elf64_Phdr *ph)
{
	unsigned char bytes[NOTES_MAX];
	size_t n = notes_read(f, ph, bytes), at = 0;
	struct note note;

	while (notes_next(bytes, n, &at, &note))
		if (note_is_of(&note, "Sluice"))
			return true;
	return false;
}

static bool header_read(FILE *f, const Elf64_Ehdr *header, unsigned i, Elf64_Phdr *ph)
{
	return fseeko(f, (off_t)(header->e_phoff + i * (uint64_t)sizeof(*ph)), SEEK_SET) == 0 &&
	       fread(ph, sizeof(*ph), 1, f) == 1;
}

/* Does the dynamic loader of the program belong to musl? */
static bool has_musl_loader(FILE *f, const Elf64_Phdr *ph)
{
	char path[256];
	size_t n = size_min(ph->p_filesz, sizeof(path) - 1);

	if (fseeko(f, (off_t)ph->p_offset, SEEK_SET) != 0 || fread(path, 1, n, f) != n)
		return false;
	path[n] = 0;
	return strstr(path, "/ld-musl");
}

static enum elf_kind find_linkage(FILE *f, const Elf64_Ehdr *header)
{
	bool ours = false;
	Elf64_Phdr ph;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (!header_read(f, header, i, &ph))
			return ELF_DYNAMIC;
		if (ph.p_type == PT_INTERP)
			return has_musl_loader(f, &ph) ? ELF_MUSL : ELF_DYNAMIC;
		ours = ours || (ph.p_type == PT_NOTE && has_sluice_note(f, &ph));
	}
	return ours ? ELF_LINKED : ELF_STATIC;
}

#define SECTION_NAMES_MAX 4096 /* only this many bytes of the names of sections are read */

/* Does a section have this name? The linker of Go makes one, also for stripped programs. */
static bool has_section(FILE *f, const Elf64_Ehdr *header, const char *name)
{
	off_t at = (off_t)(header->e_shoff + header->e_shstrndx * (uint64_t)sizeof(Elf64_Shdr));
	char names[SECTION_NAMES_MAX];
	Elf64_Shdr names_header;
	size_t n;

	if (!header->e_shoff || header->e_shentsize != sizeof(names_header) ||
	    fseeko(f, at, SEEK_SET) != 0 || fread(&names_header, sizeof(names_header), 1, f) != 1 ||
	    fseeko(f, (off_t)names_header.sh_offset, SEEK_SET) != 0)
		return false;
	n = fread(names, 1, size_min(names_header.sh_size, sizeof(names)), f);
	return memmem(names, n, name, strlen(name) + 1) != NULL;
}

static enum elf_kind elf_kind(FILE *f, const Elf64_Ehdr *header)
{
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != OWN_MACHINE)
		return ELF_FOREIGN;
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return ELF_UNKNOWN;
	if (has_section(f, header, ".go.buildinfo"))
		return ELF_GO;
	return find_linkage(f, header);
}

/* Would the kernel give privileges to a program that this user executes? */
static bool gains_privileges(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return true;
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid())
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

enum elf_kind elf_inspect(const char *path, char **interpreter)
{
	AUTO_FCLOSE FILE *f = file_open_stream(path, NULL);
	Elf64_Ehdr header = { 0 };
	size_t n;

	*interpreter = NULL;
	if (gains_privileges(path))
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

static char *read_build_id(FILE *f, const Elf64_Phdr *ph)
{
	unsigned char bytes[NOTES_MAX];
	size_t n = notes_read(f, ph, bytes), at = 0;
	struct buf text = { 0 };
	struct note note;

	while (!text.len && notes_next(bytes, n, &at, &note)) {
		if (note.header.n_type != NT_GNU_BUILD_ID || !note_is_of(&note, "GNU"))
			continue;
		for (size_t i = 0; i < note.header.n_descsz; i++)
			buf_printf(&text, "%02x", note.bytes[i]);
	}
	return text.len ? buf_take(&text) : NULL;
}

char *elf_build_id(const char *path)
{
	AUTO_FCLOSE FILE *f = file_open_stream(path, NULL);
	Elf64_Ehdr header;
	Elf64_Phdr ph;
	char *id = NULL;

	if (!f || fread(&header, sizeof(header), 1, f) != 1 ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(ph))
		return NULL;
	for (unsigned i = 0; !id && i < header.e_phnum && header_read(f, &header, i, &ph); i++)
		if (ph.p_type == PT_NOTE)
			id = read_build_id(f, &ph);
	return id;
}
