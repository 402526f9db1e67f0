/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/elf.h"
#include "base/mem.h"
#include "learn/file/blob.h"

/* Loads per core differ if one is more than this factor times the other, plus an allowance for the
 * few tasks of an idle machine. */
#define LOAD_FACTOR 2
#define LOAD_ALLOWANCE 0.5
#define DAY_S (24 * 60 * 60)

static void identify_file(const char *path, char build[64])
{
	AUTO_FREE char *id = *path ? elf_build_id(path) : NULL;
	struct stat st;

	build[0] = 0;
	if (id)
		snprintf(build, 64, "%s", id);
	else if (*path && stat(path, &st) == 0)
		snprintf(build, 64, "%lld bytes of %lld", (long long)st.st_size,
			 (long long)st.st_mtime);
}

void environment_detect(struct environment *environment, const char *library, const char *version)
{
	struct environment e = { .time_s = (int64_t)time(NULL) };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname name;

	if (getloadavg(&e.load, 1) != 1)
		e.load = NAN;
	e.cores = cores > 0 ? (uint64_t)cores : 1;
	if (uname(&name) == 0) {
		snprintf(e.host, sizeof(e.host), "%.63s", name.nodename);
		snprintf(e.kernel, sizeof(e.kernel), "%.63s", name.release);
	}
	snprintf(e.library, sizeof(e.library), "%s", library);
	snprintf(e.version, sizeof(e.version), "%s", version);
	identify_file(e.library, e.build);
	*environment = e;
}

static void compare_age(const struct environment *then, const struct environment *now,
			struct buf *out)
{
	int64_t days = (now->time_s - then->time_s) / DAY_S;

	if (days >= ENVIRONMENT_DAYS)
		buf_printf(out, "the model is %lld days old\n", (long long)days);
}

static void compare_load(const struct environment *then, const struct environment *now,
			 struct buf *out)
{
	double before = then->load / (double)then->cores, after = now->load / (double)now->cores;

	if (after > LOAD_FACTOR * before + LOAD_ALLOWANCE ||
	    before > LOAD_FACTOR * after + LOAD_ALLOWANCE)
		buf_printf(out,
			   "the load of this host is %.1f per core; it was %.1f when the model was "
			   "calibrated\n",
			   after, before);
}

static void compare_software(const struct environment *then, const struct environment *now,
			     struct buf *out)
{
	if (strcmp(then->kernel, now->kernel) != 0)
		buf_printf(out, "the kernel is %s; the model was calibrated with %s\n", now->kernel,
			   then->kernel);
	if (!*then->library || strcmp(then->build, now->build) == 0)
		return;
	if (*now->build)
		buf_printf(out, "%s has changed since the model was calibrated (%s)\n",
			   then->library, then->version);
	else
		buf_printf(out, "%s, with which the model was calibrated, no longer exists (%s)\n",
			   then->library, then->version);
}

void environment_compare(const struct environment *then, const struct environment *now,
			 struct buf *out)
{
	compare_age(then, now, out);
	if (strcmp(then->host, now->host) != 0) {
		buf_printf(out,
			   "the model was calibrated on host %s; its load and libraries cannot be "
			   "compared from here\n",
			   then->host);
		return;
	}
	compare_load(then, now, out);
	compare_software(then, now, out);
}

void environment_save(const struct environment *e, struct buf *buf)
{
	const char *const texts[] = { e->host, e->kernel, e->library, e->version, e->build };

	blob_put_u64(buf, (uint64_t)e->time_s);
	blob_put_real(buf, e->load);
	blob_put_u64(buf, e->cores);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		blob_put_text(buf, texts[i]);
}

static void read_text(char *out, size_t size, struct blob *blob)
{
	AUTO_FREE char *text = blob_take_text(blob);

	blob_expect(blob, strlen(text) < size);
	snprintf(out, size, "%s", text);
}

void environment_load(struct environment *environment, struct blob *blob)
{
	struct environment e = { .time_s = (int64_t)blob_take_u64(blob) };

	e.load = blob_take_real(blob);
	e.cores = blob_take_u64(blob);
	read_text(e.host, sizeof(e.host), blob);
	read_text(e.kernel, sizeof(e.kernel), blob);
	read_text(e.library, sizeof(e.library), blob);
	read_text(e.version, sizeof(e.version), blob);
	read_text(e.build, sizeof(e.build), blob);
	blob_expect(blob, e.cores > 0 && !(e.load < 0));
	*environment = e;
}
