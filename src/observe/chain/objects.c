/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"

/* Of clients, at one byte of an object. More are not told apart. */
#define ACTIVE_MAX 4096

/* --- names --- */

/* Reads a number: `width` digits, or without a width as many as there are and no leading zeros.
 * Returns what follows; NULL: there is none. */
static const char *read_digits(const char *at, const char *digits, size_t width, uint64_t *value)
{
	unsigned base = (unsigned)strlen(digits);
	size_t n = strspn(at, digits);

	if (!n || n > 16 || (width ? n != width : n > 1 && *at == '0'))
		return NULL;
	*value = 0;
	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (size_t)(strchr(digits, at[i]) - digits), value))
			return NULL;
	return at + n;
}

#define DECIMAL "0123456789"
#define LOWER "0123456789abcdef"
#define UPPER "0123456789ABCDEF"

static const char *skip_text(const char *at, const char *text)
{
	size_t n = strlen(text);

	return at && !strncmp(at, text, n) ? at + n : NULL;
}

/* INODE.NUMBER__head_HASH__POOL: no key, no namespace, no snapshot, no generation, no shard. */
static bool read_object(struct objects_name *name, const char *at)
{
	uint64_t hash;

	at = read_digits(at, LOWER, 0, &name->inode);
	at = skip_text(at, ".");
	at = at ? read_digits(at, LOWER, 8, &name->number) : NULL;
	at = skip_text(at, "__head_");
	at = at ? read_digits(at, UPPER, 8, &hash) : NULL;
	at = skip_text(at, "__");
	at = at ? read_digits(at, LOWER, 0, &name->pool) : NULL;
	return at && !*at && name->inode;
}

/* POOL.SEED_head: erasure-coded groups end with sN_head, and others hold no objects of files. */
static bool read_group(const char *at, uint64_t *pool)
{
	uint64_t seed;

	at = read_digits(at, DECIMAL, 0, pool);
	at = skip_text(at, ".");
	at = at ? read_digits(at, LOWER, 0, &seed) : NULL;
	return skip_text(at, "_head/");
}

size_t objects_read_name(struct objects_name *name, const char *path)
{
	static const char folder[] = "/current/";
	const char *base = strrchr(path, '/'), *at = path, *current = NULL;
	struct objects_name found;
	uint64_t pool;

	if (!base || !read_object(&found, base + 1))
		return 0;
	/* The folder of the store may be below another one of this name. */
	while ((at = strstr(at, folder)))
		current = at++;
	if (!current || current == path || !read_group(current + strlen(folder), &pool) ||
	    pool != found.pool)
		return 0;
	*name = found;
	return (size_t)(current - path);
}

/* --- layouts --- */

bool objects_layout_is_valid(const struct objects_layout *l)
{
	uint64_t set;

	return l->unit && l->count && l->object_bytes && l->object_bytes % l->unit == 0 &&
	       !__builtin_mul_overflow(l->count, l->object_bytes, &set) && set <= INT64_MAX;
}

/* Finds the object and its byte that holds the byte of the file at `offset`. */
static void locate(const struct objects_layout *l, uint64_t offset, struct objects_write *to)
{
	uint64_t set = l->count * l->object_bytes, within = offset % set;
	uint64_t unit = within / l->unit;

	to->number = offset / set * l->count + unit % l->count;
	to->offset = unit / l->count * l->unit + within % l->unit;
}

/* --- writes --- */

void objects_release(struct objects *o)
{
	free(o->clients);
	free(o->servers);
	free(o->links);
	*o = (struct objects){ 0 };
}

static bool add_write(struct objects_write **list, size_t *count, size_t *cap,
		      const struct objects_write *write)
{
	if (*count == OBJECTS_WRITES_MAX)
		return false;
	*list = xgrow(*list, cap, *count + 1, sizeof(**list));
	(*list)[(*count)++] = *write;
	return true;
}

bool objects_add_client(struct objects *o, const struct objects_layout *layout,
			const struct objects_write *write, uint64_t offset)
{
	/* The units of a single object follow each other. */
	uint64_t unit = layout->count == 1 ? layout->object_bytes : layout->unit;
	struct objects_write piece = *write;

	for (uint64_t left = write->bytes; left; left -= piece.bytes, offset += piece.bytes) {
		locate(layout, offset, &piece);
		piece.bytes = u64_min(left, unit - offset % unit);
		if (!add_write(&o->clients, &o->client_count, &o->client_cap, &piece))
			return false;
	}
	return true;
}

bool objects_add_server(struct objects *o, const struct objects_write *write)
{
	return add_write(&o->servers, &o->server_count, &o->server_cap, write);
}

/* --- matching --- */

/* The writes that have the byte at hand, in the order of their start; those of servers by store
 * before. */
struct active {
	const struct objects_write **list;
	size_t count, cap;
};

struct sweep {
	struct objects *objects;
	const struct objects_clocks *clocks;
	enum objects_state *states;
	bool *are_linked; /* by call of a server */
	struct active clients, servers;
	bool are_stored[ACTIVE_MAX]; /* by active write of a client: stored or replaced */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_objects(const struct objects_write *a, const struct objects_write *b)
{
	int order = compare_numbers(a->inode, b->inode);

	return order ? order : compare_numbers(a->number, b->number);
}

static int compare_writes(const void *a, const void *b)
{
	const struct objects_write *x = a, *y = b;
	int order = compare_objects(x, y);

	return order ? order : compare_numbers(x->offset, y->offset);
}

static int compare_links(const void *a, const void *b)
{
	const struct objects_link *x = a, *y = b;
	int order = compare_numbers(x->to, y->to);

	return order ? order : compare_numbers(x->from, y->from);
}

static bool is_before(const struct objects_write *a, const struct objects_write *b)
{
	if (a->store != b->store)
		return a->store < b->store;
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->call < b->call;
}

static void activate(struct active *active, const struct objects_write *write)
{
	size_t at = active->count;

	active->list =
		xgrow((void *)active->list, &active->cap, active->count + 1, sizeof(*active->list));
	for (; at && is_before(write, active->list[at - 1]); at--)
		active->list[at] = active->list[at - 1];
	active->list[at] = write;
	active->count++;
}

static void drop_ended(struct active *active, uint64_t offset)
{
	size_t kept = 0;

	for (size_t i = 0; i < active->count; i++)
		if (active->list[i]->offset + active->list[i]->bytes > offset)
			active->list[kept++] = active->list[i];
	active->count = kept;
}

/* May the first time be before the second one? */
static bool may_precede(const struct sweep *s, const struct objects_write *a, int64_t a_ns,
			const struct objects_write *b, int64_t b_ns)
{
	const struct objects_clocks *c = s->clocks;
	int64_t slack_ns =
		a->host == b->host ? c->same_ns : c->errors_ns[a->host] + c->errors_ns[b->host];

	return a_ns - slack_ns <= b_ns;
}

/* What is certainly over when the latest possible write began is stored or replaced. */
static void replace_earlier(struct sweep *s, size_t latest)
{
	const struct objects_write *last = s->clients.list[latest];

	for (size_t i = 0; i < latest; i++) {
		const struct objects_write *c = s->clients.list[i];

		if (!may_precede(s, last, last->start_ns, c, c->stop_ns))
			s->are_stored[i] = true;
	}
}

static void add_link(struct sweep *s, const struct objects_write *server,
		     const struct objects_write *client)
{
	struct objects *o = s->objects;

	s->are_linked[server->call] = true;
	o->links = xgrow(o->links, &o->link_cap, o->link_count + 1, sizeof(*o->links));
	o->links[o->link_count++] = (struct objects_link){ server->call, client->call };
}

/* The server has written the byte: which client before? */
static void match_byte(struct sweep *s, const struct objects_write *server)
{
	size_t count = 0, latest = 0;

	for (size_t i = 0; i < s->clients.count; i++) {
		const struct objects_write *c = s->clients.list[i];

		if (s->are_stored[i] || !may_precede(s, c, c->start_ns, server, server->start_ns))
			continue;
		latest = i;
		count++;
	}
	if (count == 1) {
		s->are_stored[latest] = true;
		add_link(s, server, s->clients.list[latest]);
	} else if (count) {
		s->states[server->call] = OBJECTS_SEVERAL;
		replace_earlier(s, latest);
	}
}

/* All bytes between two boundaries have the same writes. */
static void match_range(struct sweep *s)
{
	const struct active *servers = &s->servers;

	if (!s->clients.count)
		return;
	for (size_t i = 0; i < servers->count; i++) {
		if (s->clients.count > ACTIVE_MAX) {
			s->states[servers->list[i]->call] = OBJECTS_SEVERAL;
			continue;
		}
		if (!i || servers->list[i]->store != servers->list[i - 1]->store)
			memset(s->are_stored, 0, s->clients.count);
		match_byte(s, servers->list[i]);
	}
}

/* The end of the range that begins at `from` and has the same writes: the next start or end. */
static uint64_t find_boundary(const struct active *active, const struct objects_write *next,
			      const struct objects_write *end, uint64_t to)
{
	for (size_t i = 0; i < active->count; i++)
		to = u64_min(to, active->list[i]->offset + active->list[i]->bytes);
	return next < end ? u64_min(to, next->offset) : to;
}

static void enter_writes(struct active *active, const struct objects_write **next,
			 const struct objects_write *end, uint64_t offset)
{
	drop_ended(active, offset);
	for (; *next < end && (*next)->offset == offset; (*next)++)
		activate(active, *next);
}

/* Goes through the bytes of an object in their order. The lists are sorted by offset. */
static void sweep_object(struct sweep *s, const struct objects_write *client,
			 const struct objects_write *client_end, const struct objects_write *server,
			 const struct objects_write *server_end)
{
	uint64_t at = 0;

	s->clients.count = s->servers.count = 0;
	while (server < server_end || s->servers.count) {
		enter_writes(&s->clients, &client, client_end, at);
		enter_writes(&s->servers, &server, server_end, at);
		match_range(s);
		at = find_boundary(&s->servers, server, server_end,
				   find_boundary(&s->clients, client, client_end, UINT64_MAX));
	}
}

static const struct objects_write *end_of_object(const struct objects_write *at,
						 const struct objects_write *end)
{
	const struct objects_write *first = at;

	while (at < end && !compare_objects(first, at))
		at++;
	return at;
}

static void remove_double_links(struct objects *o)
{
	size_t kept = 0;

	if (o->link_count)
		qsort(o->links, o->link_count, sizeof(*o->links), compare_links);
	for (size_t i = 0; i < o->link_count; i++)
		if (!kept || compare_links(&o->links[kept - 1], &o->links[i]) != 0)
			o->links[kept++] = o->links[i];
	o->link_count = kept;
}

static void match_objects(struct sweep *s)
{
	const struct objects *o = s->objects;
	const struct objects_write *client = o->clients, *server = o->servers;
	const struct objects_write *client_end = client + o->client_count;
	const struct objects_write *server_end = server + o->server_count;

	while (server < server_end) {
		const struct objects_write *servers_to = end_of_object(server, server_end);
		const struct objects_write *clients_to;

		while (client < client_end && compare_objects(client, server) < 0)
			client++;
		clients_to = client < client_end && !compare_objects(client, server)
				     ? end_of_object(client, client_end)
				     : client;
		sweep_object(s, client, clients_to, server, servers_to);
		client = clients_to;
		server = servers_to;
	}
}

void objects_match(struct objects *o, const struct objects_clocks *clocks,
		   enum objects_state *states, size_t state_count)
{
	struct sweep *s;

	for (size_t i = 0; i < state_count; i++)
		states[i] = OBJECTS_NO_WRITE;
	if (!o->client_count || !o->server_count)
		return;
	s = xcalloc(1, sizeof(*s));
	*s = (struct sweep){ .objects = o, .clocks = clocks, .states = states };
	s->are_linked = xcalloc(state_count, sizeof(*s->are_linked));
	qsort(o->clients, o->client_count, sizeof(*o->clients), compare_writes);
	qsort(o->servers, o->server_count, sizeof(*o->servers), compare_writes);
	match_objects(s);
	for (size_t i = 0; i < state_count; i++)
		if (s->are_linked[i] && states[i] != OBJECTS_SEVERAL)
			states[i] = OBJECTS_MATCHED;
	remove_double_links(o);
	free(s->are_linked);
	free((void *)s->clients.list);
	free((void *)s->servers.list);
	free(s);
}
