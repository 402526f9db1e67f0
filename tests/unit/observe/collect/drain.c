/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the host's side of the spool with spools that the test writes itself, valid and damaged.
 */
#include "observe/collect/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "contract/call.h"
#include "contract/calls.h"

static const char path[] = "drain-test.spool";

/* The guest's view of the spool, and the list of pending sequences. */
static struct spool_header *guest;
static size_t guest_bytes;
static struct spool spool;
static struct pending *found;
static size_t found_count, found_cap;
static uint64_t copies[8][CHUNK_WORDS];

static struct chunk *chunk_at(uint32_t number)
{
	return (struct chunk *)((unsigned char *)guest + spool_chunk_offset(number));
}

/* Creates a file with the header and some segments, as the guest does. */
static void guest_make(uint32_t segments)
{
	uint32_t chunks = segments ? spool_segment_first(segments) : 0;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	guest_bytes = spool_chunk_offset(chunks);
	REQUIRE(fd >= 0 && ftruncate(fd, (off_t)guest_bytes) == 0);
	guest = mmap(NULL, guest_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(guest != MAP_FAILED);
	close(fd);
	guest->magic = SPOOL_MAGIC;
	guest->version = SPOOL_VERSION;
	guest->pid = 4711;
	for (uint32_t i = 0; i < segments; i++)
		guest->segment_map[i / 64] |= UINT64_C(1) << i % 64;
	for (uint32_t i = 0; i < chunks; i++)
		guest->free_map[i / 64] |= UINT64_C(1) << i % 64;
	atomic_store(&guest->state, SPOOL_LIVE);
}

static void guest_end(void)
{
	spool_close(&spool);
	munmap(guest, guest_bytes);
	unlink(path);
	free(found);
	found = NULL;
	found_count = found_cap = 0;
}

static struct chunk *claim(uint32_t number, uint32_t thread, int tid)
{
	struct chunk *chunk = chunk_at(number);

	guest->free_map[number / 64] &= ~(UINT64_C(1) << number % 64);
	chunk->thread = thread;
	chunk->tid = tid;
	atomic_store(&chunk->committed, 0);
	atomic_store(&chunk->state, CHUNK_OWNED);
	return chunk;
}

/*
 * Writes a record of a call with result, link and size after what is committed; does not commit it.
 */
static uint32_t write_record(struct chunk *chunk, uint32_t at, uint64_t seq)
{
	unsigned words = RECORD_HEAD_WORDS + call_table[CALL_read].field_count;
	uint64_t *w = chunk->words + at;

	w[0] = record_word0(seq, CALL_read);
	w[1] = 1000 + seq;
	w[2] = record_word2(10, words);
	w[3] = record_word3(0, 0);
	for (unsigned i = RECORD_HEAD_WORDS; i < words; i++)
		w[i] = seq;
	return at + words;
}

static void commit(struct chunk *chunk, uint64_t seq)
{
	atomic_store(&chunk->committed, write_record(chunk, chunk->committed, seq));
}

/* Opens the spool, lists what is pending and loads it. */
static size_t list_pending(void)
{
	struct err err;

	if (!spool.path)
		REQUIRE(spool_open(&spool, path, &err) == 0);
	found_count = 0;
	spool_pending(&spool, &found, &found_count, &found_cap);
	REQUIRE(found_count <= 8);
	for (size_t i = 0; i < found_count; i++)
		pending_load(&found[i], copies[i], CHUNK_WORDS);
	return found_count;
}

/*
 * Reads all records of a sequence; returns their number. *last receives the number of the last one.
 */
static size_t read_records(struct pending *p, uint64_t *last)
{
	const uint64_t *at = p->records, *r;
	size_t n = 0;

	while (at < p->end && (r = pending_next(p, &at))) {
		*last = record_seq(r);
		n++;
	}
	spool_consume(p, at);
	return n;
}

static bool is_free(uint32_t number)
{
	return guest->free_map[number / 64] >> number % 64 & 1;
}

static void only_committed_records_are_read(void)
{
	struct chunk *chunk;
	uint64_t last = 0;

	guest_make(1);
	chunk = claim(0, 7, 1);
	for (uint64_t seq = 1; seq <= 5; seq++)
		commit(chunk, seq);
	write_record(chunk, chunk->committed, 6); /* not committed */
	CHECK_INT(list_pending(), 1);
	CHECK_INT(found[0].thread, 7);
	CHECK_INT(found[0].chunk, 0);
	CHECK_INT(read_records(&found[0], &last), 5);
	CHECK_INT(last, 5);
	CHECK_INT(list_pending(), 0);
	CHECK(!is_free(0));
	commit(chunk, 6);
	CHECK_INT(list_pending(), 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK_INT(last, 6);
	CHECK_INT(spool.damaged_words, 0);
	guest_end();
}

static void nothing_is_pending_in_a_fresh_spool(void)
{
	guest_make(2);
	CHECK_INT(list_pending(), 0);
	claim(1, 1, 1);
	CHECK_INT(list_pending(), 0);
	CHECK(!is_free(1));
	guest_end();
}

static void part_of_a_sequence_can_be_left_for_later(void)
{
	struct chunk *chunk;
	const uint64_t *at;
	uint64_t last = 0;

	guest_make(1);
	chunk = claim(1, 1, 1);
	commit(chunk, 1);
	commit(chunk, 2);
	atomic_store(&chunk->state, CHUNK_FULL);
	REQUIRE(list_pending() == 1);
	at = found[0].records;
	CHECK_INT(record_seq(pending_next(&found[0], &at)), 1);
	spool_consume(&found[0], at);
	CHECK(!is_free(1));
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK_INT(last, 2);
	CHECK(is_free(1));
	guest_end();
}

/* Regression: a chunk drained while owned and left without more records was listed again. */
static void chunk_left_after_it_was_drained_is_freed_once(void)
{
	struct chunk *chunk;
	uint64_t last = 0;

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK(!is_free(0));
	atomic_store(&chunk->state, CHUNK_FULL);
	CHECK_INT(list_pending(), 0);
	CHECK(is_free(0));
	CHECK_INT(chunk->state, CHUNK_FREE);
	CHECK_INT(chunk->committed, 0);
	CHECK_INT(chunk->drained, 0);
	CHECK_INT(list_pending(), 0);
	CHECK(is_free(0));
	/* The next owner's records start at the beginning. */
	chunk = claim(0, 2, 2);
	commit(chunk, 9);
	REQUIRE(list_pending() == 1);
	CHECK_INT(found[0].thread, 2);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK_INT(last, 9);
	guest_end();
}

static void full_chunk_is_freed_when_all_is_consumed(void)
{
	struct chunk *chunk;
	uint64_t last = 0, seq = 0;
	unsigned words = RECORD_HEAD_WORDS + call_table[CALL_read].field_count;

	guest_make(2);
	chunk = claim(SPOOL_FIRST_CHUNKS, 3, 1); /* the first of segment 1 */
	while (chunk->committed + words <= CHUNK_WORDS)
		commit(chunk, ++seq);
	atomic_store(&chunk->state, CHUNK_FULL);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), seq);
	CHECK_INT(last, seq);
	CHECK(is_free(SPOOL_FIRST_CHUNKS));
	CHECK_INT(list_pending(), 0);
	guest_end();
}

/* Writes one damaged record after a valid one; the valid one is read, the rest is damage. */
static void unsound(void (*spoil)(uint64_t *record))
{
	struct chunk *chunk;
	uint64_t last = 0;
	uint32_t sound;

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	sound = chunk->committed;
	commit(chunk, 2);
	commit(chunk, 3);
	spoil(chunk->words + sound);
	atomic_store(&chunk->state, CHUNK_FULL);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK_INT(last, 1);
	CHECK_INT(spool.damaged_words, 2 * sound);
	CHECK(is_free(0));
	CHECK_INT(list_pending(), 0);
	guest_end();
}

static void no_words(uint64_t *r)
{
	r[2] = record_word2(1, 0);
}

static void too_many_words(uint64_t *r)
{
	r[2] = record_word2(1, 0xffff);
}

static void one_word_more(uint64_t *r)
{
	r[2] = record_word2(1, record_words(r) + 1);
}

static void call_zero(uint64_t *r)
{
	r[0] = record_word0(2, 0);
}

static void call_unknown(uint64_t *r)
{
	r[0] = record_word0(2, call_count);
}

static void long_string(uint64_t *r)
{
	/* open: the length of its path follows four numbers */
	r[0] = record_word0(2, CALL_open);
	for (unsigned i = RECORD_HEAD_WORDS; i < record_words(r); i++)
		r[i] = UINT64_MAX;
}

static void invalid_record_ends_the_sequence_and_counts_as_damage(void)
{
	unsound(no_words);
	unsound(too_many_words);
	unsound(one_word_more);
	unsound(call_zero);
	unsound(call_unknown);
	unsound(long_string);
}

/* Tries strings of all lengths for every call: a record is valid exactly if the strings fill it. */
static void strings_are_checked_against_the_record(void)
{
	const struct call_info *info = &call_table[CALL_open];
	unsigned numbers = info->field_count - 1u;

	for (unsigned length = 0; length <= 40; length++) {
		struct chunk *chunk;
		unsigned words = RECORD_HEAD_WORDS + numbers + 1 + (length + 7) / 8;
		uint64_t last = 0;

		guest_make(1);
		chunk = claim(0, 1, 1);
		chunk->words[0] = record_word0(1, CALL_open);
		chunk->words[2] = record_word2(1, words);
		chunk->words[RECORD_HEAD_WORDS + numbers] = length;
		atomic_store(&chunk->committed, words);
		REQUIRE(list_pending() == 1);
		CHECK_INT(read_records(&found[0], &last), 1);
		CHECK_INT(spool.damaged_words, 0);
		guest_end();
	}
}

static void a_commit_beyond_the_chunk_is_ignored(void)
{
	struct chunk *chunk;

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	atomic_store(&chunk->committed, CHUNK_WORDS + 1);
	CHECK_INT(list_pending(), 0);
	guest_end();
}

static void segments_beyond_the_file_are_never_accessed(void)
{
	struct chunk *chunk;
	uint64_t last = 0;

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	/* The map claims that all segments exist. */
	for (int i = 0; i < SPOOL_SEGMENTS_MAX / 64; i++)
		atomic_store(&guest->segment_map[i], UINT64_MAX);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	guest_end();

	/* The file ends in the middle of the first segment. */
	guest_make(1);
	REQUIRE(truncate(path, (off_t)spool_chunk_offset(1)) == 0);
	CHECK_INT(list_pending(), 0);
	guest_end();
}

static void a_file_that_is_not_a_spool_is_an_error(void)
{
	struct err err = { 0 };
	struct spool other;

	guest_make(1);
	guest->magic = 0;
	CHECK_INT(spool_open(&other, path, &err), -EAGAIN);
	guest->magic = 1;
	CHECK_INT(spool_open(&other, path, &err), -EINVAL);
	CHECK(strstr(err.text, path) && strstr(err.text, "not a spool"));
	guest->magic = SPOOL_MAGIC;
	guest->version = SPOOL_VERSION + 1;
	CHECK_INT(spool_open(&other, path, &err), -EINVAL);
	CHECK(strstr(err.text, path) && strstr(err.text, "version"));
	guest->version = SPOOL_VERSION;
	atomic_store(&guest->state, SPOOL_ATTACHING);
	CHECK_INT(spool_open(&other, path, &err), -EAGAIN);
	atomic_store(&guest->state, SPOOL_LIVE);
	CHECK_INT(spool_open(&other, path, &err), 0);
	spool_close(&other);
	spool_close(&other); /* a second call does nothing */
	REQUIRE(truncate(path, SPOOL_HEADER_BYTES - 1) == 0);
	CHECK_INT(spool_open(&other, path, &err), -EAGAIN);
	REQUIRE(truncate(path, 0) == 0);
	CHECK_INT(spool_open(&other, path, &err), -EAGAIN);
	guest_end();
	CHECK_INT(spool_open(&other, path, &err), -ENOENT);
	CHECK(strstr(err.text, path));
}

static void records_are_checked_in_the_copy(void)
{
	struct chunk *chunk;
	uint64_t last = 0;

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	commit(chunk, 2);
	REQUIRE(list_pending() == 1);
	call_unknown(chunk->words);
	CHECK_INT(read_records(&found[0], &last), 2);
	CHECK_INT(last, 2);
	CHECK_INT(spool.damaged_words, 0);
	guest_end();
}

static void drained_words_are_not_believed(void)
{
	struct chunk *chunk;
	uint64_t last = 0;

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	chunk->drained = 1;
	commit(chunk, 2);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK_INT(last, 2);
	CHECK_INT(chunk->drained, chunk->committed);
	/* A new collector continues where the old one stopped. */
	commit(chunk, 3);
	spool_close(&spool);
	REQUIRE(list_pending() == 1);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK_INT(last, 3);
	CHECK_INT(spool.damaged_words, 0);
	guest_end();
}

static void a_truncated_spool_costs_its_records(void)
{
	struct chunk *chunk;
	struct spool_header *copy = xcalloc(1, sizeof(*copy));

	guest_make(1);
	chunk = claim(0, 1, 1);
	commit(chunk, 1);
	found_count = 0;
	REQUIRE(list_pending() == 1);
	REQUIRE(truncate(path, SPOOL_HEADER_BYTES) == 0);
	pending_load(&found[0], copies[0], CHUNK_WORDS);
	CHECK(found[0].records == found[0].end);
	CHECK_INT(spool.damaged_words, found[0].words);
	spool_consume(&found[0], found[0].end);
	/* The header is gone, too. */
	REQUIRE(truncate(path, 0) == 0);
	spool_copy_header(&spool, copy, true);
	CHECK_INT(copy->pid, 4711);
	CHECK_INT(spool_lost_records(copy), 0);
	CHECK(spool.header.lost);
	CHECK_INT(list_pending(), 0);
	spool_reap(&spool, NULL);
	free(copy);
	spool_close(&spool);
	REQUIRE(truncate(path, (off_t)guest_bytes) == 0);
	guest_end();
}

static void identity_does_not_change(void)
{
	struct spool_header *copy = xcalloc(1, sizeof(*copy));

	guest_make(1);
	CHECK_INT(list_pending(), 0);
	guest->pid = 1;
	guest->first_thread = 5;
	atomic_store(&guest->lost_records[LOSS_SPOOL_LIMIT], 3);
	spool_copy_header(&spool, copy, false);
	CHECK_INT(copy->pid, 4711);
	CHECK_INT(copy->first_thread, 0);
	CHECK_INT(spool_lost_records(copy), 3);
	free(copy);
	guest_end();
}

static void links_and_fifos_are_refused(void)
{
	struct err err = { 0 };
	struct spool other;

	REQUIRE(symlink("/dev/null", path) == 0);
	CHECK_INT(spool_open(&other, path, &err), -ELOOP);
	unlink(path);
	REQUIRE(mkfifo(path, 0600) == 0);
	CHECK_INT(spool_open(&other, path, &err), -EINVAL);
	unlink(path);
}

/* Only thread 2 is alive. */
static bool only_two(int pid, int tid)
{
	CHECK_INT(pid, 4711);
	return tid == 2;
}

static void reap_frees_only_chunks_of_dead_threads(void)
{
	struct chunk *dead, *living, *empty;
	uint64_t last = 0;

	guest_make(2);
	dead = claim(0, 1, 1);
	living = claim(1, 2, 2);
	empty = claim(5, 3, 3);
	commit(dead, 1);
	commit(living, 1);
	REQUIRE(list_pending() == 2);
	CHECK_INT(read_records(&found[1], &last), 1);
	spool_reap(&spool, only_two);
	CHECK_INT(dead->state, CHUNK_FULL);
	CHECK_INT(living->state, CHUNK_OWNED);
	/*
	 * The records of the dead thread are still read, then its chunk is freed; the empty chunk
	 * is freed at once.
	 */
	REQUIRE(list_pending() == 1);
	CHECK_INT(found[0].chunk, 0);
	CHECK_INT(read_records(&found[0], &last), 1);
	CHECK(is_free(0));
	CHECK(is_free(5));
	CHECK_INT(empty->state, CHUNK_FREE);
	CHECK(!is_free(1));
	commit(living, 2);
	REQUIRE(list_pending() == 1);
	CHECK_INT(found[0].chunk, 1);
	guest_end();
}

static void chunks_of_all_segments_are_listed_in_order(void)
{
	uint32_t numbers[] = { 0, 1, 2, 17, 18, 33 };

	guest_make(3);
	for (size_t i = 0; i < 6; i++)
		commit(claim(numbers[i], (uint32_t)i, 1), i + 1);
	REQUIRE(list_pending() == 6);
	for (size_t i = 0; i < 6; i++) {
		CHECK_INT(found[i].chunk, numbers[i]);
		CHECK_INT(record_seq(found[i].records), i + 1);
	}
	guest_end();
}

TESTS(TEST(only_committed_records_are_read), TEST(nothing_is_pending_in_a_fresh_spool),
      TEST(part_of_a_sequence_can_be_left_for_later),
      TEST(chunk_left_after_it_was_drained_is_freed_once),
      TEST(full_chunk_is_freed_when_all_is_consumed),
      TEST(invalid_record_ends_the_sequence_and_counts_as_damage),
      TEST(strings_are_checked_against_the_record), TEST(a_commit_beyond_the_chunk_is_ignored),
      TEST(segments_beyond_the_file_are_never_accessed),
      TEST(a_file_that_is_not_a_spool_is_an_error), TEST(records_are_checked_in_the_copy),
      TEST(drained_words_are_not_believed), TEST(a_truncated_spool_costs_its_records),
      TEST(identity_does_not_change), TEST(links_and_fifos_are_refused),
      TEST(reap_frees_only_chunks_of_dead_threads),
      TEST(chunks_of_all_segments_are_listed_in_order))
