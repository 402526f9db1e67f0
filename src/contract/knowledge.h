/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The knowledge page: what the database of a site has learned about programs, in a file that the
 * daemon of each node writes (src/policy/knowledge_page.h) and that processes map read-only. A
 * process finds the hints for a file, or the expected duration of a call, in constant time and
 * without a message. Guest-safe.
 *
 *   SITE/knowledge    this page; SITE is that of contract/policy.h
 *
 * The file is a struct knowledge, then `hint_slots` entries of type struct knowledge_hints and
 * `duration_slots` of type struct knowledge_duration: two hash tables with linear probing. It has
 * no pointers. It is complete when it gets its name, is never changed, and is replaced by another
 * file of the same name. A process that has mapped it keeps what it has mapped.
 *
 * Two pages with the same digest hold the same, on whichever node. Only where other file systems
 * are mounted (`others`) differs between nodes.
 */
#ifndef SLUICE_CONTRACT_KNOWLEDGE_H
#define SLUICE_CONTRACT_KNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "contract/hints.h"

#define KNOWLEDGE_MAGIC UINT64_C(0x31574f4e4b4c53) /* "SLKNOW1" */
#define KNOWLEDGE_VERSION 2
#define KNOWLEDGE_NAME "knowledge"

#define KNOWLEDGE_HINT_SLOTS 4096      /* at most; a power of two */
#define KNOWLEDGE_DURATION_SLOTS 65536 /* at most; a power of two */
#define KNOWLEDGE_PROBES 32	       /* slots that are searched for a key */
#define KNOWLEDGE_MOUNTS 16
#define KNOWLEDGE_OTHERS 128
#define KNOWLEDGE_NAME_BYTES 64
#define KNOWLEDGE_TEXT_BYTES 344

/* Hints for the files of a program. A slot is free if program is "". */
struct knowledge_hints {
	char program[KNOWLEDGE_NAME_BYTES];    /* as contract/program.h names it */
	char filesystem[KNOWLEDGE_NAME_BYTES]; /* mount point; "": any */
	char extension[23];		       /* "*": any; see hints_extension() */
	char mode;			       /* see hints_mode() */
	char hints[KNOWLEDGE_TEXT_BYTES];      /* KEY=VALUE;KEY=VALUE */
	float gain;			       /* how much faster than the defaults */
	/* Without a file system: on how many it was seen to be at least as fast as the defaults;
	 * unknown ones count as two. */
	uint32_t places;
	uint64_t check; /* knowledge_hash() of what is before */
};

/* The expected duration of a call. A slot is free if key is 0. */
struct knowledge_duration {
	uint64_t key;		     /* knowledge_duration_key() */
	uint64_t calls;		     /* that it was learned from */
	uint64_t median_ns, slow_ns; /* 99 % of the calls take at most slow_ns */
};

struct knowledge {
	uint64_t magic;
	uint32_t version;
	uint32_t hint_slots, duration_slots; /* 0 or a power of two */
	uint32_t mount_count;
	uint64_t digest; /* knowledge_hash() of mounts and entries */
	/* Mount points that entries name, the longest first. */
	char mounts[KNOWLEDGE_MOUNTS][KNOWLEDGE_NAME_BYTES];
	/* Mount points of this node that are below one of these, the longest first. One that is
	 * also in `mounts` hides it: something below it has no place here. */
	char others[KNOWLEDGE_OTHERS][KNOWLEDGE_NAME_BYTES];
	uint32_t other_count, unused;
	uint64_t check; /* knowledge_hash() of what is before */
};

_Static_assert(sizeof(struct knowledge_hints) == 512, "no padding");
_Static_assert(sizeof(struct knowledge) % 8 == 0 && sizeof(struct knowledge_duration) == 32,
	       "hashed in words");

static inline uint64_t knowledge_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* A hash of whole words; continues the hash of earlier ones. Never 0. */
static inline uint64_t knowledge_hash(uint64_t hash, const void *bytes, size_t count)
{
	for (size_t i = 0; i + 8 <= count; i += 8) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + i, 8);
		hash = knowledge_mix(hash, word);
	}
	return hash ? hash : 1;
}

static inline uint64_t knowledge_text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return knowledge_mix(hash, 0xff);
}

static inline uint64_t knowledge_hints_key(const char *program, const char *filesystem,
					   const char *extension, char mode)
{
	uint64_t hash = knowledge_text_hash(UINT64_C(0xcbf29ce484222325), program);

	hash = knowledge_text_hash(knowledge_text_hash(hash, filesystem), extension);
	return knowledge_mix(hash, (unsigned char)mode);
}

/* program may be "*" for all programs, filesystem "" for all; bytes_class is that of the store. */
static inline uint64_t knowledge_duration_key(const char *program, const char *filesystem,
					      const char *pattern, const char *layer,
					      const char *call, unsigned bytes_class)
{
	uint64_t hash = knowledge_text_hash(UINT64_C(0x84222325cbf29ce4), program);

	hash = knowledge_text_hash(knowledge_text_hash(hash, filesystem), pattern);
	hash = knowledge_text_hash(knowledge_text_hash(hash, layer), call);
	hash = knowledge_mix(hash, bytes_class);
	return hash ? hash : 1;
}

static inline bool knowledge_is_slots(uint32_t slots, uint32_t max)
{
	return slots <= max && (slots & (slots - 1)) == 0;
}

static inline uint64_t knowledge_bytes(uint32_t hint_slots, uint32_t duration_slots)
{
	return sizeof(struct knowledge) + (uint64_t)hint_slots * sizeof(struct knowledge_hints) +
	       (uint64_t)duration_slots * sizeof(struct knowledge_duration);
}

#define KNOWLEDGE_BYTES_MAX knowledge_bytes(KNOWLEDGE_HINT_SLOTS, KNOWLEDGE_DURATION_SLOTS)

/*
 * Is it a complete page of this version? `bytes` is the size of the file, at least that of struct
 * knowledge. Entries are checked when they are found.
 */
static inline bool knowledge_is_valid(const struct knowledge *k, uint64_t bytes)
{
	if (k->magic != KNOWLEDGE_MAGIC || k->version != KNOWLEDGE_VERSION ||
	    !knowledge_is_slots(k->hint_slots, KNOWLEDGE_HINT_SLOTS) ||
	    !knowledge_is_slots(k->duration_slots, KNOWLEDGE_DURATION_SLOTS) ||
	    knowledge_bytes(k->hint_slots, k->duration_slots) != bytes ||
	    k->mount_count > KNOWLEDGE_MOUNTS || k->other_count > KNOWLEDGE_OTHERS)
		return false;
	for (uint32_t i = 0; i < k->mount_count; i++)
		if (!memchr(k->mounts[i], 0, sizeof(k->mounts[i])))
			return false;
	for (uint32_t i = 0; i < k->other_count; i++)
		if (!memchr(k->others[i], 0, sizeof(k->others[i])))
			return false;
	return k->check == knowledge_hash(0, k, offsetof(struct knowledge, check));
}

static inline const struct knowledge_hints *knowledge_hint_table(const struct knowledge *k)
{
	return (const struct knowledge_hints *)(k + 1);
}

static inline const struct knowledge_duration *knowledge_duration_table(const struct knowledge *k)
{
	return (const struct knowledge_duration *)(knowledge_hint_table(k) + k->hint_slots);
}

static inline bool knowledge_entry_is_sound(const struct knowledge_hints *e)
{
	return memchr(e->program, 0, sizeof(e->program)) &&
	       memchr(e->filesystem, 0, sizeof(e->filesystem)) &&
	       memchr(e->extension, 0, sizeof(e->extension)) &&
	       memchr(e->hints, 0, sizeof(e->hints)) &&
	       e->check == knowledge_hash(0, e, offsetof(struct knowledge_hints, check));
}

/* The entry for exactly these; NULL if there is none. The page must be valid. */
static inline const struct knowledge_hints *knowledge_find_hints(const struct knowledge *k,
								 const char *program,
								 const char *filesystem,
								 const char *extension, char mode)
{
	uint64_t key = knowledge_hints_key(program, filesystem, extension, mode);

	for (uint32_t i = 0; k->hint_slots && i < KNOWLEDGE_PROBES; i++) {
		const struct knowledge_hints *e =
			&knowledge_hint_table(k)[(key + i) & (k->hint_slots - 1)];

		if (!e->program[0])
			return NULL;
		if (e->mode == mode && !strncmp(e->program, program, sizeof(e->program)) &&
		    !strncmp(e->filesystem, filesystem, sizeof(e->filesystem)) &&
		    !strncmp(e->extension, extension, sizeof(e->extension)))
			return knowledge_entry_is_sound(e) ? e : NULL;
	}
	return NULL;
}

/* The same for a duration; `key` is that of knowledge_duration_key(). */
static inline const struct knowledge_duration *knowledge_find_duration(const struct knowledge *k,
								       uint64_t key)
{
	for (uint32_t i = 0; k->duration_slots && i < KNOWLEDGE_PROBES; i++) {
		const struct knowledge_duration *d =
			&knowledge_duration_table(k)[(key + i) & (k->duration_slots - 1)];

		if (!d->key || d->key == key)
			return d->key ? d : NULL;
	}
	return NULL;
}

static inline bool knowledge_is_below(const char *mount, const char *path)
{
	size_t n = strlen(mount);

	return n && !strncmp(path, mount, n) && (n == 1 || path[n] == '/' || !path[n]);
}

/*
 * The mount point of a path if it is one of those that the page names; "" if the path is on another
 * file system. Paths are compared as texts: asking the kernel could block.
 */
static inline const char *knowledge_filesystem(const struct knowledge *k, const char *path)
{
	uint32_t mount = 0, other = 0;

	if (path[0] != '/')
		return "";
	while (mount < k->mount_count && !knowledge_is_below(k->mounts[mount], path))
		mount++;
	if (mount == k->mount_count)
		return "";
	while (other < k->other_count && !knowledge_is_below(k->others[other], path))
		other++;
	if (other < k->other_count && strlen(k->others[other]) >= strlen(k->mounts[mount]))
		return "";
	return k->mounts[mount];
}

/* Hints without a file system that were only seen on one are not for files on others. */
static inline bool knowledge_is_general(const struct knowledge_hints *e)
{
	return e->places != 1;
}

/*
 * The hints for a file of a program: those for its file system and extension, else those for its
 * extension, else those for any extension. directory is the one that a relative path refers to;
 * NULL: the file system is not looked at, and hints from one file system are for all. NULL if there
 * are none. The page must be valid.
 */
static inline const struct knowledge_hints *knowledge_suggest(const struct knowledge *k,
							      const char *program, const char *path,
							      const char *directory, int64_t amode)
{
	const char *filesystem =
		directory ? knowledge_filesystem(k, path[0] == '/' ? path : directory) : "";
	char extension[HINTS_EXTENSION_BYTES], mode = hints_mode(amode);
	const struct knowledge_hints *found;

	hints_extension(path, extension);
	for (;;) {
		found = knowledge_find_hints(k, program, filesystem, extension, mode);
		if (!found)
			found = knowledge_find_hints(k, program, filesystem, "*", mode);
		if (!filesystem[0])
			return found && (!directory || knowledge_is_general(found)) ? found : NULL;
		if (found)
			return found;
		filesystem = "";
	}
}

#endif
