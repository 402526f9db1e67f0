/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-32.
 */
#include "trace/text/text.h"

#include <errno.h>

#include "base/escape.h"
#include "trace_sample.h"

#define FACTS                                                                  \
	"#call\tnumber=0\tname=read\tlayer=POSIX\tclass=read\tfailure=never\n" \
	"#process\tprocess=0\tparent=-1\n"
#define COLUMNS                                                                               \
	"start_ns\tduration_ns\tprocess\tid\tparent\tlayer\tcall\tresult\terror\tfile\tfile2" \
	"\tpresent\tlink\tlink2\thandle\tsize\toffset\tflags\tmode"
/* The first version of the form, which can still be read. */
#define HEAD "#sluice-text\t1\n" FACTS COLUMNS "\n"
#define LINE(start) start "\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"
#define HEAD_2 "#sluice-text\t2\n" FACTS COLUMNS "\tspan\tvariable\tcollective\tname\n"
#define HEAD_3 "#sluice-text\t3\n" FACTS COLUMNS "\tspan\tvariable\tcollective\tname\thints\n"
#define LINE_2(error, present, rest)                                                              \
	"1\t5\t0\t1\t0\tPOSIX\tread\t7\t" error "\t0\t0\t" present "\t-\t-\t-\t-\t-\t-\t-\t" rest \
	"\n"

static void unescape_reverts_escape(void)
{
	AUTO_BUF struct buf out = { 0 };
	char every[256];

	for (int i = 1; i < 256; i++)
		every[i - 1] = (char)i;
	every[255] = 0;
	escape_text(&out, every, "\\");
	for (size_t i = 0; i < out.len; i++)
		CHECK(out.data[i] >= ' ' && out.data[i] < 0x7f);
	CHECK(text_unescape(out.data));
	CHECK_TEXT(out.data, every);
}

static void invalid_escapes_are_refused(void)
{
	static const char *const wrong[] = { "\\", "\\q", "\\x", "\\x1", "\\xg0", "\\x00" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		AUTO_FREE char *text = xstrdup(wrong[i]);

		CHECK(!text_unescape(text));
	}
}

static void numbers_out_of_range_are_refused(void)
{
	int64_t value;

	CHECK(text_get_number("9223372036854775807", false, &value) && value == INT64_MAX);
	CHECK(text_get_number("-9223372036854775808", false, &value) && value == INT64_MIN);
	CHECK(text_get_number("18446744073709551615", true, &value) && value == -1);
	CHECK(!text_get_number("9223372036854775808", false, &value));
	CHECK(!text_get_number("18446744073709551616", true, &value));
	CHECK(!text_get_number("-1", true, &value));
	CHECK(!text_get_number("", false, &value));
	CHECK(!text_get_number("-", false, &value));
	CHECK(!text_get_number("1x", false, &value));
}

/* Reads the text as a trace. Returns the part of the error message after the path, or "". */
static const char *read_error(const char *text)
{
	static struct err err;
	AUTO_FREE char *path = sample_path(".txt");
	FILE *f = fopen(path, "w");
	struct activity batch[16];
	struct trace trace;
	const char *at;

	REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
	err = (struct err){ 0 };
	if (trace_open(&trace, path, NULL, &err) == 0) {
		while (trace_next(&trace, batch, 16, &err) > 0)
			;
		trace_close(&trace);
	}
	unlink(path);
	at = strstr(err.text, ".txt");
	return at ? at + 4 : err.text;
}

static void mistakes_are_reported_with_their_line(void)
{
	CHECK_TEXT(read_error(HEAD LINE("10") LINE("20")), "");
	CHECK_TEXT(read_error(HEAD "\n# a remark\n" LINE("10") "#end\tcomplete=1\n"), "");
	CHECK_WORDS(read_error(HEAD LINE("20") LINE("10")), ":6:|starts before");
	CHECK_WORDS(read_error(HEAD "10\t5\n"), ":5:|2 columns");
	CHECK_WORDS(read_error(HEAD LINE("x")), ":5:|start_ns|\"x\"");
	CHECK_WORDS(read_error(HEAD "#wrong\ta=b\n"), ":5:|\"#wrong\"");
	CHECK_WORDS(read_error(HEAD "#loss\tcolor=red\n"), ":5:|unknown field");
	CHECK(strstr(read_error(HEAD "#file\tid=2\tpath=x\n"), ":5: file number 2"));
	CHECK_WORDS(read_error(HEAD "#process\tprocess=1\tparent=1\n"), ":5:|process 1|parent 1");
	CHECK(strstr(read_error(HEAD "#statistic\tnumber=1\tscale=1\n"), ":5: statistic number 1"));
	CHECK_WORDS(read_error(HEAD "#statistic\tnumber=0\tname=x\n"), ":5:|statistic 0|scale 0");
	CHECK_WORDS(read_error(HEAD "#sample\tstatistic=-1\n"), ":5:|statistic|range");
	CHECK_WORDS(read_error(HEAD "#clock\tnum=2\tden=1\n"), ":5:|clock|nanoseconds");
	CHECK_WORDS(read_error("#sluice-text\t1\nstart_ns\n"), ":2:|duration_ns");
	CHECK_WORDS(read_error("#sluice-text\t2\n" COLUMNS "\n"), ":2:|span");
	CHECK(strstr(read_error("#sluice-text\t7\n"), "version 7"));
	CHECK(strstr(read_error("#sluice-text\t0\n"), "version 0"));
}

static void inconsistent_values_are_refused(void)
{
	CHECK_WORDS(
		read_error(HEAD "1\t5\t9\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"process 9|#process");
	CHECK_WORDS(
		read_error(HEAD "1\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t4\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"file 4|#file");
	CHECK_WORDS(
		read_error(HEAD "1\t5\t0\t1\t0\tPOSIX\tfly\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"\"fly\"|#call");
	CHECK(strstr(
		read_error(HEAD "1\t5\t0\t1\t0\tAIR\tread\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"layer \"AIR\""));
	CHECK_WORDS(
		read_error(HEAD "1\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t1\t-\t-\t-\t8\t-\t-\t-\n"),
		"size|bit 4|not set");
	CHECK_TEXT(read_error(HEAD_2 LINE_2("-36", "1793", "1\t2\t18446744073709551615\t0")), "");
	CHECK_WORDS(read_error(HEAD_2 LINE_2("0", "1", "1\t-\t-\t0")), "span|bit 8|not set");
	CHECK_WORDS(read_error(HEAD_2 LINE_2("0", "1", "-\t-\t-\t3")), "name 3|#file");
	CHECK_TEXT(read_error(HEAD_3 LINE_2("0", "1", "-\t-\t-\t0\t0")), "");
	CHECK_WORDS(read_error(HEAD_3 LINE_2("0", "1", "-\t-\t-\t0\t3")), "hints 3|#file");
	CHECK_WORDS(read_error(HEAD_2 LINE_2("4294967296", "1", "-\t-\t-\t0")), "error|range");
	/* The first version has no column for this field. */
	CHECK_WORDS(
		read_error(HEAD
			   "1\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t257\t-\t-\t-\t-\t-\t-\t-\n"),
		"span|absent|bit 8");
}

/* Facts may appear on any line, so their references are checked at the end. */
static void samples_and_notes_with_invalid_references_are_dropped(void)
{
	AUTO_FREE char *path = sample_path(".txt");
	FILE *f = fopen(path, "w");
	struct trace trace;

	REQUIRE(f && fputs(HEAD "#sample\tstatistic=0\ttime_ns=20\tvalue=2\n"
				"#sample\tstatistic=1\ttime_ns=5\tvalue=3\n"
				"#sample\tstatistic=0\ttime_ns=10\tvalue=1\n"
				"#note\tprocess=0\tname=kept\n"
				"#note\tprocess=1\tname=no such process\n"
				"#note\tprocess=-2\tname=no such process\n"
				"#note\tprocess=-1\tname=of the node\n"
				"#statistic\tnumber=0\tname=x\tscale=1\n",
			   f) >= 0);
	REQUIRE(fclose(f) == 0);
	sample_open(&trace, path, NULL);
	REQUIRE(trace.head.sample_count == 2 && trace.head.note_count == 2);
	CHECK_INT(trace.head.samples[0].value, 1);
	CHECK_INT(trace.head.samples[1].value, 2);
	CHECK_TEXT(trace.head.notes[0].name, "kept");
	CHECK_TEXT(trace.head.notes[1].name, "of the node");
	CHECK_TEXT(trace.head.notes[1].value, "");
	trace_close(&trace);
	unlink(path);
}

static void only_nanoseconds_are_accepted(void)
{
	struct run_clock clock = { (char *)"tsc", 0, 1, 3, 0 };
	void *w;

	CHECK_INT(trace_text.create(&w, "/tmp/never", &sample_run, &clock, sample_calls,
				    SAMPLE_CALLS, NULL),
		  -EINVAL);
}

TESTS(TEST(unescape_reverts_escape), TEST(invalid_escapes_are_refused),
      TEST(numbers_out_of_range_are_refused), TEST(mistakes_are_reported_with_their_line),
      TEST(inconsistent_values_are_refused),
      TEST(samples_and_notes_with_invalid_references_are_dropped),
      TEST(only_nanoseconds_are_accepted))
