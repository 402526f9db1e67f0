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
#include "base/job.h"
#include "base/mem.h"
#include "base/place.h"
#include "tune/program/launch.h"

/* Of a program without build id; of a script that is longer, so much counts. */
#define HEAD_BYTES (1u << 20)
#define MODEL_WORDS 24 /* characters of the processor's name */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The beginning of the file, its size, and what else makes it what it is. */
static char *hash_file(const char *path, const char *kind, const char *more)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
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

/* interpreter: what the command line gives the script to; NULL: nothing. */
static char *fingerprint_of(const char *path, const char *interpreter)
{
	AUTO_FREE char *named = NULL;
	AUTO_FREE char *id = NULL;

	if (interpreter)
		return hash_file(path, "text", base_of(interpreter));
	if (elf_inspect(path, &named) == ELF_SCRIPT)
		return hash_file(path, "text", base_of(named));
	id = elf_build_id(path);
	return id ? xprintf("build:%s", id) : hash_file(path, "bytes", "");
}

static char *path_of(const struct launch *launch)
{
	if (launch->interpreter)
		return place_exists(launch->argv[0]) ? xstrdup(launch->argv[0]) : NULL;
	return place_program(launch->argv[0]);
}

static char *arguments_of(const struct launch *launch)
{
	struct buf text = { 0 };

	for (size_t i = 1; i < launch->argc; i++) {
		if (i > 1)
			buf_putc(&text, ' ');
		buf_word(&text, launch->argv[i]);
	}
	return buf_take(&text);
}

/* The value of "model name", where the kernel has one: not on all machines. */
static void model_read(char line[256])
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

/* Of "AMD EPYC(TM) 7742 64-Core Processor @ 2.2GHz" the words that tell models apart. */
static void model_add(struct buf *out, char *model)
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
		if (!*n && out->len - from + strlen(word) < MODEL_WORDS)
			buf_printf(out, "-%s", word);
	}
}

static char *machine_word(void)
{
	struct buf text = { 0 };
	struct utsname names = { 0 };
	char model[256] = "";

	uname(&names);
	buf_printf(&text, "%s-%ld", names.machine, sysconf(_SC_NPROCESSORS_CONF));
	model_read(model);
	model_add(&text, model);
	return buf_take(&text);
}

char *identity_platform(const char *name)
{
	return name && *name && strcmp(name, "auto") != 0 ? xstrdup(name) : machine_word();
}

static uint32_t ranks_of(const struct launch *launch, const char *path)
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

void identity_of(struct identity *identity, char *const *argv, const char *platform)
{
	struct launch launch;
	char *path;

	launch_parse(&launch, argv);
	path = launch.argc ? path_of(&launch) : NULL;
	*identity = (struct identity){
		.program = xstrdup(launch.argc ? base_of(launch.argv[0]) : ""),
		.path = path,
		.fingerprint = path ? fingerprint_of(path, launch.interpreter) : xstrdup(""),
		.arguments = arguments_of(&launch),
		.launcher = xstrdup(launch.launcher),
		.ranks = ranks_of(&launch, path),
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
