/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/recent.h"

#include <stddef.h>
#include <stdlib.h>

#include <uthash.h>

#include "base/mem.h"

/* The key has no padding, because uthash compares its bytes. */
struct recent_key {
	uint64_t id;
	uint64_t process;
};

struct recent_entry {
	struct recent_key key;
	UT_hash_handle hh;
	max_align_t value[];
};

/* The default of uthash takes longer than everything else that is done with an access. */
static unsigned hash_of(const struct recent_key *key)
{
	return (unsigned)((key->id + key->process * UINT64_C(0xc2b2ae3d27d4eb4f)) *
				  UINT64_C(0x9e3779b97f4a7c15) >>
			  32);
}

void recent_init(struct recent *recent, size_t cap, size_t value_bytes)
{
	*recent = (struct recent){ .cap = cap, .value_bytes = value_bytes };
}

static struct recent_entry **latest_of(struct recent *recent, unsigned hash)
{
	return &recent->latest[hash % RECENT_LATEST];
}

static void entry_free(struct recent *recent, struct recent_entry *entry)
{
	struct recent_entry **latest = latest_of(recent, entry->hh.hashv);

	HASH_DEL(recent->entries, entry);
	if (*latest == entry)
		*latest = NULL;
	free(entry);
	recent->count--;
}

void recent_release(struct recent *recent)
{
	while (recent->entries)
		entry_free(recent, recent->entries);
	*recent = (struct recent){ 0 };
}

static struct recent_entry *entry_find(struct recent *recent, struct call_ref call)
{
	struct recent_key key = { call.id, call.process };
	unsigned hash = hash_of(&key);
	struct recent_entry **latest = latest_of(recent, hash), *entry = *latest;

	if (entry && entry->key.id == call.id && entry->key.process == call.process)
		return entry;
	HASH_FIND_BYHASHVALUE(hh, recent->entries, &key, sizeof(key), hash, entry);
	if (entry)
		*latest = entry;
	return entry;
}

void *recent_find(struct recent *recent, struct call_ref call)
{
	struct recent_entry *entry = entry_find(recent, call);

	return entry ? entry->value : NULL;
}

void *recent_put(struct recent *recent, struct call_ref call)
{
	struct recent_entry *entry;
	unsigned hash;

	if (recent->count == recent->cap)
		entry_free(recent, recent->entries);
	entry = xcalloc(1, sizeof(*entry) + recent->value_bytes);
	entry->key = (struct recent_key){ call.id, call.process };
	hash = hash_of(&entry->key);
	HASH_ADD_BYHASHVALUE(hh, recent->entries, key, sizeof(entry->key), hash, entry);
	recent->count++;
	*latest_of(recent, hash) = entry;
	return entry->value;
}

void recent_drop(struct recent *recent, struct call_ref call)
{
	struct recent_entry *entry = entry_find(recent, call);

	if (entry)
		entry_free(recent, entry);
}
