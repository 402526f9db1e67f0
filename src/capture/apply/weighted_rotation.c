/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/weighted_rotation.h"

#include "capture/record/kernel.h"
#include "contract/spool.h"

/* The weights of a list, and room for the turns that each destination had. Too large for a stack.
 */
struct list {
	unsigned count;
	uint32_t sum;
	uint16_t weights[PARAMETERS_DESTINATIONS], had[PARAMETERS_DESTINATIONS];
};

static void list_free(struct list *list)
{
	if (list)
		kernel_call(SYS_munmap, list, sizeof(*list));
}

/*
 * The sequences of lists, computed once per process by the first thread that needs one. The other
 * threads do not wait but compute the step that they need; so does a child that was forked
 * meanwhile.
 */
static struct {
	_Atomic uint32_t is_taken;
	_Atomic(uint16_t *) table;
	const struct parameters_line *rule; /* valid if table is set */
} known[CONTROL_TURNS];

/* NULL if the text is not a list or there is no memory. */
static struct list *list_new(const char *text)
{
	struct list *list = kernel_map_private(sizeof(*list));
	struct parameters_destination next;

	if (!list)
		return NULL;
	while (list->count < PARAMETERS_DESTINATIONS && parameters_destination(&text, &next)) {
		list->weights[list->count++] = (uint16_t)next.weight;
		list->sum += next.weight;
	}
	if (!*text && list->count && list->sum <= PARAMETERS_WEIGHTS)
		return list;
	list_free(list);
	return NULL;
}

/*
 * The destination of turn n by R. Tijdeman, The chairman assignment problem, Discrete Mathematics
 * 32 (1980): among the k destinations whose share of n turns exceeds their turns so far by at least
 * 1 / (2k - 2), the one with the earliest deadline. The error never exceeds 1 - 1 / (2k - 2).
 */
static unsigned list_next(const struct list *list, const uint16_t *had, uint32_t n)
{
	int64_t m = 2 * (int64_t)list->count - 2, due_best = 0;
	unsigned best = 0;
	bool is_found = false;

	for (unsigned i = 0; i < list->count && m; i++) {
		int64_t weight = list->weights[i], due = (had[i] + 1) * m - 1;

		if ((weight * n - (int64_t)had[i] * list->sum) * m < list->sum)
			continue;
		if (is_found && due * list->weights[best] >= due_best * weight)
			continue;
		is_found = true;
		due_best = due;
		best = i;
	}
	return best;
}

/* Runs the sequence for `steps` turns and returns the last choice; stores all if table is set. */
static unsigned list_run(struct list *list, uint32_t steps, uint16_t *table)
{
	unsigned next = 0;

	memset(list->had, 0, sizeof(list->had));
	for (uint32_t n = 1; n <= steps; n++) {
		next = list_next(list, list->had, n);
		list->had[next]++;
		if (table)
			table[n - 1] = (uint16_t)next;
	}
	return next;
}

/* The index of a list among all lists of the run, the same in every process. */
static unsigned list_index(const struct parameters_line *rule)
{
	unsigned number = 0;

	for (const struct parameters_line *r = rules_own.rule; r < rule; r++)
		number += !strncmp(r->name, "spread_", 7);
	return number < CONTROL_TURNS ? number : CONTROL_TURNS - 1;
}

/* The list's table; NULL if another list has the entry or another thread is computing it. */
static const uint16_t *find_table(const struct parameters_line *rule, struct list *list)
{
	unsigned i = list_index(rule);
	/* Pairs with the release below. */
	uint16_t *table = atomic_load_explicit(&known[i].table, memory_order_acquire);

	if (table)
		return known[i].rule == rule ? table : NULL;
	if (atomic_exchange(&known[i].is_taken, 1))
		return NULL;
	table = kernel_map_private(PARAMETERS_WEIGHTS * sizeof(*table));
	if (!table)
		return NULL;
	list_run(list, list->sum, table);
	known[i].rule = rule;
	/* Publishes the table and its rule; pairs with the acquire above. */
	atomic_store_explicit(&known[i].table, table, memory_order_release);
	return table;
}

uint64_t weighted_rotation_take(_Atomic uint64_t *counters, const struct parameters_line *rule,
				unsigned count)
{
	return atomic_fetch_add_explicit(&counters[list_index(rule)], count, memory_order_relaxed);
}

unsigned weighted_rotation_index(const struct parameters_line *rule, uint64_t turn)
{
	struct list *list;
	const uint16_t *table;
	unsigned chosen;

	if (turn & WEIGHTED_ROTATION_INDEX)
		return (unsigned)(turn & ~WEIGHTED_ROTATION_INDEX);
	list = list_new(rule->value);
	if (!list)
		return PARAMETERS_DESTINATIONS;
	table = find_table(rule, list);
	turn %= list->sum;
	chosen = table ? table[turn] : list_run(list, (uint32_t)turn + 1, NULL);
	list_free(list);
	return chosen;
}

bool weighted_rotation_destination(const struct parameters_line *rule, uint64_t turn,
				   struct parameters_destination *destination)
{
	const char *text = rule->value;
	unsigned chosen = weighted_rotation_index(rule, turn);

	if (chosen >= PARAMETERS_DESTINATIONS)
		return false;
	for (unsigned i = 0; i <= chosen; i++)
		if (!parameters_destination(&text, destination))
			return false;
	return true;
}
