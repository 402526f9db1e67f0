/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Targets on Lustre: OSTs, and servers as sets of OSTs. liblustreapi, loaded on first use, creates
 * files with a given striping. The attribute lustre.lov lists the OSTs of a file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "contract/striping.h"
#include "predict/forecast/probe/targets.h"

#define STRIPE_BYTES (1u << 20)

struct llapi_layout;

struct llapi {
	int (*file_create)(const char *name, unsigned long long stripe_size, int stripe_offset,
			   int stripe_count, int stripe_pattern);
	void (*level_set)(int level); /* of the messages that the library prints */
	struct llapi_layout *(*layout_alloc)(void);
	void (*layout_free)(struct llapi_layout *layout);
	int (*count_set)(struct llapi_layout *layout, uint64_t count);
	int (*size_set)(struct llapi_layout *layout, uint64_t bytes);
	int (*index_set)(struct llapi_layout *layout, int stripe, uint64_t ost);
	int (*layout_create)(const char *path, int flags, int mode,
			     const struct llapi_layout *layout);
};

/* The functions to load: symbol name and member of struct llapi. */
static const struct symbol {
	const char *name;
	size_t offset;
} symbols[] = {
	{ "llapi_file_create", offsetof(struct llapi, file_create) },
	{ "llapi_msg_set_level", offsetof(struct llapi, level_set) },
	{ "llapi_layout_alloc", offsetof(struct llapi, layout_alloc) },
	{ "llapi_layout_free", offsetof(struct llapi, layout_free) },
	{ "llapi_layout_stripe_count_set", offsetof(struct llapi, count_set) },
	{ "llapi_layout_stripe_size_set", offsetof(struct llapi, size_set) },
	{ "llapi_layout_ost_index_set", offsetof(struct llapi, index_set) },
	{ "llapi_layout_file_create", offsetof(struct llapi, layout_create) },
};

/* dlopen() of a library that is already loaded is cheap. */
static int llapi_load(struct llapi *api, struct err *err)
{
	void *library = dlopen("liblustreapi.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = dlopen("liblustreapi.so", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return err_set(err, ENOSYS,
			       "cannot load liblustreapi.so, which is needed to select OSTs; "
			       "install the package lustre-client");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		memcpy((char *)api + symbols[i].offset, &symbol, sizeof(symbol));
	}
	if (api->level_set)
		api->level_set(0);
	return 0;
}

static int parse_osts(struct target *target, const char *value, struct err *err)
{
	AUTO_FREE char *words = xstrdup(value);
	char *save = NULL;

	if (target->ost_count)
		return err_set(err, EINVAL, "give only one of ost=, osts= and oss=");
	for (char *w = strtok_r(words, "|", &save); w; w = strtok_r(NULL, "|", &save)) {
		uint64_t ost;

		if (unit_parse_count(w, &ost) < 0 || ost > UINT16_MAX)
			return err_set(err, EINVAL, "invalid OST number \"%s\"", w);
		if (target->ost_count == TARGET_OSTS)
			return err_set(err, EINVAL, "too many OSTs: at most %d are possible",
				       TARGET_OSTS);
		target->osts[target->ost_count++] = (uint32_t)ost;
	}
	return 0;
}

static int lustre_set_option(struct target *target, const char *key, const char *value,
			     struct err *err)
{
	target->is_server = target->is_server || strcmp(key, "oss") == 0;
	if (strcmp(key, "ost") == 0 && strchr(value, '|'))
		return err_set(err, EINVAL, "ost= takes one number; use osts= for several");
	if (strcmp(key, "ost") && strcmp(key, "osts") && strcmp(key, "oss"))
		return -ENOENT;
	return parse_osts(target, value, err);
}

static int lustre_finish(struct target *target, struct err *err)
{
	size_t n = 0;

	if (!target->ost_count)
		return err_set(err, EINVAL, "missing OST: expected %s", target->ops->options);
	if (*target->name)
		return 0;
	n = (size_t)snprintf(target->name, sizeof(target->name), "%s",
			     target->is_server ? "oss" : "ost");
	for (size_t i = 0; i < target->ost_count && n < sizeof(target->name); i++)
		n += (size_t)snprintf(target->name + n, sizeof(target->name) - n, "%s%u",
				      i ? "-" : "", target->osts[i]);
	return 0;
}

static int create_on_ost(const struct llapi *api, const char *path, uint32_t ost, struct err *err)
{
	int r, fd;

	if (!api->file_create)
		return err_set(err, ENOSYS, "liblustreapi.so has no llapi_file_create");
	r = api->file_create(path, STRIPE_BYTES, (int)ost, 1, 0);
	if (r < 0)
		return err_set(err, -r, "%s: cannot create a file on OST %u: %s", path, ost,
			       strerror(-r));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		fd = err_set(err, errno, "%s: %s", path, strerror(errno));
		unlink(path);
	}
	return fd;
}

static int create_striped(const struct llapi *api, const struct target *target, const char *path,
			  struct err *err)
{
	struct llapi_layout *layout;
	int r, fd = -1;

	if (!api->layout_alloc || !api->layout_free || !api->count_set || !api->size_set ||
	    !api->index_set || !api->layout_create)
		return err_set(err, ENOSYS,
			       "liblustreapi.so is too old for osts=; use ost= or oss=");
	layout = api->layout_alloc();
	if (!layout)
		return err_set(err, ENOMEM, "%s: %s", path, strerror(ENOMEM));
	r = api->count_set(layout, target->ost_count);
	if (r >= 0)
		r = api->size_set(layout, STRIPE_BYTES);
	for (size_t i = 0; r >= 0 && i < target->ost_count; i++)
		r = api->index_set(layout, (int)i, target->osts[i]);
	if (r >= 0)
		fd = api->layout_create(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600,
					layout);
	if (fd < 0)
		fd = err_set(err, errno ? errno : EIO, "%s: cannot create a file on these OSTs: %s",
			     path, strerror(errno));
	api->layout_free(layout);
	return fd;
}

static uint32_t ost_of_turn(const struct target *target, size_t turn)
{
	return target->osts[target->is_server ? turn % target->ost_count : 0];
}

static int lustre_make(const struct target *target, const char *path, size_t turn, struct err *err)
{
	struct llapi api = { 0 };
	int r = llapi_load(&api, err);

	if (r < 0)
		return r;
	if (target->ost_count > 1 && !target->is_server)
		return create_striped(&api, target, path, err);
	return create_on_ost(&api, path, ost_of_turn(target, turn), err);
}

static bool ost_is_expected(const struct target *target, uint32_t ost, size_t turn)
{
	if (target->is_server || target->ost_count == 1)
		return ost == ost_of_turn(target, turn);
	for (size_t i = 0; i < target->ost_count; i++)
		if (target->osts[i] == ost)
			return true;
	return false;
}

static int lustre_verify(const struct target *target, int fd, size_t turn, struct err *err)
{
	_Alignas(8) char bytes[sizeof(struct lustre_stripes) + LUSTRE_POOL_BYTES +
			       TARGET_OSTS * sizeof(struct lustre_object)];
	struct lustre_stripes head;
	ssize_t n = fgetxattr(fd, LUSTRE_STRIPES, bytes, sizeof(bytes));
	size_t at = sizeof(head);

	if (n < (ssize_t)sizeof(head))
		return -ENODATA;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != LUSTRE_STRIPES_1 && head.magic != LUSTRE_STRIPES_3)
		return -ENODATA;
	at += head.magic == LUSTRE_STRIPES_3 ? LUSTRE_POOL_BYTES : 0;
	for (size_t i = 0; i < head.count; i++, at += sizeof(struct lustre_object)) {
		struct lustre_object stripe;

		if (at + sizeof(stripe) > (size_t)n)
			return -ENODATA;
		memcpy(&stripe, bytes + at, sizeof(stripe));
		if (!ost_is_expected(target, stripe.target, turn))
			return err_set(err, EXDEV,
				       "%s: the file for target \"%s\" was put on OST %u; "
				       "check whether the wanted OST is in service",
				       target->path, target->name, stripe.target);
	}
	return 0;
}

static bool lustre_is_reusable(const struct target *target)
{
	return !target->is_server;
}

const struct target_ops target_lustre = {
	.kind = "lustre",
	.options = "ost=N, osts=N|N|... or oss=N|N|...",
	.set_option = lustre_set_option,
	.finish = lustre_finish,
	.make = lustre_make,
	.verify = lustre_verify,
	.is_reusable = lustre_is_reusable,
};
