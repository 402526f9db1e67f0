/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/program/identity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/place.h"
#include "tune/program/launch.h"

/* The fingerprint covers this much of a script, or of a program without a build id. */
#define HEAD_BYTES (1u << 20)
#define MODEL_CHARS 24 /* of the processor's name */

/* Hashes the beginning of the file, its size, and the text `more`. */
static char *hash_file(const char *path, const char *kind, const char *more)
{
	AUTO_FCLOSE FILE *f = file_open_stream(path, NULL);
	AUTO_FREE char *bytes = xmalloc(HEAD_BYTES);
	size_t n = f ? fread(bytes, 1, HEAD_BYTES, f) : 0;
	AUTO_FREE char *about = NULL;
	XXH128_hash_t hash;
	struct stat st;

	if (!f || fstat(fileno(f), &st) != 0)
		return xstrdup("");
	about = xprintf("%s %lld", more, (long long)st.st_size);
	hash = XXH3_128bits_withSeed(bytes, n, XXH3_64bits(about, strlen(about)));
	return xprintf("%s:%016llx%016llx", kind, (unsigned long long)hash.high64,
		       (unsigned long long)hash.low64);
}

/* interpreter: the program that the command line starts with this script; NULL: none. */
static char *make_fingerprint(const char *path, const char *interpreter)
{
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *id = NULL;

	if (interpreter)
		return hash_file(path, "text", path_base_name(interpreter));
	if (elf_inspect(path, &named) == ELF_SCRIPT)
		return hash_file(path, "text", path_base_name(named));
	id = elf_build_id(path);
	return id ? xprintf("build:%s", id) : hash_file(path, "bytes", "");
}

static char *find_path(const struct launch *launch)
{
	if (launch->interpreter)
		return place_exists(launch->argv[0]) ? xstrdup(launch->argv[0]) : NULL;
	return place_program(launch->argv[0]);
}

static char *quote_arguments(const struct launch *launch)
{
	struct buf text = { 0 };

	for (size_t i = 1; i < launch->argc; i++) {
		if (i > 1)
			buf_putc(&text, ' ');
		buf_put_shell_word(&text, launch->argv[i]);
	}
	return buf_take(&text);
}

/* Reads the "model name" of the processor; "" if the kernel does not report one. */
static void read_model(char line[256])
{
	AUTO_FCLOSE FILE *f = fopen("/proc/cpuinfo", "re");
	const char *colon;

	while (f && fgets(line, 256, f)) {
		if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':'))) {
			memmove(line, colon + 1, strlen(colon));
			return;
		}
	}
	line[0] = 0;
}

/* Adds the words that distinguish models: "-epyc-7742-64" of "AMD EPYC(TM) 7742 64-Core Processor @
 * 2.2GHz". */
static void add_model(struct buf *out, char *model)
{
	static const char *const noise[] = { "cpu", "processor", "intel", "amd", "core", NULL };
	size_t from = out->len;
	char *end = model + strcspn(model, "@\n"), *rest = NULL;

	*end = 0;
	for (char *c = model; *c; c++) {
		if (*c == '(' && strchr(c, ')'))
			while (*c != ')')
				*c++ = ' ';
		*c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : ' ';
	}
	for (char *word = strtok_r(model, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const char *const *n = noise;

		while (*n && strcmp(*n, word) != 0)
			n++;
		if (!*n && out->len - from + strlen(word) < MODEL_CHARS)
			buf_printf(out, "-%s", word);
	}
}

static char *describe_machine(void)
{
	struct buf text = { 0 };
	struct utsname names = { 0 };
	char model[256] = "";

	uname(&names);
	buf_printf(&text, "%s-%ld", names.machine, sysconf(_SC_NPROCESSORS_CONF));
	read_model(model);
	add_model(&text, model);
	return buf_take(&text);
}

char *identity_platform(const char *name)
{
	return name && *name && strcmp(name, "auto") != 0 ? xstrdup(name) : describe_machine();
}

static uint32_t count_ranks(const struct launch *launch, const char *path)
{
	AUTO_FREE char *interpreter = NULL;
	struct job job;
	uint32_t ranks = launch->ranks;

	if (launch->launcher)
		return ranks;
	if (job_find(&job) && job.size > 0)
		ranks = (uint32_t)job.size;
	else if (path && elf_inspect(path, &interpreter) == ELF_SCRIPT &&
		 launch_is_shell(interpreter))
		ranks = 0;
	job_release(&job);
	return ranks;
}

void identity_init(struct identity *identity, char *const *argv, const char *platform)
{
	struct launch launch;
	char *path;

	launch_parse(&launch, argv);
	path = launch.argc ? find_path(&launch) : NULL;
	*identity = (struct identity){
		.program = xstrdup(launch.name),
		.path = path,
		.fingerprint = path ? make_fingerprint(path, launch.interpreter) : xstrdup(""),
		.arguments = quote_arguments(&launch),
		.launcher = xstrdup(launch.launcher),
		.ranks = count_ranks(&launch, path),
		.platform = identity_platform(platform),
		.filesystem = filesystem_of("."),
	};
}

void identity_release(struct identity *identity)
{
	free(identity->program);
	free(identity->path);
	free(identity->fingerprint);
	free(identity->arguments);
	free(identity->launcher);
	free(identity->platform);
	*identity = (struct identity){ 0 };
}
