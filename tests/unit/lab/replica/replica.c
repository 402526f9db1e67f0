/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulated Vesta behaves as published: the potential gain over its default on 33 instances,
 * first and later rounds, near and far writers, and a torus with little noise. Models of the
 * machine are tested elsewhere.
 * Papers: HYB-31 to HYB-35, HYB-37, HYB-54 to HYB-56, HYB-59, HYB-AC-5, HYB-AC-7.
 */
#include "lab/replica/replica.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "lab/replica/replica_internal.h"
#include "papers.h"
#include "store/elements.h"

#define MIB 1048576.0
#define REPETITIONS 10
#define DEFAULT 7 /* of the nine choices: 64 aggregators per pset, 16 MiB */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const laws[] = { [REPLICA_QUEUE] = "queue", [REPLICA_SHARE] = "share" };
static const uint64_t nodes_tried[] = { 128, 256, 512 };
static const uint64_t sizes_tried[] = { 1, 2, 4, 8, 16, 32, 64, 96, 128, 196, 256 };
static const uint64_t hints_tried[] = { 4, 16, 64 };
static const uint64_t buffers_tried[] = { 8, 16, 32 };

static struct replica *open_vesta(enum replica_contention contention)
{
	struct replica *replica = NULL;
	struct err err = { 0 };

	CHECK_INT(replica_open(&replica, "vesta", contention, &err), 0);
	CHECK_TEXT(err.text, "");
	REQUIRE(replica);
	return replica;
}

static double run_once(const struct replica *replica, uint64_t nodes, uint64_t mib, size_t choice,
		       uint64_t repetition)
{
	const struct access access = { .nodes = nodes,
				       .ranks = nodes * 16,
				       .rank_bytes = mib << 20 };
	const struct settings settings = { .aggregators = hints_tried[choice / 3],
					   .buffer_bytes = buffers_tried[choice % 3] << 20 };

	return replica_run(replica, &access, &settings, repetition);
}

static double mean_time(const struct replica *replica, uint64_t nodes, uint64_t mib, size_t choice)
{
	double sum = 0;

	for (uint64_t i = 0; i < REPETITIONS; i++)
		sum += run_once(replica, nodes, mib, choice, i);
	return sum / REPETITIONS;
}

static uint64_t count_writers(uint64_t nodes, uint64_t hint)
{
	return (hint + 1) * 8 * nodes / 128;
}

/* Mean seconds of the rounds after the first; each writer writes 1 GiB. */
static double mean_later_round(const struct replica *replica, uint64_t nodes, size_t choice,
			       bool topology)
{
	uint64_t mib = buffers_tried[choice % 3], rounds = 1024 / mib;
	double seconds[128], sum = 0;

	for (uint64_t k = 0; k < REPETITIONS; k++) {
		replica_rounds(replica, nodes, count_writers(nodes, hints_tried[choice / 3]),
			       mib << 20, topology, k, seconds, rounds);
		for (uint64_t i = 1; i < rounds; i++)
			sum += seconds[i] / (double)(rounds - 1);
	}
	return sum / REPETITIONS;
}

static double mean_first_round(const struct replica *replica, uint64_t nodes, size_t choice)
{
	double sum = 0, seconds;

	for (uint64_t k = 0; k < REPETITIONS; k++) {
		replica_rounds(replica, nodes, count_writers(nodes, hints_tried[choice / 3]),
			       buffers_tried[choice % 3] << 20, true, k, &seconds, 1);
		sum += seconds;
	}
	return sum / REPETITIONS;
}

static const char *const operations_wanted[] = { "s_lock", "s_nl_full", "s_nl_partial",
						 "ar",	   "aa",	"aav" };

static void benchmarks_have_as_many_rows_as_published(void)
{
	static const size_t wanted[] = { 270, 27, 270, 57, 51, 1044 };

	for (int contention = REPLICA_QUEUE; contention <= REPLICA_SHARE; contention++) {
		struct replica *replica = open_vesta(contention);
		struct elements rows = { 0 };
		size_t found[COUNT(wanted)] = { 0 };

		CHECK_INT(replica_benchmark(replica, 1, &rows, NULL), 0);
		for (size_t i = 0; i < rows.count; i++) {
			CHECK(rows.rows[i].seconds > 0 && isfinite(rows.rows[i].seconds));
			CHECK_TEXT(rows.rows[i].platform, "vesta");
			for (size_t k = 0; k < COUNT(wanted); k++)
				found[k] +=
					strcmp(rows.rows[i].operation, operations_wanted[k]) == 0;
		}
		CHECK_INT(rows.count, 1719);
		for (size_t k = 0; k < COUNT(wanted); k++)
			CHECK_INT(found[k], wanted[k]);
		elements_release(&rows);
		replica_close(replica);
	}
}

/* The store identifies rows by their arguments; equal rows would be lost. */
static void no_two_rows_have_the_same_arguments(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	struct elements rows = { 0 };
	size_t same = 0;

	CHECK_INT(replica_benchmark(replica, 1, &rows, NULL), 0);
	for (size_t i = 0; i < rows.count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct element *a = &rows.rows[i], *b = &rows.rows[k];

			same += a->bytes == b->bytes && a->writers == b->writers &&
				a->senders == b->senders && a->receivers == b->receivers &&
				a->nodes == b->nodes && a->repetition == b->repetition &&
				strcmp(a->operation, b->operation) == 0;
		}
	CHECK_INT(same, 0);
	elements_release(&rows);
	replica_close(replica);
}

static void equal_seeds_give_equal_results(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	struct elements a = { 0 }, b = { 0 }, c = { 0 };
	size_t differ = 0;

	replica_benchmark(replica, 5, &a, NULL);
	replica_benchmark(replica, 5, &b, NULL);
	replica_benchmark(replica, 6, &c, NULL);
	REQUIRE(a.count == b.count && a.count == c.count);
	CHECK(memcmp(a.rows, b.rows, a.count * sizeof(*a.rows)) == 0);
	for (size_t i = 0; i < a.count; i++)
		differ += a.rows[i].seconds != c.rows[i].seconds;
	CHECK(differ > a.count * 9 / 10);
	CHECK(run_once(replica, 256, 16, 4, 3) == run_once(replica, 256, 16, 4, 3));
	CHECK(run_once(replica, 256, 16, 4, 3) != run_once(replica, 256, 16, 4, 4));
	elements_release(&a);
	elements_release(&b);
	elements_release(&c);
	replica_close(replica);
}

/* Numbers of instances, of 33, by the gain of the best choice over the default. */
struct headroom {
	size_t near, low, high, top; /* up to 1.1, 1.5, 3, above */
	size_t chance;		     /* the mean of the nine speedups is above 1 */
	size_t lucky;		     /* that mean is above 1.5 */
};

static struct headroom headroom_of(const struct replica *replica)
{
	struct headroom h = { 0 };

	for (size_t i = 0; i < COUNT(nodes_tried) * COUNT(sizes_tried); i++) {
		double seconds[9], best = INFINITY, chance = 0;

		for (size_t k = 0; k < 9; k++) {
			seconds[k] = mean_time(replica, nodes_tried[i / COUNT(sizes_tried)],
					       sizes_tried[i % COUNT(sizes_tried)], k);
			CHECK(seconds[k] > 0 && isfinite(seconds[k]));
			best = fmin(best, seconds[k]);
		}
		for (size_t k = 0; k < 9; k++)
			chance += seconds[DEFAULT] / seconds[k] / 9;
		best = seconds[DEFAULT] / best;
		h.near += best <= 1.1;
		h.low += best > 1.1 && best <= 1.5;
		h.high += best > 1.5 && best <= 3;
		h.top += best > 3;
		h.chance += chance > 1;
		h.lucky += chance > 1.5;
	}
	return h;
}

/* Published: 12, 13, 6 and 2; a random choice is better on 15. */
static void potential_gain_over_the_default_is_as_published(void)
{
	for (int contention = REPLICA_QUEUE; contention <= REPLICA_SHARE; contention++) {
		struct replica *replica = open_vesta(contention);
		struct headroom h = headroom_of(replica);

		CHECK(h.near >= 8 && h.near <= 15);
		CHECK(h.low >= 9 && h.low <= 17);
		CHECK(h.high + h.top >= 6 && h.high + h.top <= 11);
		CHECK(h.chance >= 11 && h.chance <= 19);
		PAPER_MISSED("HYB-AC-9", h.near == 12 && h.low == 13 && h.high == 6 && h.top == 2,
			     "`%s` %zu, %zu, %zu, %zu", laws[contention], h.near, h.low, h.high,
			     h.top);
		PAPER_MISSED("HYB-AC-10", h.chance == 15 && h.lucky == 2,
			     "`%s` better on %zu, worse on %zu, above 1.5x on %zu",
			     laws[contention], h.chance, 33 - h.chance, h.lucky);
		replica_close(replica);
	}
}

/* Lock tokens slow down the first round, unless the cache absorbs more of it than of later ones. */
static void first_rounds_are_slower_for_few_writers_and_faster_for_many(void)
{
	for (int contention = REPLICA_QUEUE; contention <= REPLICA_SHARE; contention++) {
		struct replica *replica = open_vesta(contention);
		double few = INFINITY, many = 0;

		for (size_t n = 0; n < 3; n++)
			for (size_t k = 0; k < 9; k++) {
				double ratio = mean_first_round(replica, nodes_tried[n], k) /
					       mean_later_round(replica, nodes_tried[n], k, true);

				if (k < 3)
					few = fmin(few, ratio);
				if (k >= 6)
					many = fmax(many, ratio);
				if (k > 6)
					CHECK(ratio < 1);
			}
		CHECK(few > 1.05);
		if (contention == REPLICA_QUEUE)
			PAPER_MISSED("HYB-AC-15", few > 1 && many < 1,
				     "`queue` at least %.3f for 4, at most %.3f for 64", few, many);
		else
			PAPER_HOLDS("HYB-AC-15", few > 1 && many < 1,
				    "`share` at least %.3f for 4, at most %.3f for 64", few, many);
		replica_close(replica);
	}
}

static void near_writers_are_faster_unless_all_nodes_write(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	double most = 0, full = 0;

	for (size_t n = 0; n < 3; n++)
		for (size_t k = 0; k < 9; k++) {
			double gain = mean_later_round(replica, nodes_tried[n], k, false) /
				      mean_later_round(replica, nodes_tried[n], k, true);

			most = fmax(most, gain);
			CHECK(gain > 0.9);
			if (k >= 6)
				full = fmax(full, gain);
		}
	CHECK(full < 1.15);
	PAPER_MISSED("HYB-AC-16", most >= 1.69 && full < 1.05,
		     "up to %.0f %%, at 64 per pset up to %.0f %%", 100 * (most - 1),
		     100 * (full - 1));
	CHECK(most > 1.35 && most < 1.75);
	replica_close(replica);
}

/* The time of a round relative to that without contention, with a part of the caches dirty. */
static double relative_time(const struct replica *replica, uint64_t nodes, size_t choice,
			    double dirty)
{
	double bytes = (double)buffers_tried[choice % 3] * MIB;
	struct placement placement;
	struct storage_state course;
	struct load load;

	REQUIRE(placement_start(&placement, replica, nodes));
	placement_topology(&placement, 0, count_writers(nodes, hints_tried[choice / 3]), bytes);
	load_init(&load, replica, &placement);
	storage_start(&course, replica, placement.psets, 1);
	for (size_t i = 0; i < course.psets; i++)
		course.dirty[i] = dirty * (double)replica->machine.cache_bytes;
	return storage_write(&course, &load, false) / load.seconds[0];
}

/* Only rounds of 64 aggregators with 32 MiB exceed the capacity of all caches. */
static void only_the_largest_round_exceeds_the_cache(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	double cache = (double)replica_machine(replica)->cache_bytes;

	for (size_t n = 0; n < 3; n++)
		for (size_t k = 0; k < 9; k++) {
			double writers = (double)count_writers(nodes_tried[n], hints_tried[k / 3]);
			double bytes = writers * (double)buffers_tried[k % 3] * MIB;

			CHECK((bytes > cache * (double)nodes_tried[n] / 32) == (k == 8));
			if (k < 8)
				CHECK(relative_time(replica, nodes_tried[n], k, 0.3) < 1.25);
		}
	/* On 512 nodes the servers are too slow to make up for it. */
	CHECK(relative_time(replica, 512, 8, 0.3) > 1.5);
	replica_close(replica);
}

/* Figure 4: 544 writers of 16 MiB on 512 nodes, 32 rounds, two runs. */
static void rounds_of_equal_runs_differ_and_are_out_of_phase(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	double a[32], b[32], ma = 0, mb = 0, ab = 0, aa = 0, bb = 0, least = INFINITY, most = 0;
	size_t slow = 0;

	replica_rounds(replica, 512, 544, 16 << 20, true, 0, a, 32);
	replica_rounds(replica, 512, 544, 16 << 20, true, 1, b, 32);
	for (size_t i = 0; i < 32; i++) {
		ma += 1 / a[i] / 32;
		mb += 1 / b[i] / 32;
		least = fmin(least, a[i]);
		most = fmax(most, a[i]);
	}
	for (size_t i = 1; i < 32; i++) {
		ab += (1 / a[i] - ma) * (1 / b[i] - mb);
		aa += (1 / a[i] - ma) * (1 / a[i] - ma);
		bb += (1 / b[i] - mb) * (1 / b[i] - mb);
	}
	CHECK(most / least > 2);
	CHECK(ab / sqrt(aa * bb) < 0.8);
	for (uint64_t k = 0; k < REPETITIONS; k++) {
		double mean = 0;

		replica_rounds(replica, 512, 544, 16 << 20, true, k, a, 32);
		for (size_t i = 0; i < 32; i++)
			mean += 1 / a[i] / 32;
		slow += 1 / a[0] < 0.8 * mean;
	}
	CHECK(slow >= 8);
	replica_close(replica);
}

static void tokens_cost_more_the_more_writers_touch_a_fresh_file(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	double before = 0;

	for (size_t n = 0; n < 3; n++)
		for (size_t k = 0; k < 3; k++) {
			uint64_t writers = count_writers(nodes_tried[n], hints_tried[k]);
			double cost = 0;

			for (uint64_t i = 0; i < 40; i++) {
				struct placement placement;
				struct storage_state fresh, old;
				struct load load;

				placement_start(&placement, replica, nodes_tried[n]);
				placement_topology(&placement, 0, writers, 8 * MIB);
				load_init(&load, replica, &placement);
				storage_start(&fresh, replica, placement.psets, i);
				storage_start(&old, replica, placement.psets, i);
				cost += storage_write(&fresh, &load, true) -
					storage_write(&old, &load, false);
			}
			CHECK(cost > 0);
			CHECK(k == 0 || cost > before);
			before = cost;
		}
	replica_close(replica);
}

/* Standard deviation / mean of 1000 latencies; *mean relative to one without noise. */
static double spread_of_latencies(const struct replica *replica, double *mean)
{
	double alone = network_alltoall(replica, 512, 16, 4), sum = 0, square = 0;
	struct random random;

	random_init(&random, 1);
	for (int i = 0; i < 1000; i++) {
		double t = network_noisy(replica, &random, alone);

		sum += t;
		square += t * t;
	}
	sum /= 1000;
	*mean = sum / alone;
	return sqrt(fmax(square / 1000 - sum * sum, 0)) / sum;
}

static void torus_has_little_noise(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	double mean, spread = spread_of_latencies(replica, &mean);

	CHECK(mean >= 1 && spread > 0);
	PAPER_HOLDS("HYB-AC-17", spread <= 0.001, "simulated torus %.3f %%", 100 * spread);
	/* The noise of an ordinary network breaks the bound. */
	replica->physics.network_noise = 0.01;
	CHECK(spread_of_latencies(replica, &mean) > 0.001);
	replica_close(replica);
}

/* A cache that is full when a run begins absorbs nothing. */
static void dirty_caches_slow_a_round_down(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);

	for (size_t n = 0; n < 3; n++)
		CHECK(relative_time(replica, nodes_tried[n], DEFAULT, 0.85) >
		      1.15 * relative_time(replica, nodes_tried[n], DEFAULT, 0));
	CHECK(relative_time(replica, 512, DEFAULT, 0.85) >
	      3 * relative_time(replica, 512, DEFAULT, 0));
	replica_close(replica);
}

static void dirty_bytes_stay_between_zero_and_the_cache_size(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	double cache = (double)replica->machine.cache_bytes;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct placement placement;
		struct storage_state course;
		struct load load;

		placement_start(&placement, replica, 256);
		placement_topology(&placement, 0, 1040, 32 * MIB);
		load_init(&load, replica, &placement);
		storage_start(&course, replica, placement.psets, seed);
		for (int i = 0; i < 60; i++) {
			CHECK(storage_write(&course, &load, i == 0) > 0);
			for (size_t k = 0; k < course.psets; k++)
				CHECK(course.dirty[k] >= 0 && course.dirty[k] <= cache);
			storage_wait(&course, i % 3);
		}
	}
	replica_close(replica);
}

/* The same bytes from fewer nodes take longer. */
static void cores_of_a_node_are_served_one_after_the_other(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	struct placement spread, heaped;
	struct load a, b;

	placement_start(&spread, replica, 128);
	placement_start(&heaped, replica, 128);
	placement_topology(&spread, 0, 4 * 8, 8 * MIB);
	for (int i = 0; i < 4; i++)
		placement_topology(&heaped, 0, 4 * 2, 8 * MIB);
	load_init(&a, replica, &spread);
	load_init(&b, replica, &heaped);
	CHECK(a.bytes[0] == b.bytes[0] && a.writers == b.writers);
	CHECK(b.seconds[0] > 1.3 * a.seconds[0]);
	replica_close(replica);
}

static void topology_fills_bridges_first_and_psets_evenly(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	struct placement placement;

	placement_start(&placement, replica, 512);
	placement_topology(&placement, 0, 544, 1);
	CHECK_INT(placement.writers, 544);
	for (size_t i = 0; i < 16; i++) {
		double sum = 0;

		for (size_t k = 0; k < 32; k++)
			sum += placement.count[i][k];
		CHECK(sum == 34 && placement.count[i][0] == 2 && placement.count[i][31] == 2);
	}
	placement_start(&placement, replica, 512);
	placement_uniform(&placement, 16, 544, 1);
	CHECK_INT(placement.writers, 544);
	CHECK(placement_crowd(&placement) == 2);
	placement_start(&placement, replica, 256);
	placement_uniform(&placement, 16, 1040, 1);
	CHECK_INT(placement.writers, 1040);
	CHECK(placement_crowd(&placement) == 5);
	replica_close(replica);
}

static void time_grows_with_the_amount_of_data(void)
{
	struct replica *replica = open_vesta(REPLICA_SHARE);

	for (size_t k = 0; k < 9; k++)
		for (size_t i = 3; i < COUNT(sizes_tried); i += 2)
			CHECK(mean_time(replica, 256, sizes_tried[i], k) >
			      mean_time(replica, 256, sizes_tried[i - 2], k));
	replica_close(replica);
}

static void contention_models_differ(void)
{
	struct replica *queue = open_vesta(REPLICA_QUEUE), *share = open_vesta(REPLICA_SHARE);
	size_t differ = 0;

	for (size_t k = 0; k < 9; k++) {
		double ratio = mean_time(queue, 512, 64, k) / mean_time(share, 512, 64, k);

		differ += fabs(log(ratio)) > 0.02;
	}
	CHECK(differ >= 5);
	replica_close(queue);
	replica_close(share);
}

static void unsupported_accesses_have_no_time(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	struct access access = { .nodes = 128, .ranks = 2048, .rank_bytes = 1 << 20 };
	const struct settings settings = { 0 };
	double seconds = 0;

	CHECK(replica_run(replica, &access, &settings, 0) > 0);
	access.is_read = true;
	CHECK(isnan(replica_run(replica, &access, &settings, 0)));
	access = (struct access){ .nodes = 100, .ranks = 1600, .rank_bytes = 1 << 20 };
	CHECK(isnan(replica_run(replica, &access, &settings, 0)));
	access = (struct access){ .nodes = 128, .ranks = 2048 };
	CHECK(isnan(replica_run(replica, &access, &settings, 0)));
	replica_rounds(replica, 128, 128 * 16 + 1, 1 << 20, true, 0, &seconds, 1);
	CHECK(isnan(seconds));
	replica_close(replica);
}

static void defaults_are_those_of_the_machine(void)
{
	struct replica *replica = open_vesta(REPLICA_QUEUE);
	const struct access access = { .nodes = 128, .ranks = 2048, .rank_bytes = 16 << 20 };
	const struct settings settings = { 0 };

	CHECK(replica_run(replica, &access, &settings, 2) ==
	      run_once(replica, 128, 16, DEFAULT, 2));
	replica_close(replica);
}

static char *write_description(const char *text)
{
	char *path = xstrdup("/tmp/replicaXXXXXX.ini");
	int fd = mkstemps(path, 4);

	REQUIRE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

#define MACHINE                                                                              \
	"[machine]\nname = small\nromio = bluegene\n[nodes]\ncores = 4\n[forwarding]\n"      \
	"bridges = 2\nbridge_nodes = 8\npset_nodes = 8\n[storage]\ncache = 1G\nblock = 1M\n" \
	"[defaults]\naggregators = 2\ncb_buffer_size = 4M\n"

static void incomplete_descriptions_are_refused(void)
{
	static const struct {
		const char *text, *part;
		int code;
	} cases[] = {
		{ MACHINE, "[replica]", ENODATA },
		{ MACHINE "[replica]\ntargets = 40\n", "missing", EINVAL },
		{ MACHINE "[replica]\ntargets = many\n", "targets", EINVAL },
		{ MACHINE "[replica]\ntarget = 40\n", "target", EINVAL },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO_FREE char *path = write_description(cases[i].text);
		struct replica *replica = NULL;
		struct err err = { 0 };

		CHECK_INT(replica_open(&replica, path, REPLICA_QUEUE, &err), -cases[i].code);
		CHECK(!replica && strstr(err.text, cases[i].part));
		if (!strstr(err.text, cases[i].part))
			printf("%s\n", err.text);
		unlink(path);
	}
	replica_close(NULL);
}

TESTS(TEST(benchmarks_have_as_many_rows_as_published), TEST(no_two_rows_have_the_same_arguments),
      TEST(equal_seeds_give_equal_results), TEST(potential_gain_over_the_default_is_as_published),
      TEST(first_rounds_are_slower_for_few_writers_and_faster_for_many),
      TEST(near_writers_are_faster_unless_all_nodes_write),
      TEST(only_the_largest_round_exceeds_the_cache),
      TEST(rounds_of_equal_runs_differ_and_are_out_of_phase),
      TEST(tokens_cost_more_the_more_writers_touch_a_fresh_file), TEST(torus_has_little_noise),
      TEST(dirty_caches_slow_a_round_down), TEST(dirty_bytes_stay_between_zero_and_the_cache_size),
      TEST(cores_of_a_node_are_served_one_after_the_other),
      TEST(topology_fills_bridges_first_and_psets_evenly), TEST(time_grows_with_the_amount_of_data),
      TEST(contention_models_differ), TEST(unsupported_accesses_have_no_time),
      TEST(defaults_are_those_of_the_machine), TEST(incomplete_descriptions_are_refused))
