/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/data_comparison.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tune/content/data_comparison_internal.h"

/* If more outputs have other names than in the reference, they are not searched by content. */
#define NAMELESS_MAX 1000

void data_comparison_release(struct data_comparison *c)
{
	for (size_t i = 0; i < c->count; i++) {
		manifest_item_release(&c->items[i].item);
		free(c->items[i].varies);
	}
	free(c->items);
	manifest_release(&c->gaps);
	*c = (struct data_comparison){ 0 };
}

/* The items of one manifest beside those of the reference. */
struct pairing {
	const struct manifest *manifest;
	bool *used; /* per item of the manifest */
	size_t nameless;
};

static struct pairing pairing_new(const struct manifest *manifest)
{
	return (struct pairing){ .manifest = manifest,
				 .used = xcalloc(manifest->count + 1, sizeof(bool)) };
}

static bool is_same_content(const struct manifest_item *a, const struct manifest_item *b)
{
	return !a->unread && !b->unread && a->shape == b->shape && a->bytes == b->bytes &&
	       a->high == b->high && a->low == b->low;
}

/* An unused item with another name but the same content. */
static const struct manifest_item *find_by_content(struct pairing *p,
						   const struct manifest_item *item)
{
	if (p->nameless++ > NAMELESS_MAX)
		return NULL;
	for (size_t i = 0; i < p->manifest->count; i++) {
		const struct manifest_item *other = &p->manifest->items[i];

		if (p->used[i] || other->origin != item->origin ||
		    strcmp(other->object, item->object) != 0 || !is_same_content(other, item))
			continue;
		p->used[i] = true;
		return other;
	}
	return NULL;
}

static const struct manifest_item *find_by_name(struct pairing *p, const struct manifest_item *item)
{
	const struct manifest_item *found = NULL;

	if (p->manifest->count)
		found = bsearch(item, p->manifest->items, p->manifest->count, sizeof(*found),
				manifest_item_compare);
	if (found)
		p->used[found - p->manifest->items] = true;
	return found;
}

/* The extent of a text is its lines: lines that vary may have other lengths. */
static bool has_same_extent(const struct manifest_item *a, const struct manifest_item *b)
{
	return a->is_text == b->is_text && a->shape == b->shape &&
	       (a->is_text ? a->block_count == b->block_count : a->bytes == b->bytes);
}

static bool has_same_blocks(const struct manifest_item *a, const struct manifest_item *b)
{
	return a->block_bytes == b->block_bytes && a->block_count == b->block_count;
}

/* Marks the blocks that differ. Returns whether there are new ones. */
static bool mark_blocks(struct data_comparison_item *known, const struct manifest_item *item)
{
	size_t before = known->varying;

	if (!known->varies)
		known->varies = xcalloc(item->block_count + 1, sizeof(*known->varies));
	for (size_t i = 0; i < item->block_count; i++) {
		if (known->varies[i] || known->item.blocks[i] == item->blocks[i])
			continue;
		known->varies[i] = true;
		known->varying++;
	}
	if (known->varying == known->item.block_count)
		known->excluded = DATA_VARIES;
	return known->varying > before;
}

/* Compares an item of another run of the baseline. Returns whether it shows a new variation. */
static bool note_variation(struct data_comparison_item *known, const struct manifest_item *item)
{
	if (known->item.unread || item->unread) {
		if (!known->item.unread)
			known->item.unread = xstrdup(item->unread);
		known->excluded = DATA_UNREAD;
		return true;
	}
	if (!has_same_extent(&known->item, item) ||
	    (!is_same_content(&known->item, item) && !has_same_blocks(&known->item, item))) {
		known->excluded = DATA_VARIES;
		return true;
	}
	return !is_same_content(&known->item, item) && mark_blocks(known, item);
}

/* Does the item belong to a file? */
static bool is_of_file(const struct manifest_item *item)
{
	return item->origin == MANIFEST_OUTPUT;
}

static bool has_unused(const struct pairing *p)
{
	for (size_t i = 0; i < p->manifest->count; i++)
		if (!p->used[i] && is_of_file(&p->manifest->items[i]))
			return true;
	return false;
}

static bool note_variations(struct data_comparison *c, struct pairing *p)
{
	bool is_new = false;

	for (size_t i = 0; i < c->count; i++) {
		struct data_comparison_item *known = &c->items[i];
		const struct manifest_item *item = find_by_name(p, &known->item);

		if (item && known->excluded == DATA_INCLUDED)
			is_new |= note_variation(known, item);
	}
	for (size_t i = 0; i < c->count; i++) {
		struct data_comparison_item *known = &c->items[i];

		if (known->excluded != DATA_INCLUDED ||
		    (p->manifest->count &&
		     bsearch(&known->item, p->manifest->items, p->manifest->count,
			     sizeof(*p->manifest->items), manifest_item_compare)))
			continue;
		is_new |= !known->is_nameless;
		known->is_nameless = true;
		if (!find_by_content(p, &known->item)) {
			known->excluded = DATA_SOMETIMES;
			is_new = true;
		}
	}
	if (has_unused(p) && !c->has_strangers)
		c->has_strangers = is_new = true;
	return is_new;
}

static void take_reference(struct data_comparison *c, struct manifest *manifest)
{
	c->items = xcalloc(manifest->count + 1, sizeof(*c->items));
	for (size_t i = 0; i < manifest->count; i++) {
		struct manifest_item *item = &manifest->items[i];

		c->items[i] = (struct data_comparison_item){
			.item = *item,
			.excluded = item->unread ? DATA_UNREAD : DATA_INCLUDED,
		};
	}
	c->count = manifest->count;
	manifest->count = 0;
}

bool data_comparison_add_baseline(struct data_comparison *c, struct manifest *manifest)
{
	bool is_new = true;

	manifest_sort(manifest);
	for (size_t i = 0; i < manifest->gap_count; i++)
		manifest_add_gap(&c->gaps, manifest->gaps[i]);
	if (!c->baselines++) {
		take_reference(c, manifest);
	} else {
		struct pairing p = pairing_new(manifest);

		is_new = note_variations(c, &p);
		free(p.used);
	}
	manifest_release(manifest);
	return is_new;
}

bool data_comparison_needs_stdout(const struct data_comparison *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].excluded == DATA_INCLUDED && c->items[i].item.bytes &&
		    is_of_file(&c->items[i].item))
			return false;
	return true;
}

char *data_comparison_name(const struct manifest_item *item)
{
	return xprintf("%s%s%s", item->file, *item->object ? ":" : "", item->object);
}

/* The first block that differs although it does not vary; block_count: none. */
static size_t find_difference(const struct data_comparison_item *known,
			      const struct manifest_item *item)
{
	size_t i = 0;

	while (i < item->block_count &&
	       (known->item.blocks[i] == item->blocks[i] || (known->varies && known->varies[i])))
		i++;
	return i;
}

/* NULL if the item equals that of the baseline; else what differs, which the caller frees. */
static char *describe_difference(const struct data_comparison_item *known,
				 const struct manifest_item *item)
{
	AUTO_FREE char *name = data_comparison_name(&known->item);
	size_t block;

	if (item->unread)
		return xprintf("%s: %s", name, item->unread);
	if (!has_same_extent(&known->item, item))
		return known->item.shape != item->shape
			       ? xprintf("%s has another type or shape", name)
			       : xprintf("%s has %" PRIu64 " bytes instead of %" PRIu64, name,
					 item->bytes, known->item.bytes);
	if (is_same_content(&known->item, item))
		return NULL;
	if (!has_same_blocks(&known->item, item))
		return xprintf("%s differs", name);
	block = find_difference(known, item);
	if (block == item->block_count)
		return NULL;
	if (item->is_text)
		return xprintf("%s differs in line %zu", name, block + 1);
	return xprintf("%s differs at byte %" PRIu64 " or later", name, block * item->block_bytes);
}

/* Why an item was not found: the whole file may be unreadable. */
static char *describe_absence(const struct manifest_item *item, struct pairing *p)
{
	struct manifest_item whole = { .file = item->file, .object = (char *)"" };
	const struct manifest_item *found = find_by_name(p, &whole);
	AUTO_FREE char *name = data_comparison_name(item);

	return found && found->unread ? xprintf("%s: %s", item->file, found->unread)
				      : xprintf("%s is missing", name);
}

/* Compares an item that the run must have written. */
static char *check_item(const struct data_comparison_item *known, struct pairing *p)
{
	const struct manifest_item *item = find_by_name(p, &known->item);

	if (item)
		return describe_difference(known, item);
	if (known->is_nameless && find_by_content(p, &known->item))
		return NULL;
	return describe_absence(&known->item, p);
}

/* Finds an output that the baseline does not write. */
static char *check_unused(const struct data_comparison *c, const struct pairing *p)
{
	for (size_t i = 0; i < p->manifest->count && !c->has_strangers; i++) {
		const struct manifest_item *item = &p->manifest->items[i];
		AUTO_FREE char *name = data_comparison_name(item);

		if (p->used[i] || !is_of_file(item))
			continue;
		return item->unread ? xprintf("%s: %s", name, item->unread)
				    : xprintf("%s is not written by the baseline", name);
	}
	return NULL;
}

bool data_comparison_check(const struct data_comparison *c, const struct manifest *manifest,
			   char **why)
{
	bool needs_stdout = data_comparison_needs_stdout(c);
	struct pairing p = pairing_new(manifest);
	char *found = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct data_comparison_item *known = &c->items[i];

		if (known->excluded != DATA_INCLUDED)
			find_by_name(&p, &known->item);
		else if (!found && (known->item.origin != MANIFEST_STDOUT || needs_stdout))
			found = check_item(known, &p);
		else
			find_by_name(&p, &known->item);
	}
	if (!found)
		found = check_unused(c, &p);
	free(p.used);
	if (found)
		*why = found;
	return !found;
}
