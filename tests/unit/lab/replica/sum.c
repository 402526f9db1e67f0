/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulated machine is more detailed than the hybrid model: the sum of the true mean times of
 * all elemental operations is not the time of a run. A model that is evaluated on this machine is
 * therefore not correct by construction.
 * Papers: HYB-59.
 */
#include <math.h>

#include "check.h"
#include "lab/model/bluegene.h"
#include "lab/replica/replica_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CONFIGURATIONS 297
#define WRITER_BYTES 1073741824.0
#define REPETITIONS 3

static const uint64_t nodes_tried[] = { 128, 256, 512 };
static const uint64_t sizes_tried[] = { 1, 2, 4, 8, 16, 32, 64, 96, 128, 196, 256 };
static const uint64_t hints_tried[] = { 4, 16, 64 };
static const uint64_t buffers_tried[] = { 8, 16, 32 };

static double mean_storage_time(const struct replica *replica, const struct placement *placement,
				double bytes, bool is_first)
{
	double rounds = fmax(WRITER_BYTES / bytes, 2), sum = 0;
	struct storage_state course;
	struct load load;

	load_init(&load, replica, placement);
	for (uint64_t i = 0; i < REPETITIONS; i++) {
		double first;

		storage_start(&course, replica, placement->psets, 1000 + i);
		first = storage_write(&course, &load, true);
		sum += is_first ? first : 0;
		for (int k = 1; !is_first && k < rounds; k++)
			sum += storage_write(&course, &load, false) / (rounds - 1);
	}
	return sum / REPETITIONS;
}

static double true_cost(void *arg, enum operation operation, const struct elemental *at)
{
	const struct replica *replica = arg;
	struct placement placement;
	double writers = operations[operation].kind == OPERATION_STORAGE
				 ? fmax(round(at->writers * at->nodes), 1)
				 : at->receivers;

	if (operation == OPERATION_ALLREDUCE)
		return network_allreduce(replica, at->nodes, at->cores, at->bytes);
	if (operation == OPERATION_ALLTOALL)
		return network_alltoall(replica, at->nodes, at->cores, at->bytes);
	REQUIRE(placement_start(&placement, replica, (uint64_t)at->nodes));
	placement_topology(&placement, 0, (uint64_t)writers, at->bytes);
	if (operation == OPERATION_ALLTOALLV)
		return network_exchange(replica,
					&(struct exchange){ at->nodes, at->cores, at->senders,
							    at->receivers, at->bytes,
							    placement_crowd(&placement) });
	return mean_storage_time(replica, &placement, at->bytes,
				 operation == OPERATION_WRITE_FIRST);
}

/* The sum of the true means divided by the mean time of runs. */
static double compute_ratio(struct replica *replica, size_t i, const struct bluegene_rules *rules)
{
	uint64_t nodes = nodes_tried[i / 99];
	const struct access access = { .nodes = nodes,
				       .ranks = nodes * 16,
				       .rank_bytes = sizes_tried[i / 9 % 11] << 20 };
	const struct settings settings = { .aggregators = hints_tried[i / 3 % 3],
					   .buffer_bytes = buffers_tried[i % 3] << 20 };
	struct machine machine = *replica_machine(replica);
	struct counts counts;
	double sum = 0;

	bluegene_attach(&machine, rules);
	REQUIRE(counts_compute(&counts, &machine, &access, &settings, NULL) == 0);
	for (uint64_t k = 0; k < REPETITIONS; k++)
		sum += replica_run(replica, &access, &settings, k);
	return counts_price(&counts, true_cost, replica, NULL) / (sum / REPETITIONS);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sum_of_true_means_is_close_in_the_middle_and_off_at_the_ends(void)
{
	for (int contention = REPLICA_QUEUE; contention <= REPLICA_SHARE; contention++)
		for (int single = SINGLE_PUBLISHED; single <= SINGLE_CORRECTED; single++) {
			const struct bluegene_rules rules = { .single = single };
			struct replica *replica = NULL;
			double ratios[CONFIGURATIONS], factors[CONFIGURATIONS];

			REQUIRE(replica_open(&replica, "vesta", contention, NULL) == 0);
			for (size_t i = 0; i < CONFIGURATIONS; i++) {
				ratios[i] = compute_ratio(replica, i, &rules);
				factors[i] = exp(fabs(log(ratios[i])));
			}
			qsort(ratios, CONFIGURATIONS, sizeof(*ratios), compare_doubles);
			qsort(factors, CONFIGURATIONS, sizeof(*factors), compare_doubles);
			CHECK(ratios[148] > 0.95 && ratios[148] < 1.15);
			CHECK(factors[267] > 1.2 && factors[267] < 2.5);
			CHECK(factors[296] > 1.8);
			replica_close(replica);
		}
}

TESTS(TEST(sum_of_true_means_is_close_in_the_middle_and_off_at_the_ends))
