/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accesses that are not contiguous, on a machine with known costs: the prices of pieces, data
 * sieving and aggregators, the recommendation among them, and calibrated models.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/checked_file.h"
#include "predict/model/hybrid/choices.h"
#include "predict/model/hybrid/hybrid.h"
#include "store/elements.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

extern const struct learner_ops learner_linear;
static const struct learner_ops *const line_alone[] = { &learner_linear, NULL };

static const struct machine generic = { .name = "toy",
					.title = "Toy",
					.romio = ROMIO_GENERIC,
					.cores = 8,
					.node_aggregators = 1,
					.block_bytes = 4 * KIB,
					.buffer_bytes = 16 * MIB };

/* A call costs 2 us, and all bytes of all writers 0.25 ns each. */
static double price(enum operation o, double ranks, double writers, double bytes)
{
	switch (o) {
	case OPERATION_PIECE_COPY:
		return 2e-8 + 1e-10 * bytes;
	case OPERATION_PIECE_EXCHANGE:
		return 1e-6 + 2e-10 * bytes;
	case OPERATION_SIEVE:
		return 5e-6 + 5e-10 * bytes * writers;
	case OPERATION_PIECE_WRITE:
	case OPERATION_PIECE_READ:
		return 2e-6 + 2.5e-10 * bytes * writers;
	default:
		return operations[o].kind == OPERATION_STORAGE ? 2e-6 + 2.5e-10 * bytes * writers
							       : 1e-5 * ranks + 1e-9 * bytes;
	}
}

static void add_row(struct elements *rows, enum operation o, double ranks, double writers,
		    double bytes)
{
	bool is_exchange = operations[o].kind == OPERATION_EXCHANGE;
	struct element row = { .platform = "toy",
			       .nodes = 1,
			       .cores = ranks,
			       .senders = is_exchange ? writers : 0,
			       .receivers = is_exchange ? writers : 0,
			       .writers = operation_has_writers(o) ? writers : 0,
			       .bytes = bytes,
			       .seconds = price(o, ranks, writers, bytes),
			       .time_ns = 1700000000000000000 };

	snprintf(row.operation, sizeof(row.operation), "%s", operations[o].name);
	elements_add(rows, &row);
}

static void fit(struct hybrid *hybrid)
{
	const struct costs_plan plan = { .learners = line_alone, .budget = 1, .seed = 3 };
	struct elements rows = { 0 };
	struct err err = { 0 };

	for (int o = 0; o < OPERATIONS; o++)
		for (double ranks = 2; !operations[o].is_derived && ranks <= 8; ranks *= 2)
			for (double writers = 1; writers <= ranks; writers *= 2)
				for (double bytes = 4; bytes <= 1 << 26; bytes *= 2)
					add_row(&rows, (enum operation)o, ranks, writers, bytes);
	REQUIRE(hybrid_fit(hybrid, &generic, &rows, &plan, &err) == 0);
	elements_release(&rows);
}

static struct access strided(uint64_t block, uint64_t stride)
{
	return (struct access){ .pattern = ACCESS_STRIDED,
				.nodes = 1,
				.ranks = 4,
				.rank_bytes = MIB,
				.block_bytes = block,
				.stride_bytes = stride };
}

static const struct settings collective = { 0 };
static const struct settings sieved = { .buffering = BUFFERING_DISABLED };
static const struct settings pieces = { .buffering = BUFFERING_DISABLED,
					.sieving = BUFFERING_DISABLED };

static double predict(const struct hybrid *hybrid, struct access access, struct settings settings)
{
	struct prediction p;
	struct err err = { 0 };

	CHECK_INT(hybrid_predict(hybrid, &access, &settings, 0.9, &p, &err), 0);
	CHECK_TEXT(err.text, "");
	return p.seconds;
}

static void small_pieces_cost_more_than_large_ones(void)
{
	const struct settings *const all[] = { &collective, &sieved, &pieces };
	struct hybrid hybrid;

	fit(&hybrid);
	for (int is_read = 0; is_read < 2; is_read++)
		for (size_t i = 0; i < 3; i++) {
			double last = INFINITY;

			for (uint64_t block = 64; block <= 64 * KIB; block *= 8) {
				struct access access = strided(block, block);
				double seconds;

				access.is_read = is_read;
				seconds = predict(&hybrid, access, *all[i]);
				CHECK(seconds < last);
				last = seconds;
			}
		}
	hybrid_release(&hybrid);
}

static void sieving_beats_tiny_pieces_and_loses_to_distant_large_ones(void)
{
	struct hybrid hybrid;

	fit(&hybrid);
	CHECK(predict(&hybrid, strided(64, 64), sieved) <
	      predict(&hybrid, strided(64, 64), pieces) / 2);
	CHECK(predict(&hybrid, strided(64 * KIB, MIB), pieces) <
	      predict(&hybrid, strided(64 * KIB, MIB), sieved) / 2);
	hybrid_release(&hybrid);
}

static struct settings recommend(const struct hybrid *hybrid, const struct access *access)
{
	static const struct settings initial;
	struct choices choices = { 0 };
	struct recommendation best;
	struct settings found;
	struct err err = { 0 };

	REQUIRE(choices_from_catalog(&choices, hybrid, access, &err) == 0);
	REQUIRE(hybrid_recommend(hybrid, access, choices.list, choices.count, &initial, 0.9, &best,
				 &err) == 0);
	found = best.keep ? initial : choices.list[best.best];
	choices_release(&choices);
	return found;
}

static void the_recommendation_chooses_among_all_transfers(void)
{
	struct access tiny = strided(64, 64), distant = strided(64 * KIB, MIB);
	struct access contiguous = { .nodes = 1, .ranks = 4, .rank_bytes = MIB };
	struct hybrid hybrid;
	struct settings s;

	fit(&hybrid);
	/* The default of tiny pieces exchanges them, which costs 1 us each on both sides. */
	s = recommend(&hybrid, &tiny);
	CHECK(s.buffering == BUFFERING_DISABLED && s.sieving != BUFFERING_DISABLED);
	/* Aggregators and data sieving also move the bytes between the pieces. */
	s = recommend(&hybrid, &distant);
	CHECK(s.buffering == BUFFERING_DISABLED && s.sieving == BUFFERING_DISABLED);
	/* The library's default of contiguous accesses is independent: aggregators are worse. */
	s = recommend(&hybrid, &contiguous);
	CHECK(s.buffering != BUFFERING_ENABLED && !s.aggregators);
	hybrid_release(&hybrid);
}

/* Measurements of a machine on which everything takes three times as long, give or take 5 %. */
static void calibrate(struct hybrid *hybrid)
{
	const struct environment here = { .time_s = 1700000000, .load = 1, .cores = 2 };
	const struct settings *const all[] = { &collective, &sieved, &pieces };
	struct validation_case cases[60];
	struct err err = { 0 };

	for (size_t i = 0; i < 60; i++) {
		struct access access = strided(64 << i / 3 % 8, 64 << i / 3 % 8);
		struct prediction p;

		access.ranks = i % 2 ? 2 : 8;
		access.rank_bytes = i % 2 ? 64 * KIB : 4 * MIB;
		REQUIRE(hybrid_predict(hybrid, &access, all[i % 3], 0.9, &p, &err) == 0);
		cases[i] = (struct validation_case){
			.group = i / 3,
			.transfer = p.counts.transfer,
			.is_default = i % 3 == 0,
			.ranks = (double)access.ranks,
			.bytes = (double)access.rank_bytes,
			.predicted = p.seconds,
			.measured = 3 * p.seconds * (1 + 0.05 * sin((double)i)),
		};
	}
	REQUIRE(validation_make(&hybrid->validation, cases, 60, 5, &here, &err) == 0);
}

static void a_calibrated_model_is_corrected_and_certain_of_gains(void)
{
	struct access access = strided(64, 64);
	struct prediction raw, from, to;
	struct hybrid hybrid;
	struct gain gain;
	double times[2];
	struct settings both[] = { collective, sieved };

	fit(&hybrid);
	REQUIRE(hybrid_predict(&hybrid, &access, &collective, 0.9, &raw, NULL) == 0);
	CHECK(!raw.is_calibrated && raw.correction == 1);
	calibrate(&hybrid);
	REQUIRE(hybrid_predict(&hybrid, &access, &collective, 0.9, &from, NULL) == 0);
	REQUIRE(hybrid_predict(&hybrid, &access, &sieved, 0.9, &to, NULL) == 0);
	CHECK(from.is_calibrated && to.is_calibrated);
	CHECK(fabs(from.seconds / raw.seconds / 3 - 1) < 0.05);
	CHECK(from.low > 0.9 * from.seconds && from.high < 1.1 * from.seconds);
	hybrid_gain(&from, &to, &gain);
	CHECK(gain.is_calibrated && gain.low > 0.85 * gain.gain && gain.high < 1.2 * gain.gain);
	REQUIRE(hybrid_times(&hybrid, &access, both, 2, times, NULL) == 0);
	CHECK(fabs(times[0] / from.seconds - 1) < 1e-9 && fabs(times[1] / to.seconds - 1) < 1e-9);
	/* Reads were not measured. */
	access.is_read = true;
	REQUIRE(hybrid_predict(&hybrid, &access, &collective, 0.9, &from, NULL) == 0);
	CHECK(!from.is_calibrated);
	hybrid_release(&hybrid);
}

static void read_saved(const struct hybrid *hybrid, struct buf *bytes)
{
	static const struct checked_file_kind kind = { .schema = "sluice.hybrid", .version = 2 };
	AUTO_FREE char *path = xprintf("/tmp/predict-pieces-%d", (int)getpid());
	struct err err = { 0 };

	REQUIRE(hybrid_save(hybrid, path, &err) == 0);
	REQUIRE(checked_file_read(bytes, &kind, path, &err) == 0);
	unlink(path);
}

static void a_saved_model_keeps_its_calibration(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct hybrid hybrid, again = { 0 };
	struct err err = { 0 };

	fit(&hybrid);
	calibrate(&hybrid);
	read_saved(&hybrid, &bytes);
	CHECK_INT(hybrid_parse(&again, "saved", bytes.data, bytes.len, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(again.validation.count, 60);
	CHECK_INT(again.measured, 1700000000);
	CHECK(predict(&again, strided(64, 64), sieved) ==
	      predict(&hybrid, strided(64, 64), sieved));
	hybrid_release(&again);
	hybrid_release(&hybrid);
}

/* Version 1 ends before the time of measurement and the calibration. */
static void a_model_of_version_1_is_not_calibrated(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct hybrid hybrid, again = { .seed = 1 };
	struct err err = { 0 };
	XXH64_hash_t hash;
	char *version;

	fit(&hybrid);
	read_saved(&hybrid, &bytes);
	version = strstr(bytes.data, "sluice.hybrid/2");
	REQUIRE(version);
	version[strlen("sluice.hybrid/")] = '1';
	bytes.len -= 2 * sizeof(uint64_t);
	hash = XXH64(bytes.data, bytes.len - sizeof(hash), 0);
	memcpy(bytes.data + bytes.len - sizeof(hash), &hash, sizeof(hash));
	REQUIRE(hybrid_parse(&again, "old", bytes.data, bytes.len, &err) == 0);
	CHECK_INT(again.validation.count, 0);
	CHECK_INT(again.measured, 0);
	hybrid_release(&again);
	hybrid_release(&hybrid);
}

TESTS(TEST(small_pieces_cost_more_than_large_ones),
      TEST(sieving_beats_tiny_pieces_and_loses_to_distant_large_ones),
      TEST(the_recommendation_chooses_among_all_transfers),
      TEST(a_calibrated_model_is_corrected_and_certain_of_gains),
      TEST(a_saved_model_keeps_its_calibration), TEST(a_model_of_version_1_is_not_calibrated))
