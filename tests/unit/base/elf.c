/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"

/* Creates a file with these bytes. The caller frees its path. */
static char *make_file(const void *bytes, size_t n, mode_t mode)
{
	char *path = check_path("elf-XXXXXX");
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, bytes, n) == (ssize_t)n);
	REQUIRE(fchmod(fd, mode) == 0);
	close(fd);
	return path;
}

static void check_kind(const void *bytes, size_t n, mode_t mode, enum elf_kind kind,
		       const char *interpreter)
{
	AUTO_FREE char *path = make_file(bytes, n, mode);
	AUTO_FREE char *found = NULL;

	CHECK_INT(elf_inspect(path, &found), kind);
	if (interpreter)
		CHECK_TEXT(found, interpreter);
	else
		CHECK(!found);
}

/* The ELF header of this test program. */
static Elf64_Ehdr own_header(void)
{
	Elf64_Ehdr header = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY);

	REQUIRE(fd >= 0);
	REQUIRE(read(fd, &header, sizeof(header)) == sizeof(header));
	close(fd);
	return header;
}

static void this_program_is_dynamic(void)
{
	char *interpreter = NULL;

	CHECK_INT(elf_inspect("/proc/self/exe", &interpreter), ELF_DYNAMIC);
	CHECK(!interpreter);
}

static void a_program_without_interpreter_is_static(void)
{
	Elf64_Ehdr header = own_header();

	header.e_phnum = 0;
	check_kind(&header, sizeof(header), 0755, ELF_STATIC, NULL);
}

static void another_machine_or_word_size_is_foreign(void)
{
	Elf64_Ehdr header = own_header();

	header.e_machine = EM_S390;
	check_kind(&header, sizeof(header), 0755, ELF_FOREIGN, NULL);
	header = own_header();
	header.e_ident[EI_CLASS] = ELFCLASS32;
	check_kind(&header, sizeof(header), 0755, ELF_FOREIGN, NULL);
}

static void a_script_names_its_interpreter(void)
{
	check_kind("#!/bin/sh\n", 10, 0755, ELF_SCRIPT, "/bin/sh");
	check_kind("#! /usr/bin/env python3\n", 24, 0755, ELF_SCRIPT, "/usr/bin/env");
}

static void set_user_id_matters_if_the_user_changes(void)
{
	Elf64_Ehdr header = own_header();
	AUTO_FREE char *path = make_file(&header, sizeof(header), 0755);
	char *interpreter = NULL;

	if (geteuid() != 0) /* other users cannot give files away */
		return;
	header.e_phnum = 0;
	check_kind(&header, sizeof(header), 04755, ELF_STATIC, NULL);
	REQUIRE(chown(path, 1, 0) == 0 && chmod(path, 04755) == 0);
	CHECK_INT(elf_inspect(path, &interpreter), ELF_SETUID);
	REQUIRE(chown(path, 0, 1) == 0 && chmod(path, 02755) == 0);
	CHECK_INT(elf_inspect(path, &interpreter), ELF_SETUID);
}

/* A program with one segment, one section and 64 bytes of text, which both of them name. */
static void check_named(uint32_t segment_type, const char *text, enum elf_kind kind)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr section;
		char text[64];
	} file = { .header = own_header() };
	size_t at = offsetof(__typeof__(file), text);

	memcpy(file.text, text, strlen(text));
	file.header.e_phoff = offsetof(__typeof__(file), segment);
	file.header.e_phnum = 1;
	file.segment = (Elf64_Phdr){ .p_type = segment_type, .p_offset = at, .p_filesz = 64 };
	file.header.e_shoff = offsetof(__typeof__(file), section);
	file.header.e_shnum = 1;
	file.header.e_shstrndx = 0;
	file.section = (Elf64_Shdr){ .sh_offset = at, .sh_size = 64 };
	check_kind(&file, sizeof(file), 0755, kind, NULL);
}

static void the_loader_tells_musl_from_glibc(void)
{
	check_named(PT_INTERP, "/lib/ld-musl-x86_64.so.1", ELF_MUSL);
	check_named(PT_INTERP, "/lib64/ld-linux-x86-64.so.2", ELF_DYNAMIC);
}

static void a_section_shows_a_go_program(void)
{
	check_named(PT_LOAD, ".go.buildinfo", ELF_GO);
	check_named(PT_INTERP, ".go.buildinfo", ELF_GO);
	check_named(PT_LOAD, ".go.buildinfo2", ELF_STATIC);
}

static void files_of_other_formats_are_unknown(void)
{
	char *interpreter = NULL;

	check_kind("", 0, 0755, ELF_UNKNOWN, NULL);
	check_kind("hello", 5, 0755, ELF_UNKNOWN, NULL);
	check_kind("\177ELF", 4, 0755, ELF_UNKNOWN, NULL);
	CHECK_INT(elf_inspect("/nonexistent", &interpreter), ELF_UNKNOWN);
}

/* A program with two note segments; the second one has the build ID. */
static char *make_noted(uint32_t id_bytes)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		struct {
			Elf64_Nhdr header;
			char name[8];
			char data[4];
		} other;
		struct {
			Elf64_Nhdr header;
			char name[4];
			unsigned char id[4];
		} build;
	} file = { .header = own_header() };
	size_t other = offsetof(__typeof__(file), other), build = offsetof(__typeof__(file), build);

	file.header.e_phnum = 2;
	file.header.e_phoff = sizeof(file.header);
	file.segments[0] = (Elf64_Phdr){ .p_type = PT_NOTE,
					 .p_offset = other,
					 .p_filesz = sizeof(file.other) };
	file.segments[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					 .p_offset = build,
					 .p_filesz = sizeof(file.build) };
	file.other.header = (Elf64_Nhdr){ 8, 4, NT_GNU_BUILD_ID };
	memcpy(file.other.name, "FreeBSD", 8);
	file.build.header = (Elf64_Nhdr){ 4, id_bytes, NT_GNU_BUILD_ID };
	memcpy(file.build.name, "GNU", 4);
	memcpy(file.build.id, "\x01\xab\x00\xff", 4);
	return make_file(&file, sizeof(file), 0755);
}

static void a_build_id_is_found_among_other_notes(void)
{
	AUTO_FREE char *path = make_noted(4);
	AUTO_FREE char *id = elf_build_id(path);

	CHECK_TEXT(id, "01ab00ff");
}

static void a_truncated_or_missing_build_id_is_not_returned(void)
{
	AUTO_FREE char *cut = make_noted(UINT32_MAX);
	AUTO_FREE char *script = make_file("#!/bin/sh\n", 10, 0755);

	CHECK(!elf_build_id(cut));
	CHECK(!elf_build_id(script));
	CHECK(!elf_build_id("/nonexistent"));
}

TESTS(TEST(this_program_is_dynamic), TEST(a_program_without_interpreter_is_static),
      TEST(another_machine_or_word_size_is_foreign), TEST(a_script_names_its_interpreter),
      TEST(set_user_id_matters_if_the_user_changes), TEST(the_loader_tells_musl_from_glibc),
      TEST(a_section_shows_a_go_program), TEST(files_of_other_formats_are_unknown),
      TEST(a_build_id_is_found_among_other_notes),
      TEST(a_truncated_or_missing_build_id_is_not_returned))
