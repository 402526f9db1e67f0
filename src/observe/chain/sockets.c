/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/sockets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/mem.h"

/* A socket, which several descriptors may share. */
struct socket_handle {
	struct sockets_end *end; /* NULL: not connected, or not TCP */
	uint32_t references;	 /* entries of the maps */
};

/* Properties of a call, by its name. */
struct sockets_trait {
	bool is_accept, is_connect, is_inherited, is_duplicate, is_fcntl, makes_socket;
	bool has_message_flags;
};

static struct sockets_trait trait_of(const struct call_info *call)
{
	const char *name = call->name;

	while (*name == '_')
		name++;
	return (struct sockets_trait){
		.is_accept = !strncmp(name, "accept", 6) && call->class == CLASS_CONNECT,
		.is_connect = !strcmp(name, "connect"),
		.is_inherited = !strcmp(name, "inherited"),
		.is_duplicate = call->class == CLASS_DUP || !strncmp(name, "fdopen", 6) ||
				!strncmp(name, "IO_fdopen", 9),
		.is_fcntl = !strncmp(name, "fcntl", 5),
		.makes_socket = !strcmp(name, "socket") || !strcmp(name, "socketpair"),
		.has_message_flags = !strncmp(name, "recv", 4) || !strncmp(name, "send", 4),
	};
}

void sockets_init(struct sockets *s, const struct trace_head *head)
{
	*s = (struct sockets){
		.head = head,
		.process_count = head->process_count,
		.traits = xcalloc(head->call_count, sizeof(*s->traits)),
		.handles = xcalloc(head->process_count, sizeof(*s->handles)),
		.ids = xcalloc(head->process_count, sizeof(*s->ids)),
		.full_ns = INT64_MAX,
	};
	for (size_t i = 0; i < head->call_count; i++)
		s->traits[i] = trait_of(&head->calls[i]);
}

static void handle_drop(struct socket_handle *h)
{
	if (h && !--h->references)
		free(h);
}

void sockets_release(struct sockets *s)
{
	for (size_t i = 0; i < s->process_count; i++) {
		for (size_t k = 0; k < s->handles[i].cap; k++)
			handle_drop(s->handles[i].entries[k].value);
		map_release(&s->handles[i]);
		map_release(&s->ids[i]);
	}
	for (size_t i = 0; i < s->end_count; i++) {
		free(s->ends[i]->sent.numbers);
		free(s->ends[i]->received.numbers);
		free(s->ends[i]);
	}
	map_release(&s->names);
	free(s->ends);
	free(s->transfers);
	free(s->traits);
	free(s->handles);
	free(s->ids);
	*s = (struct sockets){ 0 };
}

static struct socket_handle *find_handle(const struct sockets *s, uint32_t process, uint64_t link)
{
	uint64_t id = link & ID_MASK;

	return id ? map_get(&s->handles[trace_find_owner(s->head, process, id)], id) : NULL;
}

static void put_handle(struct sockets *s, const struct activity *a, struct socket_handle *h)
{
	h->references++;
	handle_drop(map_remove(&s->handles[a->process], a->id));
	map_put(&s->handles[a->process], a->id, h);
}

static uint64_t hash_name(const char *name, const char *host)
{
	return XXH3_64bits_withSeed(name, strlen(name), XXH3_64bits(host, strlen(host))) | 1;
}

static bool is_named(const struct sockets_end *end, const char *name, const char *host)
{
	return !strcmp(end->name, name) && !strcmp(end->host, host);
}

static struct sockets_end *add_end(struct sockets *s, const struct activity *a, const char *name,
				   enum sockets_role role)
{
	const char *host = s->head->processes[a->process].host;
	struct sockets_end *end = xmalloc(sizeof(*end));
	uint64_t hash = hash_name(name, host);

	*end = (struct sockets_end){ .name = name,
				     .host = host,
				     .number = (uint32_t)s->end_count,
				     .process = a->process,
				     .role = role,
				     .opened_ns = a->start_ns,
				     .accepted_ns = a->start_ns + a->duration_ns,
				     .last_ns = a->start_ns + a->duration_ns,
				     .certain_ns = INT64_MAX,
				     .earlier = map_get(&s->names, hash) };
	map_put(&s->names, hash, end);
	s->ends = xgrow(s->ends, &s->end_cap, s->end_count + 1, sizeof(struct sockets_end *));
	s->ends[s->end_count++] = end;
	return end;
}

/* The latest end with this name: a socket that a process has inherited or received. */
static struct sockets_end *find_end(const struct sockets *s, const struct activity *a,
				    const char *name)
{
	const char *host = s->head->processes[a->process].host;
	struct sockets_end *end = map_get(&s->names, hash_name(name, host));

	return end && is_named(end, name, host) ? end : NULL;
}

static const char *connection_name(const struct sockets *s, const struct activity *a)
{
	return a->present & PRESENT(NAME) && a->name ? s->head->files[a->name] : NULL;
}

static void follow_accept(struct sockets *s, const struct activity *a)
{
	const char *name = connection_name(s, a);
	struct socket_handle *h;

	if (a->error || a->result < 0)
		return;
	h = xcalloc(1, sizeof(*h));
	h->end = name ? add_end(s, a, name, SOCKETS_ACCEPTED) : NULL;
	put_handle(s, a, h);
}

/* A program may call connect() again to ask if a connection was made. */
static void follow_connect(struct sockets *s, const struct activity *a)
{
	struct socket_handle *h = find_handle(s, a->process, a->link);
	const char *name = connection_name(s, a);

	if (h && name && (!h->end || strcmp(h->end->name, name) != 0))
		h->end = add_end(s, a, name, SOCKETS_CONNECTED);
}

static void follow_inherited(struct sockets *s, const struct activity *a)
{
	const char *name = connection_name(s, a);
	struct socket_handle *h;

	if (!name)
		return;
	h = xcalloc(1, sizeof(*h));
	h->end = find_end(s, a, name);
	if (!h->end)
		h->end = add_end(s, a, name, SOCKETS_FOUND);
	put_handle(s, a, h);
}

static void follow_duplicate(struct sockets *s, const struct activity *a)
{
	struct socket_handle *h = find_handle(s, a->process, a->link);

	if (h && !a->error)
		put_handle(s, a, h);
}

/* Follows calls that make descriptors. */
static void follow_handles(struct sockets *s, const struct activity *a,
			   const struct sockets_trait *trait)
{
	bool duplicates =
		trait->is_duplicate || (trait->is_fcntl && a->present & PRESENT(FLAGS) &&
					(a->flags == F_DUPFD || a->flags == F_DUPFD_CLOEXEC));

	if (trait->is_accept)
		follow_accept(s, a);
	else if (trait->is_connect)
		follow_connect(s, a);
	else if (trait->is_inherited)
		follow_inherited(s, a);
	else if (duplicates)
		follow_duplicate(s, a);
	else if (trait->makes_socket && !a->error)
		put_handle(s, a, xcalloc(1, sizeof(struct socket_handle)));
}

uint32_t sockets_transfer(const struct sockets *s, uint32_t process, uint64_t id)
{
	return id ? (uint32_t)(uintptr_t)map_get(&s->ids[process], id) : 0;
}

/* Does an enclosing call transfer the same bytes? */
static bool is_inner(const struct sockets *s, const struct activity *a, uint32_t end, bool is_sent)
{
	uint32_t outer = sockets_transfer(s, a->process, a->parent);
	const struct chain_transfer *t = outer ? &s->transfers[outer - 1] : NULL;

	return t && t->end == end && t->is_sent == is_sent;
}

/* Returns the number + 1. */
static uint32_t put_transfer(struct sockets *s, const struct chain_transfer *t)
{
	if (s->transfer_count == CHAIN_TRANSFERS_MAX) {
		s->full_ns = i64_min(s->full_ns, t->start_ns);
		return 0;
	}
	s->transfers =
		xgrow(s->transfers, &s->transfer_cap, s->transfer_count + 1, sizeof(*s->transfers));
	s->transfers[s->transfer_count++] = *t;
	map_put(&s->ids[t->process], t->id, (void *)s->transfer_count);
	return (uint32_t)s->transfer_count;
}

uint32_t sockets_add_other(struct sockets *s, uint32_t process, uint64_t id, int64_t start_ns,
			   int64_t stop_ns, int64_t bytes, bool is_sent)
{
	if (sockets_transfer(s, process, id))
		return 0;
	return put_transfer(s, &(struct chain_transfer){ .process = process,
							 .id = id,
							 .start_ns = start_ns,
							 .stop_ns = stop_ns,
							 .bytes = (uint64_t)bytes,
							 .end = SOCKETS_NO_END,
							 .is_sent = is_sent });
}

uint32_t sockets_add_cause(struct sockets *s, uint32_t process, uint64_t id, int64_t start_ns,
			   int64_t stop_ns, int64_t bytes)
{
	uint32_t number = sockets_transfer(s, process, id);
	const struct chain_transfer *t = number ? &s->transfers[number - 1] : NULL;

	if (!t)
		return sockets_add_other(s, process, id, start_ns, stop_ns, bytes, true);
	return t->end == SOCKETS_NO_END && t->is_sent && !t->request ? number : 0;
}

static void add_transfer(struct sockets *s, const struct activity *a, struct sockets_end *end,
			 bool is_sent, struct sockets_event *event)
{
	struct sockets_list *list = is_sent ? &end->sent : &end->received;

	if (is_inner(s, a, end->number, is_sent))
		return;
	event->transfer =
		put_transfer(s, &(struct chain_transfer){ .process = a->process,
							  .id = a->id,
							  .start_ns = a->start_ns,
							  .stop_ns = a->start_ns + a->duration_ns,
							  .bytes = (uint64_t)a->result,
							  .end = end->number,
							  .is_sent = is_sent });
	if (!event->transfer)
		return;
	list->numbers = xgrow(list->numbers, &list->cap, list->count + 1, sizeof(*list->numbers));
	list->numbers[list->count++] = event->transfer - 1;
}

/* Bytes that stay in the socket, or that are not of the stream. */
static bool is_beside_stream(const struct sockets_trait *trait, const struct activity *a)
{
	return trait->has_message_flags && a->present & PRESENT(FLAGS) &&
	       a->flags & (MSG_PEEK | MSG_ERRQUEUE);
}

static bool is_out_of_band(const struct sockets_trait *trait, const struct activity *a)
{
	return trait->has_message_flags && a->present & PRESENT(FLAGS) && a->flags & MSG_OOB;
}

/* The socket of a call that transfers data, and the direction. */
static struct socket_handle *find_transfer_socket(const struct sockets *s, const struct activity *a,
						  enum call_class class, bool *is_sent)
{
	struct socket_handle *h = find_handle(s, a->process, a->link);

	*is_sent = class != CLASS_READ;
	if (class == CLASS_COPY && !h) {
		h = find_handle(s, a->process, a->link2);
		*is_sent = false;
	}
	return h;
}

static void follow_transfer(struct sockets *s, const struct activity *a,
			    const struct call_info *call, struct sockets_event *event)
{
	const struct sockets_trait *trait = &s->traits[a->call];
	bool is_sent, asks = !(a->present & PRESENT(SIZE)) || a->size > 0;
	struct socket_handle *h = find_transfer_socket(s, a, call->class, &is_sent);
	struct sockets_end *end = h ? h->end : NULL;

	if (h && !end)
		s->other_calls++;
	if (!end || is_beside_stream(trait, a))
		return;
	event->end = end;
	end->last_ns = i64_max(end->last_ns, a->start_ns + a->duration_ns);
	/* It is not known when a stream or the kernel transfers the bytes. */
	if (call->layer == LAYER_STDIO || call->class == CLASS_START || is_out_of_band(trait, a))
		end->is_buffered = true;
	else if (a->result > 0 && !a->error)
		add_transfer(s, a, end, is_sent, event);
	else if (!is_sent && !a->error && a->result == 0 && asks)
		event->is_end = end->has_ended = true;
}

void sockets_see(struct sockets *s, const struct activity *a, struct sockets_event *event)
{
	const struct call_info *call = &s->head->calls[a->call];
	const struct sockets_trait *trait = &s->traits[a->call];

	*event = (struct sockets_event){ .is_accept = trait->is_accept };
	/* Only a damaged record has no id. */
	if (!a->id)
		return;
	switch (call->class) {
	case CLASS_READ:
	case CLASS_WRITE:
	case CLASS_COPY:
	case CLASS_START:
		follow_transfer(s, a, call, event);
		break;
	default:
		follow_handles(s, a, trait);
	}
}

void sockets_doubt(struct sockets *s, const int64_t *since_ns)
{
	size_t count = s->head->process_count;
	AUTO_FREE int64_t *all_ns = xcalloc(count, sizeof(*all_ns));

	/* A child has a greater index than its parent and can use all that it has inherited. */
	memcpy(all_ns, since_ns, count * sizeof(*all_ns));
	for (size_t i = count; i-- > 0;) {
		int32_t parent = s->head->processes[i].parent;

		if (parent >= 0 && (size_t)parent < i)
			all_ns[parent] = i64_min(all_ns[parent], all_ns[i]);
	}
	for (size_t i = 0; i < s->end_count; i++)
		s->ends[i]->certain_ns = i64_min(s->full_ns, all_ns[s->ends[i]->process]);
	/* Other users have inherited it over exec, or received it as a message. */
	for (size_t i = 0; i < s->transfer_count; i++) {
		struct sockets_end *end;

		if (s->transfers[i].end == SOCKETS_NO_END)
			continue;
		end = s->ends[s->transfers[i].end];
		end->certain_ns = i64_min(end->certain_ns, all_ns[s->transfers[i].process]);
	}
}

bool sockets_reverse_name(struct buf *out, const char *name)
{
	const char *dash = strchr(name, '-');
	bool is_address = (name[0] >= '0' && name[0] <= '9') || name[0] == '[';

	if (!is_address || !dash || strspn(name, "0123456789abcdef.:[]-") != strlen(name))
		return false;
	buf_printf(out, "%s-%.*s", dash + 1, (int)(dash - name), name);
	return true;
}

bool sockets_is_local_name(const char *name)
{
	return !strncmp(name, "127.", 4) || !strncmp(name, "[0:0:0:0:0:0:0:1]", 17) ||
	       !strncmp(name, "[fe80:", 6);
}
