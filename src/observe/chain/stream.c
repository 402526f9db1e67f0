/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/stream.h"

/* Computes offsets and marks what is not certain. Returns the number of calls that are not cut. */
static size_t place_calls(struct stream_side *side)
{
	uint64_t offset = 0;
	int64_t latest_ns = INT64_MIN;
	size_t latest = 0;

	for (size_t i = 0; i < side->count; i++) {
		struct stream_call *c = &side->calls[i];

		c->first = c->count = 0;
		c->is_unordered = c->is_partly_matched = false;
		c->is_cut = c->stop_ns > side->certain_ns || (i && side->calls[i - 1].is_cut);
		c->offset = offset;
		offset += c->bytes;
		if (i && c->start_ns < latest_ns)
			c->is_unordered = side->calls[latest].is_unordered = true;
		if (c->stop_ns > latest_ns) {
			latest_ns = c->stop_ns;
			latest = i;
		}
	}
	for (size_t i = 0; i < side->count; i++)
		if (side->calls[i].is_cut)
			return i;
	return side->count;
}

static uint64_t end_of(const struct stream_call *c)
{
	return c->offset + c->bytes;
}

/* The offset up to which the calls of a side are known. */
static uint64_t known_bytes(const struct stream_side *side, size_t certain)
{
	return certain ? end_of(&side->calls[certain - 1]) : 0;
}

static bool sums_agree(const struct stream_side *sent, size_t sent_certain,
		       const struct stream_side *received, size_t received_certain)
{
	uint64_t out = known_bytes(sent, sent_certain);
	uint64_t in = known_bytes(received, received_certain);
	bool all_sent = sent->certain_ns == INT64_MAX;
	bool all_received = received->certain_ns == INT64_MAX;

	if (all_sent && in > out)
		return false;
	return !(all_sent && all_received && received->has_ended) || in == out;
}

static bool is_certain(const struct stream_call *c)
{
	return !c->is_cut && !c->is_unordered;
}

/* Both lists are in order of offsets, so the partners of a call follow each other. */
static void find_partners(struct stream_call *calls, size_t count, const struct stream_call *others,
			  size_t other_count, bool must_be_covered)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		struct stream_call *c = &calls[i];
		size_t end;

		while (at < other_count && end_of(&others[at]) <= c->offset)
			at++;
		for (end = at; end < other_count && others[end].offset < end_of(c); end++)
			c->is_partly_matched |= !is_certain(&others[end]);
		c->first = (uint32_t)at;
		c->count = (uint32_t)(end - at);
		if (must_be_covered && (!c->count || end_of(&others[end - 1]) < end_of(c)))
			c->is_partly_matched = true;
	}
}

static bool times_agree(const struct stream_side *received, size_t count,
			const struct stream_side *sent, int64_t slack_ns)
{
	if (slack_ns == INT64_MAX)
		return true;
	for (size_t i = 0; i < count; i++) {
		const struct stream_call *c = &received->calls[i];
		const struct stream_call *last =
			c->count ? &sent->calls[c->first + c->count - 1] : NULL;

		if (last && last->start_ns - slack_ns > c->stop_ns && is_certain(c) &&
		    is_certain(last))
			return false;
	}
	return true;
}

/* Removes the partners of calls that are not certain; all: of every call. */
static void drop_partners(struct stream_side *side, bool all)
{
	for (size_t i = 0; i < side->count; i++) {
		struct stream_call *c = &side->calls[i];

		if (all || !is_certain(c) || c->is_partly_matched)
			c->first = c->count = 0;
	}
}

bool stream_match(struct stream_side *sent, struct stream_side *received, int64_t slack_ns)
{
	size_t out = place_calls(sent), in = place_calls(received);
	bool agrees = sums_agree(sent, out, received, in);

	if (agrees) {
		find_partners(received->calls, in, sent->calls, out, true);
		/* What a complete receiver has not received, it has not read. */
		find_partners(sent->calls, out, received->calls, in,
			      received->certain_ns != INT64_MAX);
		agrees = times_agree(received, in, sent, slack_ns);
	}
	drop_partners(sent, !agrees);
	drop_partners(received, !agrees);
	return agrees;
}
