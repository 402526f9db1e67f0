/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The compiled parameters: what the host writes is what the guest reads, and a malformed text
 * yields no more than its valid part.
 */
#include "contract/parameters.h"

#include "check.h"

static char text[PARAMETERS_BYTES];
static struct parameters_line lines[16];
static bool application_wins;

/* Reads the text into `lines`; -1 if it has no valid title. */
static int read_all(const char *source)
{
	char *at;
	int count = 0;

	snprintf(text, sizeof(text), "%s", source);
	at = parameters_read_title(text, &application_wins);
	if (!at)
		return -1;
	while (count < 16 && parameters_read_line(&at, &lines[count]))
		count++;
	return count;
}

static void written_lines_are_read_back(void)
{
	static const struct parameters_line written[] = {
		{ PLACE_HINT, "*.h5", "*", "cb_nodes", "4" },
		{ PLACE_DATASET, "*", "/group/data", "chunk_size", "1,26" },
		{ PLACE_PREFIX, "out.nc", "*", "bglockless", "" },
		{ PLACE_LAYOUT, "*", "*", "striping_factor", "a b=c" },
	};
	char page[PARAMETERS_BYTES];
	struct parameters_writer writer;

	parameters_write_title(&writer, page, true);
	for (size_t i = 0; i < 4; i++)
		parameters_write_line(&writer, &written[i]);
	CHECK_INT(writer.bytes, strlen(page));
	REQUIRE(read_all(page) == 4);
	CHECK(application_wins);
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(lines[i].place, written[i].place);
		CHECK_TEXT(lines[i].file, written[i].file);
		CHECK_TEXT(lines[i].object, written[i].object);
		CHECK_TEXT(lines[i].name, written[i].name);
		CHECK_TEXT(lines[i].value, written[i].value);
	}
}

static void a_title_alone_is_valid(void)
{
	char page[PARAMETERS_BYTES];
	struct parameters_writer writer;

	parameters_write_title(&writer, page, false);
	CHECK_INT(read_all(page), 0);
	CHECK(!application_wins);
}

static void a_text_without_a_valid_title_is_rejected(void)
{
	CHECK_INT(read_all(""), -1);
	CHECK_INT(read_all("sluice-parameters 2 parameters\n"), -1);
	CHECK_INT(read_all(PARAMETERS_TITLE), -1);
	CHECK_INT(read_all(PARAMETERS_TITLE "parameters"), -1);
	CHECK_INT(read_all(PARAMETERS_TITLE "parameters\thint\n"), -1);
	CHECK_INT(read_all(PARAMETERS_TITLE "somebody\n"), -1);
}

#define TITLE PARAMETERS_TITLE PARAMETERS_PARAMETERS "\n"
#define GOOD "hint\t*\t*\tcb_nodes\t4\n"

static void unusable_lines_are_skipped(void)
{
	CHECK_INT(read_all(TITLE "moon\t*\t*\ta\t1\n" GOOD), 1);
	CHECK_INT(read_all(TITLE "hint\t\t*\ta\t1\n" GOOD), 1);
	CHECK_INT(read_all(TITLE "hint\t*\t\ta\t1\n" GOOD), 1);
	CHECK_INT(read_all(TITLE "hint\t*\t*\t\t1\n" GOOD), 1);
	CHECK_TEXT(lines[0].name, "cb_nodes");
}

static void reading_stops_at_a_line_without_five_fields(void)
{
	CHECK_INT(read_all(TITLE GOOD "hint\t*\t*\tcb_nodes\n" GOOD), 1);
	CHECK_INT(read_all(TITLE GOOD "hint\t*\t*\tcb_nodes\t4\t5\n" GOOD), 1);
	CHECK_INT(read_all(TITLE GOOD "\n" GOOD), 1);
	CHECK_INT(read_all(TITLE GOOD "hint\t*\t*\tcb_nodes\t4"), 1);
}

static void bytes_that_do_not_fit_are_counted(void)
{
	const struct parameters_line line = { PLACE_HINT, "*", "*", "cb_nodes", "4" };
	char page[PARAMETERS_BYTES];
	struct parameters_writer writer;
	size_t title;

	parameters_write_title(&writer, page, false);
	title = writer.bytes;
	for (int i = 0; i < PARAMETERS_BYTES; i++)
		parameters_write_line(&writer, &line);
	CHECK_INT(writer.bytes, title + PARAMETERS_BYTES * strlen(GOOD));
	CHECK_INT(strlen(page), PARAMETERS_BYTES - 1);
}

TESTS(TEST(written_lines_are_read_back), TEST(a_title_alone_is_valid),
      TEST(a_text_without_a_valid_title_is_rejected), TEST(unusable_lines_are_skipped),
      TEST(reading_stops_at_a_line_without_five_fields), TEST(bytes_that_do_not_fit_are_counted))
