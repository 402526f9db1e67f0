/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/print_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/mem.h"
#include "observe/chain/chain.h"
#include "observe/report/line.h"

#define DEPTH_MAX 40 /* requests that servers pass on to each other in circles have no end */

void print_tree_init(struct print_tree *t, const struct trace_head *head, const struct chain *chain,
		     uint32_t root_process, uint64_t root)
{
	*t = (struct print_tree){
		.head = head, .chain = chain, .root_process = root_process, .root = root
	};
	t->depths = xcalloc(chain_size(chain), sizeof(*t->depths));
	if (root)
		t->selected = xcalloc(head->process_count, sizeof(*t->selected));
}

void print_tree_release(struct print_tree *t)
{
	nest_release(&t->nest);
	for (size_t i = 0; t->selected && i < t->head->process_count; i++)
		map_release(&t->selected[i]);
	free(t->selected);
	free(t->depths);
	free(t->held);
	free(t->held_until_ns);
	*t = (struct print_tree){ 0 };
}

static bool is_selected(const struct print_tree *t, uint32_t process, uint64_t id)
{
	return id && map_get(&t->selected[trace_find_owner(t->head, process, id)], id);
}

/* Is the call the root, or is one of its causes selected? */
static bool is_effect(const struct print_tree *t, const struct activity *a)
{
	const struct chain_transfer *transfer = chain_find(t->chain, a->process, a->id);
	const struct chain_transfer *request = chain_request(t->chain, a);

	if (a->process == t->root_process && a->id == t->root)
		return true;
	if (is_selected(t, a->process, a->parent))
		return true;
	if (request && is_selected(t, request->process, request->id))
		return true;
	for (uint32_t i = 0; transfer && !transfer->is_sent && i < transfer->count; i++) {
		const struct chain_transfer *sent = chain_partner(t->chain, transfer, i);

		if (is_selected(t, sent->process, sent->id))
			return true;
	}
	return false;
}

/* The depth of a call that no other call encloses. */
static size_t depth_by_cause(const struct print_tree *t, const struct activity *a)
{
	const struct chain_transfer *cause = chain_cause(t->chain, a);

	return cause ? t->depths[chain_number(t->chain, cause)] : 0;
}

static size_t put_line(struct print_tree *t, struct buf *out, const struct activity *a)
{
	const struct chain_transfer *transfer = chain_find(t->chain, a->process, a->id);
	const struct nest_call *enclosing;
	size_t inner, depth;

	if (t->selected) {
		if (!is_effect(t, a))
			return 0;
		map_put(&t->selected[a->process], a->id, t);
	}
	inner = nest_enter(&t->nest, a, &enclosing);
	depth = inner ? enclosing[0].node : depth_by_cause(t, a);
	nest_mark(&t->nest, (uint32_t)depth);
	depth = size_min(depth + inner, DEPTH_MAX);
	if (transfer)
		t->depths[chain_number(t->chain, transfer)] = (uint16_t)(depth + 1);
	line_tree(out, t->head, a, depth, t->chain);
	return 1;
}

/* Prints the held calls that are due before this time. */
static size_t release_held(struct print_tree *t, struct buf *out, int64_t before_ns)
{
	size_t kept = 0, lines = 0;

	for (size_t i = 0; i < t->held_count; i++) {
		if (t->held_until_ns[i] < before_ns) {
			lines += put_line(t, out, &t->held[i]);
			continue;
		}
		t->held[kept] = t->held[i];
		t->held_until_ns[kept++] = t->held_until_ns[i];
	}
	t->held_count = kept;
	return lines;
}

/* Holds a receive that began before its bytes were sent. */
static bool hold(struct print_tree *t, const struct activity *a)
{
	const struct chain_transfer *transfer = chain_find(t->chain, a->process, a->id);
	const struct chain_transfer *sent;

	if (!transfer || transfer->is_sent || !transfer->count)
		return false;
	sent = chain_partner(t->chain, transfer, 0);
	if (sent->start_ns <= a->start_ns)
		return false;
	t->held = xgrow(t->held, &t->held_cap, t->held_count + 1, sizeof(*t->held));
	t->held_until_ns = xgrow(t->held_until_ns, &t->until_cap, t->held_count + 1,
				 sizeof(*t->held_until_ns));
	t->held[t->held_count] = *a;
	t->held_until_ns[t->held_count++] = sent->start_ns;
	return true;
}

size_t print_tree_add(struct print_tree *t, struct buf *out, const struct activity *a)
{
	size_t lines = t->held_count ? release_held(t, out, a->start_ns) : 0;

	return hold(t, a) ? lines : lines + put_line(t, out, a);
}

size_t print_tree_finish(struct print_tree *t, struct buf *out)
{
	return release_held(t, out, INT64_MAX);
}

bool print_tree_parse_id(const char *text, uint32_t *process, uint64_t *id)
{
	uint64_t numbers[3] = { 0 }; /* process, thread, call */
	size_t place = 0;

	if (strncmp(text, "ID", 2) != 0)
		return false;
	for (const char *at = text + 2;; at++) {
		char *end;

		if (*at < '0' || *at > '9')
			return false;
		errno = 0;
		numbers[2] = strtoull(at, &end, 10);
		at = end;
		if (errno || !*at)
			break;
		if ((*at != ':' || place > 0) && (*at != '.' || place > 1))
			return false;
		place = *at == ':' ? 1 : 2;
		numbers[place - 1] = numbers[2];
	}
	if (errno || numbers[0] > UINT32_MAX || numbers[1] > ID_THREAD_MAX ||
	    numbers[2] > RECORD_SEQ_MASK)
		return false;
	*process = (uint32_t)numbers[0];
	*id = id_make((uint32_t)numbers[1], numbers[2]);
	return *id != 0;
}
