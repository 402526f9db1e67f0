/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/sums_table.h"

#include <errno.h>

#include "base/buf.h"
#include "check.h"

static void add_row(struct buf *payload, uint8_t operation, uint8_t speed, uint32_t calls)
{
	struct sums_row row = {
		operation, speed, 0, calls, calls * UINT64_C(10), calls * UINT64_C(100)
	};

	buf_add(payload, &row, sizeof(row));
}

static void make_payload(struct buf *payload, const char *filesystem, uint32_t rows)
{
	struct sums_head head = { .rows = rows };

	snprintf(head.filesystem, sizeof(head.filesystem), "%s", filesystem);
	/* What follows the end of a name means nothing. */
	memset(head.target + 5, 'x', 20);
	memcpy(head.target, "ost1", 5);
	buf_add(payload, &head, sizeof(head));
}

static int64_t add(struct sums_table *table, const struct buf *payload)
{
	struct frame frame = { .type = FRAME_SUMS,
			       .payload = (const uint8_t *)payload->data,
			       .length = (uint32_t)payload->len };

	return sums_table_add_frame(table, &frame);
}

struct seen {
	unsigned rows;
	uint64_t calls, bytes, ns;
	char last[SUMS_NAME_BYTES];
};

static void take(void *arg, const char *filesystem, const char *target, enum call_class operation,
		 enum speed speed, const struct sums *sums)
{
	struct seen *seen = arg;

	CHECK(operation < CLASS_COUNT && speed < SPEED_COUNT);
	CHECK(strcmp(target, "ost1") == 0 || strcmp(target, "other") == 0);
	seen->rows++;
	seen->calls += sums->calls;
	seen->bytes += sums->bytes;
	seen->ns += sums->ns;
	snprintf(seen->last, sizeof(seen->last), "%s", filesystem);
}

static void rows_of_the_same_kind_are_added(void)
{
	struct sums_table *table = sums_table_new();
	AUTO_BUF struct buf payload = { 0 };
	struct seen seen = { 0 };

	make_payload(&payload, "/scratch", 3);
	add_row(&payload, CLASS_READ, SPEED_NORMAL, 3);
	add_row(&payload, CLASS_READ, SPEED_NORMAL, 4);
	add_row(&payload, CLASS_WRITE, SPEED_SLOW, 5);
	CHECK_INT(add(table, &payload), 12);
	CHECK_INT(add(table, &payload), 12);
	sums_table_drain(table, take, &seen);
	CHECK_INT(seen.rows, 2);
	CHECK_INT(seen.calls, 24);
	CHECK_INT(seen.bytes, 240);
	CHECK_INT(seen.ns, 2400);
	CHECK_TEXT(seen.last, "/scratch");
	seen = (struct seen){ 0 };
	sums_table_drain(table, take, &seen);
	CHECK_INT(seen.rows, 0);
	sums_table_free(table);
}

static void invalid_payload_changes_nothing(void)
{
	struct sums_table *table = sums_table_new();
	AUTO_BUF struct buf payload = { 0 };
	struct seen seen = { 0 };

	make_payload(&payload, "/scratch", 2);
	CHECK_INT(add(table, &payload), -EBADMSG); /* rows are missing */
	add_row(&payload, CLASS_READ, SPEED_NORMAL, 3);
	add_row(&payload, CLASS_COUNT, SPEED_NORMAL, 3);
	CHECK_INT(add(table, &payload), -EBADMSG);
	payload.data[payload.len - sizeof(struct sums_row)] = CLASS_READ;
	payload.data[payload.len - sizeof(struct sums_row) + 1] = (char)SPEED_COUNT;
	CHECK_INT(add(table, &payload), -EBADMSG);
	payload.data[payload.len - sizeof(struct sums_row) + 1] = SPEED_FAST;
	CHECK_INT(add(table, &payload), 6);
	memset(payload.data, 'x', SUMS_NAME_BYTES); /* a name without an end */
	CHECK_INT(add(table, &payload), -EBADMSG);
	payload.len = 50;
	CHECK_INT(add(table, &payload), -EBADMSG);
	sums_table_drain(table, take, &seen);
	CHECK_INT(seen.calls, 6);
	sums_table_free(table);
}

static void places_are_bounded(void)
{
	struct sums_table *table = sums_table_new();
	struct seen seen = { 0 };

	for (unsigned i = 0; i < 1000; i++) {
		AUTO_BUF struct buf payload = { 0 };
		char name[32];

		snprintf(name, sizeof(name), "/mount/%u", i);
		make_payload(&payload, name, 1);
		add_row(&payload, CLASS_OPEN, SPEED_UNKNOWN, 1);
		CHECK_INT(add(table, &payload), 1);
	}
	sums_table_drain(table, take, &seen);
	CHECK_INT(seen.rows, SUMS_PLACES);
	CHECK_INT(seen.calls, 1000);
	CHECK_TEXT(seen.last, "other");
	sums_table_free(table);
}

TESTS(TEST(rows_of_the_same_kind_are_added), TEST(invalid_payload_changes_nothing),
      TEST(places_are_bounded))
