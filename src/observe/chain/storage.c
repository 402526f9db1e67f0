/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-11.
 */
#include "observe/chain/storage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/integer.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "contract/hints.h"
#include "observe/chain/chain.h"
#include "observe/chain/fuse.h"
#include "observe/chain/links.h"
#include "observe/chain/objects.h"
#include "observe/chain/sockets.h"
#include "trace/format.h"

#define UNKNOWN_ERROR_NS INT64_C(1000000000) /* of the clock of a host; also the greatest */

/* A file of clients, as the notes describe it. */
struct inode {
	struct objects_layout layout;
	uint64_t pool;	      /* hash of its name; 0: unknown */
	uint64_t object_pool; /* number + 1; 0: unknown */
	bool is_doubtful;     /* notes or objects contradict each other */
	bool is_opaque;	      /* calls have written unknown bytes */
};

/* A path on a host that a note is of. */
struct place {
	uint64_t number; /* of the inode */
	struct inode *inode;
};

/* What a call may do to a file. */
enum role {
	ROLE_NONE,
	ROLE_OPEN,
	ROLE_DUP,
	ROLE_REMOVE,
	ROLE_WRITE,
	ROLE_START, /* of an asynchronous write */
	ROLE_MAP,
	ROLE_OPAQUE, /* writes unknown bytes */
};

/* A call that has written, of a client or a server. */
struct writer {
	uint64_t id;
	int64_t start_ns, stop_ns;
	int64_t bytes;
	uint32_t process;
	uint32_t transfer; /* number + 1; 0: none yet */
	file_id file;
	uint32_t removals; /* of the file, before it was opened */
	int64_t offset;
	const struct place *place; /* of a client */
	uint8_t state;		   /* of a server: enum chain_state */
};

struct writers {
	struct writer *list;
	size_t count, cap;
};

struct object {
	struct objects_name name;
	struct inode *inode; /* NULL: unknown */
	uint64_t store;	     /* hash of its folder */
};

struct storage {
	const struct trace_head *head;
	uint8_t *roles;		 /* enum role, by call */
	uint32_t *hosts;	 /* numbers, by process */
	int64_t *errors_ns;	 /* by host */
	bool *are_clients;	 /* by process: it has used such files */
	struct object **objects; /* by file; NULL: none */
	bool *are_placed;	 /* by file: it has a place on some host */
	uint32_t *removals;	 /* by file: recorded calls that have renamed or removed it */
	struct map places;	 /* by path and host */
	struct map inodes;	 /* by number */
	struct map opened;	 /* removals before a file was opened, if any, by handle */
	struct writers clients, servers;
	uint64_t buffered; /* writes of servers whose bytes are not known */
	int64_t full_ns;   /* start of the first write beyond the limit; INT64_MAX: none */
};

/* --- files --- */

static uint64_t place_key(const char *path, const char *host)
{
	return XXH3_64bits_withSeed(path, strlen(path), XXH3_64bits(host, strlen(host))) | 1;
}

/* Returns the number of the inode; 0: the note does not tell the layout. */
static uint64_t read_note(const struct note *note, struct inode *inode)
{
	const char *at = text_or_empty(note->value);
	uint64_t inode_number = 0;
	char key[64], value[64];

	*inode = (struct inode){ 0 };
	if (!text_equal(note->kind, NOTE_LAYOUT) || !note->name)
		return 0;
	while (hints_next(&at, key, sizeof(key), value, sizeof(value))) {
		uint64_t number = strtoull(value, NULL, 10);

		if (!strcmp(key, "inode"))
			inode_number = number;
		else if (!strcmp(key, "striping_unit"))
			inode->layout.unit = number;
		else if (!strcmp(key, "stripe_count"))
			inode->layout.count = number;
		else if (!strcmp(key, "object_size"))
			inode->layout.object_bytes = number;
		else if (!strcmp(key, "pool"))
			inode->pool = XXH3_64bits(value, strlen(value));
	}
	return objects_layout_is_valid(&inode->layout) ? inode_number : 0;
}

static struct inode *add_inode(struct storage *s, uint64_t number, const struct inode *noted)
{
	struct inode *inode = map_get(&s->inodes, number);

	if (!inode) {
		inode = xmalloc(sizeof(*inode));
		*inode = *noted;
		map_put(&s->inodes, number, inode);
	} else if (memcmp(&inode->layout, &noted->layout, sizeof(noted->layout)) != 0 ||
		   inode->pool != noted->pool) {
		inode->is_doubtful = true;
	}
	return inode;
}

static void add_place(struct storage *s, const struct note *note)
{
	struct inode noted;
	uint64_t number = read_note(note, &noted), key;
	struct place *place;

	if (!number)
		return;
	key = place_key(note->name, text_or_empty(note->host));
	place = map_get(&s->places, key);
	if (!place) {
		place = xcalloc(1, sizeof(*place));
		place->number = number;
		place->inode = add_inode(s, number, &noted);
		map_put(&s->places, key, place);
	} else if (place->number != number) {
		place->inode->is_doubtful = true;
		add_inode(s, number, &noted)->is_doubtful = true;
	}
}

static void add_object(struct storage *s, file_id file)
{
	const char *path = s->head->files[file];
	struct objects_name name;
	size_t length = objects_read_name(&name, path);
	struct object *object;

	if (!length)
		return;
	object = xmalloc(sizeof(*object));
	*object = (struct object){ .name = name,
				   .inode = map_get(&s->inodes, name.inode),
				   .store = XXH3_64bits(path, length) };
	s->objects[file] = object;
	if (!object->inode)
		return;
	if (object->inode->object_pool && object->inode->object_pool != name.pool + 1)
		object->inode->is_doubtful = true;
	object->inode->object_pool = name.pool + 1;
}

/* Returns whether there are files of clients and objects. */
static bool add_files(struct storage *s)
{
	struct map paths = { 0 };
	bool has_objects = false;

	for (size_t i = 0; i < s->head->note_count; i++) {
		struct inode noted;

		add_place(s, &s->head->notes[i]);
		if (read_note(&s->head->notes[i], &noted))
			map_put(&paths, place_key(s->head->notes[i].name, ""), s);
	}
	for (size_t i = 1; s->places.count && i < s->head->file_count; i++) {
		s->are_placed[i] = map_get(&paths, place_key(s->head->files[i], ""));
		add_object(s, (file_id)i);
		has_objects |= s->objects[i] != NULL;
	}
	map_release(&paths);
	return has_objects;
}

/* --- the trace --- */

static enum role role_of(const struct call_info *call)
{
	static const char *const removals[] = { "rename",	    "unlink",
						"remove",	    "link",
						"symlink",	    "io_uring_renameat",
						"io_uring_unlinkat" };

	if (call->layer != LAYER_POSIX)
		return call->layer == LAYER_STDIO && call->class == CLASS_WRITE ? ROLE_OPAQUE
										: ROLE_NONE;
	for (size_t i = 0; i < sizeof(removals) / sizeof(*removals); i++)
		if (text_starts_with(call->name, removals[i]))
			return ROLE_REMOVE;
	switch (call->class) {
	case CLASS_OPEN:
		return ROLE_OPEN;
	case CLASS_DUP:
		return ROLE_DUP;
	case CLASS_CONTROL:
		return strstr(call->name, "fcntl") ? ROLE_DUP : ROLE_NONE;
	case CLASS_WRITE:
		return ROLE_WRITE;
	case CLASS_MAP:
		return text_starts_with(call->name, "mmap") ? ROLE_MAP : ROLE_NONE;
	case CLASS_COPY:
		return ROLE_OPAQUE;
	case CLASS_START:
		if (strstr(call->name, "splice"))
			return ROLE_OPAQUE;
		return strstr(call->name, "write") ? ROLE_START : ROLE_NONE;
	default:
		return ROLE_NONE;
	}
}

static int64_t clock_error_ns(const struct trace_head *head, const char *host)
{
	for (size_t i = 0; i < head->host_count; i++)
		if (text_equal(head->hosts[i].host, host) && head->hosts[i].error_ns >= 0)
			return i64_min(head->hosts[i].error_ns, UNKNOWN_ERROR_NS);
	return UNKNOWN_ERROR_NS;
}

static void number_hosts(struct storage *s)
{
	struct map numbers = { 0 };
	size_t count = 0, cap = 0;

	for (size_t i = 0; i < s->head->process_count; i++) {
		const char *host = s->head->processes[i].host;
		uint64_t key = place_key(host, "");
		uintptr_t number = (uintptr_t)map_get(&numbers, key);

		if (!number) {
			s->errors_ns = xgrow(s->errors_ns, &cap, count + 1, sizeof(*s->errors_ns));
			s->errors_ns[count++] = clock_error_ns(s->head, host);
			number = count;
			map_put(&numbers, key, (void *)number);
		}
		s->hosts[i] = (uint32_t)number - 1;
	}
	map_release(&numbers);
}

struct storage *storage_new(const struct trace_head *head)
{
	struct storage *s = xcalloc(1, sizeof(*s));

	s->head = head;
	s->full_ns = INT64_MAX;
	s->objects = xcalloc(head->file_count, sizeof(struct object *));
	s->are_placed = xcalloc(head->file_count, sizeof(*s->are_placed));
	s->removals = xcalloc(head->file_count, sizeof(*s->removals));
	if (!add_files(s)) {
		storage_free(s);
		return NULL;
	}
	s->roles = xcalloc(head->call_count, sizeof(*s->roles));
	for (size_t i = 0; i < head->call_count; i++)
		s->roles[i] = (uint8_t)role_of(&head->calls[i]);
	s->hosts = xcalloc(head->process_count, sizeof(*s->hosts));
	s->are_clients = xcalloc(head->process_count, sizeof(*s->are_clients));
	number_hosts(s);
	return s;
}

static void free_values(struct map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->entries[i].value);
	map_release(map);
}

void storage_free(struct storage *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->head->file_count; i++)
		free(s->objects[i]);
	free((void *)s->objects);
	free_values(&s->places);
	free_values(&s->inodes);
	map_release(&s->opened);
	free(s->clients.list);
	free(s->servers.list);
	free(s->are_placed);
	free(s->removals);
	free(s->are_clients);
	free(s->errors_ns);
	free(s->hosts);
	free(s->roles);
	free(s);
}

/* --- following --- */

static const struct place *find_place(const struct storage *s, const struct activity *a)
{
	const char *host = s->head->processes[a->process].host;

	return s->are_placed[a->file]
		       ? map_get(&s->places, place_key(s->head->files[a->file], host))
		       : NULL;
}

static uint64_t handle_key(const struct storage *s, uint32_t process, uint64_t id)
{
	uint64_t numbers[2] = { trace_find_owner(s->head, process, id), id };

	return XXH3_64bits(numbers, sizeof(numbers)) | 1;
}

/* How often the file of the handle had been removed before it was opened. */
static uint32_t removals_of(const struct storage *s, const struct activity *a)
{
	return (uint32_t)(uintptr_t)map_get(&s->opened,
					    handle_key(s, a->process, a->link & ID_MASK));
}

static void set_removals(struct storage *s, const struct activity *a, uint32_t removals)
{
	if (removals && !a->error)
		map_put(&s->opened, handle_key(s, a->process, a->id), (void *)(uintptr_t)removals);
}

static void add_writer(struct storage *s, struct writers *list, const struct activity *a,
		       const struct place *place)
{
	bool is_start = s->roles[a->call] == ROLE_START;
	/* A part of what could not be written as a whole may have been stored. */
	int64_t bytes = is_start || a->error ? a->size : a->result;

	if (bytes <= 0)
		return;
	if (list->count == OBJECTS_WRITES_MAX) {
		s->full_ns = i64_min(s->full_ns, a->start_ns);
		return;
	}
	list->list = xgrow(list->list, &list->cap, list->count + 1, sizeof(*list->list));
	list->list[list->count++] = (struct writer){
		.id = a->id,
		.start_ns = a->start_ns,
		.stop_ns = is_start ? INT64_MAX : a->start_ns + a->duration_ns,
		.bytes = bytes,
		.process = a->process,
		.file = a->file,
		.removals = place ? removals_of(s, a) : 0,
		.offset = a->offset,
		.place = place,
	};
}

static bool is_range_known(const struct activity *a)
{
	return a->present & PRESENT(OFFSET) && a->offset >= 0;
}

static void see_client(struct storage *s, const struct activity *a, const struct place *place)
{
	enum role role = s->roles[a->call];

	s->are_clients[a->process] = true;
	if (role == ROLE_OPEN)
		set_removals(s, a, s->removals[a->file]);
	else if (role == ROLE_DUP)
		set_removals(s, a, removals_of(s, a));
	else if ((role == ROLE_WRITE || role == ROLE_START) && is_range_known(a))
		add_writer(s, &s->clients, a, place);
	else if (role == ROLE_MAP)
		place->inode->is_opaque |= a->flags & MAP_SHARED && a->mode & PROT_WRITE;
	else
		place->inode->is_opaque = true;
}

static void see_server(struct storage *s, const struct activity *a)
{
	enum role role = s->roles[a->call];

	if (role == ROLE_WRITE && is_range_known(a)) {
		if (!a->error)
			add_writer(s, &s->servers, a, NULL);
	} else if (role >= ROLE_WRITE && role != ROLE_MAP) {
		s->buffered++;
	}
}

void storage_see(struct storage *s, const struct activity *a)
{
	const struct place *place;

	/* Only a damaged record has no id. */
	if (!a->id || s->roles[a->call] == ROLE_NONE)
		return;
	if (s->roles[a->call] == ROLE_REMOVE) {
		s->removals[a->file] += !a->error;
		s->removals[a->file2] += !a->error;
		return;
	}
	place = find_place(s, a);
	if (place)
		see_client(s, a, place);
	else if (s->objects[a->file])
		see_server(s, a);
}

/* --- results --- */

/* Before this time, no call of a client is missing, wherever its host has its clock. */
static int64_t find_certain_ns(const struct storage *s, const int64_t *since_ns)
{
	int64_t certain_ns = s->full_ns;

	for (size_t i = 0; i < s->head->process_count; i++)
		if (s->are_clients[i])
			certain_ns = i64_min(certain_ns, since_ns[i]);
	if (certain_ns == INT64_MAX || !s->head->host_count)
		return certain_ns;
	return certain_ns - 2 * UNKNOWN_ERROR_NS;
}

/* CHAIN_MATCHED: the bytes decide. */
static enum chain_state judge_write(const struct storage *s, const struct writer *w,
				    int64_t certain_ns)
{
	const struct inode *inode = s->objects[w->file]->inode;

	if (!inode)
		return CHAIN_NO_FILE;
	if (inode->is_doubtful)
		return CHAIN_SAME_NUMBER;
	if (inode->is_opaque)
		return CHAIN_BUFFERED;
	return w->start_ns < certain_ns ? CHAIN_MATCHED : CHAIN_LOST;
}

static struct objects_write write_of(const struct storage *s, const struct writers *list, size_t i)
{
	const struct writer *w = &list->list[i];

	return (struct objects_write){ .start_ns = w->start_ns,
				       .stop_ns = w->stop_ns,
				       .offset = (uint64_t)w->offset,
				       .bytes = (uint64_t)w->bytes,
				       .host = s->hosts[w->process],
				       .call = (uint32_t)i };
}

static void add_clients(struct storage *s, struct objects *objects)
{
	for (size_t i = 0; i < s->clients.count; i++) {
		const struct writer *w = &s->clients.list[i];
		struct objects_write write = write_of(s, &s->clients, i);

		/* The note is not of the file that it has written to. */
		if (w->removals != s->removals[w->file])
			continue;
		write.inode = w->place->number;
		if (!objects_add_client(objects, &w->place->inode->layout, &write, write.offset))
			s->full_ns = i64_min(s->full_ns, w->start_ns);
	}
}

static void add_servers(struct storage *s, struct objects *objects, const int64_t *since_ns)
{
	int64_t certain_ns = find_certain_ns(s, since_ns);

	for (size_t i = 0; i < s->servers.count; i++) {
		struct writer *w = &s->servers.list[i];
		const struct object *object = s->objects[w->file];
		struct objects_write write = write_of(s, &s->servers, i);

		w->state = (uint8_t)judge_write(s, w, i64_min(certain_ns, since_ns[w->process]));
		if (w->state != CHAIN_MATCHED)
			continue;
		write.inode = object->name.inode;
		write.number = object->name.number;
		write.store = object->store ^ (s->hosts[w->process] * UINT64_C(0x9E3779B97F4A7C15));
		objects_add_server(objects, &write);
	}
}

static void match_writes(struct storage *s, struct objects *objects)
{
	AUTO_FREE enum objects_state *states = xcalloc(s->servers.count, sizeof(*states));
	struct objects_clocks clocks = { s->head->host_count ? FUSE_SLACK_NS : 0, s->errors_ns };

	objects_match(objects, &clocks, states, s->servers.count);
	for (size_t i = 0; i < s->servers.count; i++) {
		struct writer *w = &s->servers.list[i];

		if (w->state == CHAIN_MATCHED && states[i] != OBJECTS_MATCHED)
			w->state = states[i] == OBJECTS_SEVERAL ? CHAIN_SEVERAL_WRITES
								: CHAIN_NO_WRITE;
	}
}

static void link_writes(struct storage *s, const struct objects *objects, struct sockets *sockets,
			struct links *links)
{
	for (size_t i = 0; i < objects->link_count; i++) {
		const struct writer *from = &s->clients.list[objects->links[i].from];
		struct writer *to = &s->servers.list[objects->links[i].to];
		uint32_t cause = sockets_add_cause(sockets, from->process, from->id, from->start_ns,
						   from->stop_ns, from->bytes);

		if (!cause || !to->transfer) {
			to->state = CHAIN_LOST;
			continue;
		}
		links_add(links, cause - 1, to->transfer - 1);
		links_add(links, to->transfer - 1, cause - 1);
	}
}

void storage_finish(struct storage *s, struct sockets *sockets, struct links *links,
		    const int64_t *since_ns, struct chain_counts *counts)
{
	struct objects objects = { 0 };

	add_clients(s, &objects);
	add_servers(s, &objects, since_ns);
	match_writes(s, &objects);
	for (size_t i = 0; i < s->servers.count; i++) {
		struct writer *w = &s->servers.list[i];

		if (w->state != CHAIN_NO_FILE)
			w->transfer = sockets_add_other(sockets, w->process, w->id, w->start_ns,
							w->stop_ns, w->bytes, false);
	}
	link_writes(s, &objects, sockets, links);
	for (size_t i = 0; i < s->servers.count; i++) {
		const struct writer *w = &s->servers.list[i];

		counts->objects[w->state]++;
		if (w->transfer)
			sockets->transfers[w->transfer - 1].state = w->state;
	}
	counts->objects[CHAIN_BUFFERED] += s->buffered;
	objects_release(&objects);
}
