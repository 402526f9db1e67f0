/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of a whole run equals that of its report; that of a window has the calls of the window.
 */
#include "observe/window/window.h"

#include "observe/profile/profile.h"
#include "window_sample.h"

static struct window_causes find(struct window_index *index, const struct window_filter *f,
				 size_t limit)
{
	struct window_causes causes = { 0 };
	struct err err = { 0 };

	if (window_causes(index, f, limit, &causes, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	return causes;
}

static unsigned call_of(const char *name)
{
	unsigned call = 0;

	while (call < CALLS - 1 && strcmp(calls[call].name, name) != 0)
		call++;
	return call;
}

/* Adds the nodes to a tree like that of a profile, in which copies from all files are one node. */
static void add_to_tree(struct call_tree *tree, const struct window_causes *causes)
{
	AUTO_FREE uint32_t *numbers = xcalloc(causes->count + 1, sizeof(*numbers));

	for (size_t i = 0; i < causes->count; i++) {
		const struct window_cause *c = &causes->list[i];
		struct call_node *node;

		CHECK_INT(c->id, i + 1);
		REQUIRE(c->parent < c->id && c->file);
		numbers[c->id] = call_tree_get(tree, numbers[c->parent], call_of(c->function),
					       c->layer, *c->file ? (file_id)atoi(c->file + 6) : 0);
		node = &tree->nodes[numbers[c->id]];
		node->calls += c->sum.calls;
		node->errors += c->sum.errors;
		node->bytes[0] += c->sum.bytes[0];
		node->bytes[1] += c->sum.bytes[1];
		node->time_ns += c->sum.time_ns;
	}
}

static void check_trees(const struct call_tree *a, const struct call_tree *b)
{
	AUTO_FREE struct call_node *x = call_tree_list(a), *y = call_tree_list(b);

	REQUIRE(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		CHECK(x[i].parent == y[i].parent && x[i].call == y[i].call &&
		      x[i].file == y[i].file && x[i].calls == y[i].calls &&
		      x[i].errors == y[i].errors && x[i].time_ns == y[i].time_ns &&
		      x[i].bytes[READING] == y[i].bytes[READING]);
		/* A report has the requested bytes of asynchronous operations. */
		CHECK(x[i].bytes[WRITING] == y[i].bytes[WRITING] || x[i].call == AIO_WRITE ||
		      x[i].call == URING_WRITE);
	}
}

static void tree_of_the_run_equals_the_report(void)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		struct made m = make_run(3, parallel, 300);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		const struct index_tuning tuning = { .chapter = 64 };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { .level = WINDOW_ALL };
		struct window_causes causes = find(index, &f, 0);
		struct call_tree tree;
		struct profile profile;

		profile_init(&profile, window_index_head(index), NULL);
		for (size_t i = 0; i < m.count; i++)
			profile_add(&profile, &m.list[i]);
		call_tree_init(&tree, 16384);
		add_to_tree(&tree, &causes);
		CHECK_INT(causes.total, causes.count);
		check_trees(&tree, &profile.tree);
		call_tree_release(&tree);
		profile_release(&profile);
		window_causes_release(&causes);
		window_index_close(index);
		free(m.list);
	}
}

static void window_has_its_calls_and_their_parents(void)
{
	struct made m = make_run(3, false, 300);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = 64 };
	struct window_index *index = index_whole_run(path, &tuning);

	for (int i = 0; i < 30; i++) {
		struct window_filter f = { .from_ns = m.end_ns / 40 * i,
					   .to_ns = m.end_ns / 40 * (i + 1 + i % 10),
					   .level = WINDOW_ALL,
					   .function = i % 3 ? NULL : "pwrite",
					   .errors = i % 4 == 0 };
		struct window_causes causes = find(index, &f, 0), few = find(index, &f, 5);
		uint64_t calls_found = 0, calls_made = 0;

		for (size_t k = 0; k < m.count; k++)
			calls_made += all[k].a.start_ns >= f.from_ns &&
				      all[k].a.start_ns < f.to_ns && !all[k].notice &&
				      is_selected(&m, &all[k], &f, false);
		for (size_t k = 0; k < causes.count; k++)
			calls_found += causes.list[k].sum.calls;
		CHECK_INT(calls_found, calls_made);
		CHECK(few.count <= causes.count && few.total == causes.total);
		for (size_t k = 0; k < few.count; k++)
			CHECK(few.list[k].parent < few.list[k].id);
		window_causes_release(&causes);
		window_causes_release(&few);
	}
	window_index_close(index);
	free(m.list);
}

static uint64_t calls_of(const struct window_causes *causes, const struct window_row *function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < causes->count; i++) {
		if (causes->list[i].layer == function->layer &&
		    strcmp(causes->list[i].function, function->name) == 0)
			sum += causes->list[i].sum.calls;
	}
	return sum;
}

/* Calls that no other call of the tree encloses, and whose function the figures do not have. */
static uint64_t count_strange_roots(const struct window_causes *causes,
				    const struct window_rows *functions)
{
	AUTO_FREE bool *inside = xcalloc(causes->count + 1, sizeof(*inside));
	uint64_t sum = 0;

	for (size_t i = 0; i < causes->count; i++) {
		const struct window_cause *c = &causes->list[i];
		bool known = inside[c->parent];

		inside[c->id] = known || c->sum.calls;
		for (size_t k = 0; k < functions->count && !known; k++)
			known = functions->list[k].layer == c->layer &&
				strcmp(functions->list[k].name, c->function) == 0;
		sum += known ? 0 : c->sum.calls;
	}
	return sum;
}

static void tree_has_what_other_figures_count(void)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		struct made m = make_run(3, parallel, 300);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		const struct index_tuning tuning = { .chapter = 64 };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { .level = WINDOW_ALL };
		const struct window_limits limits = { 0 };
		struct window_causes all = find(index, &f, 0), causes, storage;
		struct window_result figures;
		struct err err = { 0 };

		f.level = WINDOW_STORAGE;
		storage = find(index, &f, 0);
		f.level = WINDOW_PROGRAM;
		causes = find(index, &f, 0);
		REQUIRE(window_query(index, &f, &limits, &figures, &err) == 0);
		for (size_t i = 0; i < figures.functions.count; i++)
			CHECK(calls_of(&causes, &figures.functions.list[i]) >=
			      figures.functions.list[i].sum.calls);
		CHECK_INT(count_strange_roots(&causes, &figures.functions), 0);
		CHECK(count_strange_roots(&all, &figures.functions) > 0);
		CHECK_INT(storage.count, causes.count);
		window_result_release(&figures);
		window_causes_release(&all);
		window_causes_release(&causes);
		window_causes_release(&storage);
		window_index_close(index);
		free(m.list);
	}
}

TESTS(TEST(tree_of_the_run_equals_the_report), TEST(window_has_its_calls_and_their_parents),
      TEST(tree_has_what_other_figures_count))
