/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-29.
 */
#include "wire/frame.h"

#include <errno.h>

#include "base/buf.h"
#include "check.h"

static const char text[] = "what a process has to say";

static void make_frame(struct buf *out, uint64_t sequence)
{
	REQUIRE(frame_add(out, FRAME_STATUS, sequence, text, sizeof(text)) == 0);
}

/* Replaces the header by one that differs in some fields and has a correct checksum. */
static int decode_changed(void (*change)(struct frame_header *header))
{
	AUTO_BUF struct buf good = { 0 }, sealed = { 0 };
	struct frame_header header, resealed;
	struct frame frame;

	make_frame(&good, 7);
	memcpy(&header, good.data, sizeof(header));
	change(&header);
	/* frame_seal() cannot make it, so compute the checksum with it from a frame of the header.
	 */
	REQUIRE(frame_add(&sealed, FRAME_STATUS, 0, &header, 28) == 0);
	memcpy(&resealed, sealed.data, sizeof(resealed));
	header.head_check = resealed.check;
	memcpy(good.data, &header, sizeof(header));
	return frame_decode(&frame, good.data, good.len, FRAME_PAYLOAD_MAX, NULL);
}

static void frame_survives_the_round_trip(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct frame frame;
	size_t need = 0;

	make_frame(&bytes, UINT64_C(0x123456789abcdef0));
	make_frame(&bytes, 2);
	CHECK_INT(frame_decode(&frame, bytes.data, bytes.len, FRAME_PAYLOAD_MAX, &need),
		  FRAME_HEADER_BYTES + sizeof(text));
	CHECK_INT(need, FRAME_HEADER_BYTES + sizeof(text));
	CHECK_INT(frame.type, FRAME_STATUS);
	CHECK(frame.sequence == UINT64_C(0x123456789abcdef0));
	CHECK_INT(frame.length, sizeof(text));
	CHECK(memcmp(frame.payload, text, sizeof(text)) == 0);
	CHECK(!frame.stream);
}

static void every_changed_byte_is_noticed(void)
{
	AUTO_BUF struct buf bytes = { 0 };

	make_frame(&bytes, 1);
	for (size_t i = 0; i < bytes.len; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct frame frame = { 0 };

			bytes.data[i] ^= (char)(1 << bit);
			CHECK(frame_decode(&frame, bytes.data, bytes.len, FRAME_PAYLOAD_MAX, NULL) <
			      0);
			CHECK(!frame.payload);
			bytes.data[i] ^= (char)(1 << bit);
		}
	}
}

static void incomplete_frame_says_how_much_is_missing(void)
{
	AUTO_BUF struct buf bytes = { 0 };

	make_frame(&bytes, 1);
	for (size_t n = 0; n < bytes.len; n++) {
		AUTO_BUF struct buf part = { 0 };
		struct frame frame;
		size_t need = 0;

		buf_add(&part, bytes.data, n); /* of its own, so that ASan sees a read beyond it */
		CHECK_INT(frame_decode(&frame, buf_text(&part), n, FRAME_PAYLOAD_MAX, &need), 0);
		CHECK_INT(need, n < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES : bytes.len);
	}
}

static void set_version(struct frame_header *header)
{
	header->version++;
}

static void set_flags(struct frame_header *header)
{
	header->flags = 1;
}

static void set_type(struct frame_header *header)
{
	header->type = 63;
}

static void set_huge_type(struct frame_header *header)
{
	header->type = UINT16_MAX;
}

static void set_length(struct frame_header *header)
{
	header->length = UINT32_MAX;
}

static void header_with_a_correct_checksum_is_not_trusted(void)
{
	CHECK_INT(decode_changed(set_version), -EPROTONOSUPPORT);
	CHECK_INT(decode_changed(set_flags), -EPROTO);
	CHECK_INT(decode_changed(set_type), -ENOMSG);
	CHECK_INT(decode_changed(set_huge_type), -ENOMSG);
	CHECK_INT(decode_changed(set_length), -EMSGSIZE);
}

static void limits_hold_before_the_payload_arrives(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	AUTO_BUF struct buf payload = { 0 };
	struct frame frame;

	buf_reserve(&payload, FRAME_PAYLOAD_MAX + 1);
	memset(payload.data, 0, FRAME_PAYLOAD_MAX + 1);
	CHECK_INT(frame_add(&bytes, FRAME_ROWS_FIRST, 1, payload.data, FRAME_PAYLOAD_MAX + 1),
		  -EMSGSIZE);
	CHECK_INT(bytes.len, 0);
	CHECK_INT(frame_add(&bytes, FRAME_ROWS_FIRST, 1, payload.data, FRAME_PAYLOAD_MAX), 0);
	CHECK_INT(frame_decode(&frame, bytes.data, FRAME_HEADER_BYTES, FRAME_CLIENT_MAX, NULL),
		  -EMSGSIZE);
	CHECK(frame_decode(&frame, bytes.data, bytes.len, FRAME_PAYLOAD_MAX, NULL) > 0);
	/* A type has a limit of its own. */
	buf_clear(&bytes);
	CHECK_INT(frame_add(&bytes, FRAME_HELLO, 1, payload.data, 8193), 0);
	CHECK_INT(frame_decode(&frame, bytes.data, bytes.len, FRAME_PAYLOAD_MAX, NULL), -EMSGSIZE);
}

static void garbage_is_refused_at_its_first_byte(void)
{
	struct frame frame;

	CHECK_INT(frame_decode(&frame, "G", 1, FRAME_PAYLOAD_MAX, NULL), -EPROTO);
	CHECK_INT(frame_decode(&frame, "SLG", 3, FRAME_PAYLOAD_MAX, NULL), -EPROTO);
	CHECK_INT(frame_decode(&frame, "SLF", 3, FRAME_PAYLOAD_MAX, NULL), 0);
}

static void search_finds_the_next_valid_frame(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	size_t second, third;

	make_frame(&bytes, 1);
	buf_puts(&bytes, "SLF1 this is no frame");
	second = bytes.len;
	make_frame(&bytes, 2);
	third = bytes.len;
	make_frame(&bytes, 3);
	CHECK_INT(frame_search(bytes.data, bytes.len, 1), 0);
	CHECK_INT(frame_search(bytes.data + 1, bytes.len - 1, 1), second - 1);
	CHECK_INT(frame_search(bytes.data, bytes.len, 3), third);
	CHECK_INT(frame_search(bytes.data, bytes.len, 4), bytes.len);
	bytes.data[second + 20]++;
	CHECK_INT(frame_search(bytes.data, bytes.len, 2), third);
	CHECK_INT(frame_search(bytes.data, third + 5, 2), third + 5);
}

static void types_have_names(void)
{
	CHECK_TEXT(frame_type_name(FRAME_HELLO), "HELLO");
	CHECK_TEXT(frame_type_name(FRAME_ROWS_FIRST), "ROWS");
	CHECK(!frame_type_name(0));
	CHECK(!frame_type_name(63));
	CHECK(!frame_type_name(FRAME_TYPE_MAX + 1));
	CHECK_WORDS(frame_problem(-EPROTONOSUPPORT), "version");
}

TESTS(TEST(frame_survives_the_round_trip), TEST(every_changed_byte_is_noticed),
      TEST(incomplete_frame_says_how_much_is_missing),
      TEST(header_with_a_correct_checksum_is_not_trusted),
      TEST(limits_hold_before_the_payload_arrives), TEST(garbage_is_refused_at_its_first_byte),
      TEST(search_finds_the_next_valid_frame), TEST(types_have_names))
