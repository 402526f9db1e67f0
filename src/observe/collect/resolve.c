/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-8.
 */
#include "observe/collect/resolve.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "observe/collect/names.h"

/* Number of closed handles to remember, over all processes. */
#define CLOSED_MAX 65536
/* Number of ended processes whose handles are remembered. */
#define ENDED_MAX 1024

/* Connections whose addresses are kept. Each is a name of its own, and a server with many clients
 * must not exhaust the names of the run's files. */
#define CONNECTIONS_MAX 32768

#define POSITION_UNKNOWN (-1)

/* The kernel's open file description, which duplicates of a descriptor share. */
struct description {
	int64_t position;
	uint32_t references;
};

struct handle {
	struct description *description;
	int64_t number;
	file_id file;
	bool used; /* used since it was last considered for removal */
};

struct process {
	struct map handles; /* struct handle by the id of the call that created it */
	int32_t parent;
	uint32_t first_thread, forked_thread;
	uint64_t forked_seq;
	char *directory;
	char *root; /* "/" after chroot(); NULL before */
};

struct closed {
	uint32_t process;
	uint64_t id;
};

/* Properties of a call's row, computed once. */
struct trait {
	uint16_t present;  /* PRESENT() bits of its fields */
	bool makes_handle; /* its HANDLE is a new one */
	bool is_inherited, is_chdir, is_chroot, is_opaque_seek, is_fcntl;
	bool has_text;	    /* has at least one string */
	bool is_connection; /* its NAME is the addresses of a connection */
};

struct resolver {
	struct trait *traits;
	struct process *processes;
	size_t process_count, process_cap;
	struct names names;
	size_t handle_count;
	size_t connection_count;
	uint64_t handles_over;
	uint32_t *ended; /* ring of the indices of ended processes */
	size_t ended_at, ended_count;
	resolve_file file;
	void *file_arg;
	struct closed *closed; /* ring */
	size_t closed_at;
	const struct process
		*last_process; /* the handle found last: most calls use the same one again */
	uint64_t last_id;
	struct handle *last;
};

static struct trait trait_of(const struct call_info *call)
{
	struct trait t = {
		.is_inherited = !strcmp(call->name, "inherited"),
		.is_chdir = !strcmp(call->name, "chdir") || !strcmp(call->name, "fchdir"),
		.is_chroot = !strcmp(call->name, "chroot"),
		.is_opaque_seek = !strncmp(call->name, "fsetpos", 7),
		.is_fcntl = !strncmp(call->name, "fcntl", 5),
		.is_connection = call->class == CLASS_CONNECT,
	};

	for (unsigned i = 0; i < call->field_count; i++)
		t.present |= (uint16_t)(1u << call->fields[i]);
	t.makes_handle = t.present & PRESENT(HANDLE);
	t.is_connection |= t.is_inherited;
	t.has_text = t.present & (PRESENT(PATH) | PRESENT(PATH2) | PRESENT(NAME) | PRESENT(HINTS));
	return t;
}

struct resolver *resolver_new(resolve_file file, void *arg)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	r->file = file;
	r->file_arg = arg;
	r->closed = xcalloc(CLOSED_MAX, sizeof(*r->closed));
	r->ended = xcalloc(ENDED_MAX, sizeof(*r->ended));
	r->traits = xcalloc(call_count, sizeof(*r->traits));
	for (unsigned i = 0; i < call_count; i++)
		r->traits[i] = trait_of(&call_table[i]);
	return r;
}

static void handle_free(struct resolver *r, struct handle *h)
{
	if (!h)
		return;
	r->handle_count--;
	if (!--h->description->references)
		free(h->description);
	free(h);
}

static void process_forget(struct resolver *r, struct process *p)
{
	for (size_t j = 0; j < p->handles.cap; j++)
		handle_free(r, p->handles.entries[j].value);
	map_release(&p->handles);
	free(p->directory);
	free(p->root);
	p->directory = p->root = NULL;
	r->last_id = 0;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->process_count; i++)
		process_forget(r, &r->processes[i]);
	names_release(&r->names);
	free(r->processes);
	free(r->traits);
	free(r->closed);
	free(r->ended);
	free(r);
}

/* Forgets the process that ended first. */
static void forget_ended(struct resolver *r)
{
	process_forget(r, &r->processes[r->ended[r->ended_at]]);
	r->ended_at = (r->ended_at + 1) % ENDED_MAX;
	r->ended_count--;
}

void resolver_ended(struct resolver *r, uint32_t index)
{
	if (r->ended_count == ENDED_MAX)
		forget_ended(r);
	r->ended[(r->ended_at + r->ended_count++) % ENDED_MAX] = index;
}

const struct names *resolver_names(const struct resolver *resolver)
{
	return &resolver->names;
}

struct resolver_counts resolver_counts(const struct resolver *r)
{
	return (struct resolver_counts){ r->names.over, r->handles_over };
}

void resolver_process(struct resolver *r, uint32_t index, int32_t parent, uint32_t first_thread,
		      const char *directory)
{
	r->processes = xgrow(r->processes, &r->process_cap, index + 1u, sizeof(*r->processes));
	while (r->process_count <= index)
		r->processes[r->process_count++] = (struct process){ .parent = -1 };
	r->processes[index].parent = parent;
	r->processes[index].first_thread = first_thread;
	free(r->processes[index].directory);
	r->processes[index].directory = xstrdup(directory);
}

void resolver_forked(struct resolver *r, uint32_t index, uint32_t thread, uint64_t seq)
{
	struct process *p = &r->processes[index];

	if (p->parent < 0 || thread >= p->first_thread)
		return;
	p->forked_thread = thread;
	p->forked_seq = seq;
}

/* Returns the id of the enclosing call, which may have begun before the fork. */
static uint64_t parent_id(const struct process *p, uint32_t thread, uint64_t seq)
{
	if (!seq)
		return 0;
	if (thread == p->first_thread && seq <= p->forked_seq)
		thread = p->forked_thread;
	return id_make(thread, seq);
}

/*
 * Returns the process that made the call with this id, seen from p: thread numbers continue across
 * forks.
 */
static struct process *find_owner(struct resolver *r, struct process *p, uint64_t id)
{
	while (id_thread(id) < p->first_thread && p->parent >= 0)
		p = &r->processes[p->parent];
	return p;
}

static struct handle *handle_find(struct resolver *r, struct process *p, uint64_t link)
{
	uint64_t id = link & ID_MASK;

	if (!id)
		return NULL;
	if (r->last_id != id || r->last_process != p) {
		r->last = map_get(&find_owner(r, p, id)->handles, id);
		r->last_id = id;
		r->last_process = p;
	}
	if (r->last)
		r->last->used = true;
	return r->last;
}

/* Makes room for one more handle, at the expense of ended processes. */
static void make_room(struct resolver *r)
{
	while (r->handle_count >= HANDLES_MAX && r->ended_count)
		forget_ended(r);
}

/* Takes over a new description that has no references yet. */
static void handle_add(struct resolver *r, struct process *p, uint64_t id, struct description *d,
		       int64_t number, file_id file)
{
	struct handle *h;

	/* Id 0 occurs only in a damaged record. */
	if (!id || r->handle_count >= HANDLES_MAX) {
		r->handles_over += id != 0;
		if (!d->references)
			free(d);
		return;
	}
	h = xmalloc(sizeof(*h));
	r->handle_count++;
	d->references++;
	*h = (struct handle){ d, number, file, false };
	handle_free(r, map_remove(&p->handles, id));
	map_put(&p->handles, id, h);
	r->last_id = 0;
}

/*
 * Returns the next place in the ring of closed handles. Removes the handle there if it was not used
 * since it was closed.
 */
static struct closed *take_closed_slot(struct resolver *r)
{
	for (size_t tries = 0;; tries++) {
		struct closed *c = &r->closed[r->closed_at++ % CLOSED_MAX];
		struct map *handles = c->id ? &r->processes[c->process].handles : NULL;
		struct handle *h = handles ? map_get(handles, c->id) : NULL;

		if (h && h->used && tries < CLOSED_MAX) {
			h->used = false;
			continue;
		}
		if (h) {
			handle_free(r, map_remove(handles, c->id));
			r->last_id = 0;
		}
		return c;
	}
}

/*
 * A closed handle may still be in use, by a call that was running or by a child that was forked
 * before. It is removed when enough other handles have been closed since. A handle that a child
 * closes stays open in its parent.
 */
static void handle_close(struct resolver *r, struct process *p, uint64_t id)
{
	struct handle *h = map_get(&p->handles, id);
	struct closed *c;

	if (!h)
		return;
	c = take_closed_slot(r);
	h->used = false;
	*c = (struct closed){ (uint32_t)(p - r->processes), id };
}

static file_id path_id(struct resolver *r, const char *text)
{
	bool is_new;
	file_id id = names_id(&r->names, text, &is_new);

	if (is_new)
		r->file(r->file_arg, id, names_text(&r->names, id));
	return id;
}

static const char *path_text(const struct resolver *r, file_id id)
{
	return names_text(&r->names, id);
}

/*
 * Appends a name to a path without "//" and "/./". ".." stays, because only the kernel knows where
 * it leads.
 */
static void path_append(struct buf *out, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, "/");

		if (n && !(n == 1 && name[0] == '.')) {
			buf_putc(out, '/');
			buf_add(out, name, n);
		}
		name += n + (name[n] == '/');
	}
}

/*
 * Returns the id of a path as the call gave it: relative to the second handle, or else to the
 * working directory.
 */
static file_id path_resolve(struct resolver *r, struct process *p, uint64_t base, const char *name)
{
	AUTO_BUF struct buf full = { 0 };
	struct handle *h;

	if (!name[0])
		return 0;
	if (name[0] != '/') {
		h = handle_find(r, p, base);
		path_append(&full, h ? path_text(r, h->file) : p->directory ? p->directory : "");
	} else if (p->root) {
		path_append(&full, p->root);
	}
	path_append(&full, name);
	if (!full.len)
		buf_putc(&full, '/');
	return path_id(r, buf_text(&full));
}

/* The strings of a record, and its links including the bits that tell their kind. */
struct fields {
	uint64_t link, link2;
	char path[RECORD_STRING_MAX + 1], path2[RECORD_STRING_MAX + 1], name[RECORD_STRING_MAX + 1],
		hints[RECORD_STRING_MAX + 1];
};

/* Where the number of a field is stored. */
static const uint8_t field_place[FIELD_COUNT] = {
	[FIELD_RESULT] = offsetof(struct activity, result),
	[FIELD_LINK] = offsetof(struct activity, link),
	[FIELD_LINK2] = offsetof(struct activity, link2),
	[FIELD_HANDLE] = offsetof(struct activity, handle),
	[FIELD_SIZE] = offsetof(struct activity, size),
	[FIELD_OFFSET] = offsetof(struct activity, offset),
	[FIELD_FLAGS] = offsetof(struct activity, flags),
	[FIELD_MODE] = offsetof(struct activity, mode),
	[FIELD_SPAN] = offsetof(struct activity, span),
	[FIELD_VARIABLE] = offsetof(struct activity, variable),
	[FIELD_COLLECTIVE] = offsetof(struct activity, collective),
};

static const uint64_t *read_text(const uint64_t *at, char *text)
{
	size_t n = *at++;

	memcpy(text, at, n);
	text[n] = 0;
	return at + (n + 7) / 8;
}

static void read_fields(const struct call_info *call, const uint64_t *record, struct fields *f,
			struct activity *a)
{
	const uint64_t *at = record + RECORD_HEAD_WORDS;

	for (unsigned i = 0; i < call->field_count; i++) {
		enum field field = call->fields[i];

		if (field == FIELD_PATH)
			at = read_text(at, f->path);
		else if (field == FIELD_PATH2)
			at = read_text(at, f->path2);
		else if (field == FIELD_NAME)
			at = read_text(at, f->name);
		else if (field == FIELD_HINTS)
			at = read_text(at, f->hints);
		else
			memcpy((char *)a + field_place[field], at++, sizeof(*at));
	}
	/* The guest writes -1 for an unknown position. */
	if (a->offset == -1)
		a->present &= (uint16_t)~PRESENT(OFFSET);
	/* And for what the program has not said of an activity. */
	if (call->class == CLASS_ACTIVITY) {
		a->present &= (uint16_t) ~(a->size < 0 ? PRESENT(SIZE) : 0);
		a->present &= (uint16_t) ~(a->variable < 0 ? PRESENT(VARIABLE) : 0);
	}
	f->link = a->link;
	f->link2 = a->link2;
	a->link &= ID_MASK;
	a->link2 &= ID_MASK;
}

/* A new handle has its own description, or shares the one that it duplicates. */
static void add_new_handle(struct resolver *r, struct process *p, const struct activity *a,
			   int64_t number)
{
	struct handle *from;
	struct description *d;

	make_room(r);
	from = a->present & PRESENT(PATH) ? NULL : handle_find(r, p, a->link);
	d = from ? from->description : xcalloc(1, sizeof(*d));
	/* The position of an inherited descriptor is unknown, and appended data goes to the end. */
	if (!from && (r->traits[a->call].is_inherited || a->flags & O_APPEND))
		d->position = POSITION_UNKNOWN;
	handle_add(r, p, a->id, d, number, from && !a->file ? from->file : a->file);
}

/* Returns a position that moves by some bytes; unknown if there is no such position. */
static int64_t position_move(int64_t position, int64_t bytes)
{
	int64_t moved;

	if (position == POSITION_UNKNOWN || __builtin_add_overflow(position, bytes, &moved))
		return POSITION_UNKNOWN;
	return moved;
}

/* Returns the position after a seek. */
static int64_t position_after_seek(const struct trait *trait, const struct activity *a,
				   int64_t before)
{
	if (trait->is_opaque_seek)
		return POSITION_UNKNOWN;
	if (!(a->present & PRESENT(OFFSET)) || a->layer == LAYER_POSIX)
		return a->result; /* lseek, ftell; rewind gives 0 */
	if (a->flags == SEEK_SET)
		return a->offset;
	return a->flags == SEEK_CUR ? position_move(before, a->offset) : POSITION_UNKNOWN;
}

/* Sockets have no position, and libraries report theirs. */
static bool follows_position(uint8_t layer)
{
	return layer == LAYER_POSIX || layer == LAYER_STDIO;
}

/* Calls that move the file pointer get the position at which they started, and update it. */
static void update_position(const struct trait *trait, enum call_class class, struct activity *a,
			    struct description *d)
{
	if (class == CLASS_SEEK && !a->error)
		d->position = position_after_seek(trait, a, d->position);
	if (a->present & PRESENT(OFFSET) || (class != CLASS_READ && class != CLASS_WRITE))
		return;
	if (d->position == POSITION_UNKNOWN || !follows_position(a->layer))
		return;
	a->offset = d->position;
	a->present |= PRESENT(OFFSET);
	d->position = position_move(d->position, a->result > 0 ? a->result : 0);
}

static void use_handle(struct resolver *r, struct process *p, uint64_t link, struct activity *a)
{
	const struct call_info *call = &call_table[a->call];
	struct handle *h = handle_find(r, p, link);

	a->link = link & ID_MASK;
	a->layer = (uint8_t)link_layer(link, a->layer);
	if (!h)
		return;
	a->file = h->file;
	if (h->number >= 0 && !(a->present & PRESENT(HANDLE))) {
		a->handle = h->number;
		a->present |= PRESENT(HANDLE);
	}
	update_position(&r->traits[a->call], call->class, a, h->description);
}

/*
 * ROMIO takes the prefix of "ufs:/path" as the driver to use. It cannot be a file name, which would
 * need a directory "ufs:".
 */
static const char *strip_driver(const struct activity *a, const char *path)
{
	static const char *const drivers[] = { "ufs:",	  "nfs:",	"lustre:", "gpfs:",
					       "panfs:",  "pvfs2:",	"daos:",   "xfs:",
					       "testfs:", "bglockless:" };

	for (size_t i = 0; a->layer == LAYER_MPI && i < sizeof(drivers) / sizeof(*drivers); i++)
		if (!strncmp(path, drivers[i], strlen(drivers[i])))
			return path + strlen(drivers[i]);
	return path;
}

/* The file of a call with a path is that of the path, not of the handle. */
static void use_paths(struct resolver *r, struct process *p, const struct fields *f,
		      struct activity *a)
{
	const struct trait *trait = &r->traits[a->call];
	uint64_t base = f->link2;

	if (trait->is_inherited && f->path[0] != '/')
		a->file = f->path[0] ? path_id(r, f->path) : 0; /* "pipe:[123]" is not a path */
	else if (a->present & PRESENT(PATH))
		a->file = path_resolve(r, p, base, strip_driver(a, f->path));
	if (a->present & PRESENT(PATH2))
		a->file2 = path_resolve(r, p, 0, f->path2);
	if (a->present & PRESENT(NAME) && f->name[0] &&
	    (!trait->is_connection || r->connection_count++ < CONNECTIONS_MAX))
		a->name = path_id(r, f->name);
	if (a->present & PRESENT(HINTS) && f->hints[0])
		a->hints = path_id(r, f->hints);
}

static void text_replace(char **text, const char *by)
{
	free(*text);
	*text = xstrdup(by);
}

/*
 * An operation in progress has a file like a handle; the call that completes it finds it by its id.
 */
static void track_operation(struct resolver *r, struct process *p, const struct activity *a)
{
	enum call_class class = call_table[a->call].class;
	uint64_t begun = a->link2 ? a->link2 : a->link;

	if (class == CLASS_START && a->file) {
		make_room(r);
		handle_add(r, p, a->id, xcalloc(1, sizeof(struct description)), -1, a->file);
	} else if (class == CLASS_WAIT && begun) {
		handle_close(r, p, begun);
	}
}

/* Applies the effects of a call on later calls. */
static void apply_effects(struct resolver *r, struct process *p, const struct activity *a)
{
	const struct trait *trait = &r->traits[a->call];

	if (a->error)
		return;
	track_operation(r, p, a);
	if (trait->is_chdir && a->file)
		text_replace(&p->directory, path_text(r, a->file));
	if (trait->is_chroot && a->file)
		text_replace(&p->root, path_text(r, a->file));
	if (call_table[a->call].class == CLASS_CLOSE && a->link)
		handle_close(r, p, a->link);
	if (trait->makes_handle && a->handle >= 0)
		add_new_handle(r, p, a, a->handle);
	if (trait->is_fcntl && (a->flags == F_DUPFD || a->flags == F_DUPFD_CLOEXEC))
		add_new_handle(r, p, a, a->result);
}

void resolver_activity(struct resolver *r, uint32_t process, uint32_t thread,
		       const uint64_t *record, struct activity *a)
{
	const struct call_info *call = &call_table[record_call(record)];
	struct process *p = &r->processes[process];
	struct fields f;

	*a = (struct activity){
		.start_ns = (int64_t)record_start(record),
		.duration_ns = (int64_t)record_duration(record),
		.id = id_make(thread, record_seq(record)),
		.parent = parent_id(p, thread, record_parent(record)),
		.handle = -1,
		.process = process,
		.error = record_error(record),
		.call = (uint16_t)record_call(record),
		.present = r->traits[record_call(record)].present,
		.layer = call->layer,
	};
	read_fields(call, record, &f, a);
	if (a->present & PRESENT(LINK))
		use_handle(r, p, f.link, a);
	if (call->class == CLASS_COPY && f.link2)
		a->file2 = resolver_link_file(r, process, f.link2);
	if (r->traits[a->call].has_text)
		use_paths(r, p, &f, a);
	apply_effects(r, p, a);
}

void resolver_file(struct resolver *r, const char *path)
{
	path_id(r, path);
}

void resolver_replay(struct resolver *r, const struct activity *a)
{
	struct process *p = &r->processes[a->process];
	struct handle *h = handle_find(r, p, a->link);
	enum call_class class = call_table[a->call].class;
	bool moves = (class == CLASS_READ || class == CLASS_WRITE) &&
		     !(r->traits[a->call].present & PRESENT(OFFSET));

	if (h && class == CLASS_SEEK && !a->error)
		h->description->position =
			position_after_seek(&r->traits[a->call], a, h->description->position);
	if (h && moves && a->present & PRESENT(OFFSET) && a->result > 0)
		h->description->position = position_move(a->offset, a->result);
	apply_effects(r, p, a);
}

file_id resolver_link_file(struct resolver *r, uint32_t process, uint64_t link)
{
	struct handle *h = handle_find(r, &r->processes[process], link);

	return h ? h->file : 0;
}
