/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/text/text.h"

#include <errno.h>

#include "trace_sample.h"

#define FACTS                                                                  \
	"#call\tnumber=0\tname=read\tlayer=POSIX\tclass=read\tfailure=never\n" \
	"#process\tprocess=0\tparent=-1\n"
#define COLUMNS                                                                               \
	"start_ns\tduration_ns\tprocess\tid\tparent\tlayer\tcall\tresult\terror\tfile\tfile2" \
	"\tpresent\tlink\tlink2\thandle\tsize\toffset\tflags\tmode"
/* As the first version had it, which is still read. */
#define HEAD "#sluice-text\t1\n" FACTS COLUMNS "\n"
#define LINE(start) start "\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"
#define HEAD_2 "#sluice-text\t2\n" FACTS COLUMNS "\tspan\tvariable\tcollective\tname\n"
#define HEAD_3 "#sluice-text\t3\n" FACTS COLUMNS "\tspan\tvariable\tcollective\tname\thints\n"
#define LINE_2(error, present, rest)                                                              \
	"1\t5\t0\t1\t0\tPOSIX\tread\t7\t" error "\t0\t0\t" present "\t-\t-\t-\t-\t-\t-\t-\t" rest \
	"\n"

static void escapes_undo_themselves(void)
{
	AUTO_BUF struct buf out = { 0 };
	char every[256];

	for (int i = 1; i < 256; i++)
		every[i - 1] = (char)i;
	every[255] = 0;
	text_escape(&out, every);
	for (size_t i = 0; i < out.len; i++)
		CHECK(out.data[i] >= ' ' && out.data[i] < 0x7f);
	CHECK(text_unescape(out.data));
	CHECK_TEXT(out.data, every);
}

static void proper_utf8_stays_readable(void)
{
	AUTO_BUF struct buf out = { 0 };

	text_escape(&out, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \xed\xa0\x80 \xc0\xaf");
	CHECK_TEXT(out.data, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80 \\xed\\xa0\\x80 \\xc0\\xaf");
}

static void wrong_escapes_are_refused(void)
{
	static const char *const wrong[] = { "\\", "\\q", "\\x", "\\x1", "\\xg0", "\\x00" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		AUTO_FREE char *text = xstrdup(wrong[i]);

		CHECK(!text_unescape(text));
	}
}

static void numbers_must_fit(void)
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

/* Reads the text as a trace; the message of the failure, or "" where there is none. */
static const char *complaint(const char *text)
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

static void mistakes_are_named_with_their_line(void)
{
	CHECK_TEXT(complaint(HEAD LINE("10") LINE("20")), "");
	CHECK_TEXT(complaint(HEAD "\n# a remark\n" LINE("10") "#end\tcomplete=1\n"), "");
	CHECK(strstr(complaint(HEAD LINE("20") LINE("10")),
		     ":6: starts before the activity above: sort"));
	CHECK(strstr(complaint(HEAD "10\t5\n"), ":5: the line has 2 columns instead of 19"));
	CHECK(strstr(complaint(HEAD LINE("x")), ":5: start_ns is \"x\""));
	CHECK(strstr(complaint(HEAD "#wrong\ta=b\n"), ":5: no fact is called \"#wrong\""));
	CHECK(strstr(complaint(HEAD "#loss\tcolour=red\n"), ":5: #loss has no field \"colour\""));
	CHECK(strstr(complaint(HEAD "#file\tid=2\tpath=x\n"),
		     ":5: file number 2 follows number 0"));
	CHECK(strstr(complaint(HEAD "#process\tprocess=1\tparent=1\n"),
		     ":5: process 1 has parent 1"));
	CHECK(strstr(complaint(HEAD "#statistic\tnumber=1\tscale=1\n"),
		     ":5: statistic number 1 follows number -1"));
	CHECK(strstr(complaint(HEAD "#statistic\tnumber=0\tname=x\n"),
		     ":5: statistic 0 has scale 0"));
	CHECK(strstr(complaint(HEAD "#sample\tstatistic=-1\n"), ":5: statistic is -1"));
	CHECK(strstr(complaint(HEAD "#clock\tnum=2\tden=1\n"),
		     ":5: the clock must be in nanoseconds"));
	CHECK(strstr(complaint("#sluice-text\t1\nstart_ns\n"),
		     ":2: column duration_ns is missing"));
	CHECK(strstr(complaint("#sluice-text\t2\n" COLUMNS "\n"), ":2: column span is missing"));
	CHECK(strstr(complaint("#sluice-text\t7\n"), "version 7"));
	CHECK(strstr(complaint("#sluice-text\t0\n"), "version 0"));
}

static void values_that_contradict_each_other_are_named(void)
{
	CHECK(strstr(
		complaint(HEAD "1\t5\t9\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"process 9 has no #process line"));
	CHECK(strstr(
		complaint(HEAD "1\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t4\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"file 4 has no #file line"));
	CHECK(strstr(
		complaint(HEAD "1\t5\t0\t1\t0\tPOSIX\tfly\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"call \"fly\" has no #call line"));
	CHECK(strstr(
		complaint(HEAD "1\t5\t0\t1\t0\tAIR\tread\t7\t0\t0\t0\t1\t-\t-\t-\t-\t-\t-\t-\n"),
		"layer \"AIR\" is unknown"));
	CHECK(strstr(
		complaint(HEAD "1\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t1\t-\t-\t-\t8\t-\t-\t-\n"),
		"size is given, but bit 4 of present is not set"));
	CHECK_TEXT(complaint(HEAD_2 LINE_2("-36", "1793", "1\t2\t18446744073709551615\t0")), "");
	CHECK(strstr(complaint(HEAD_2 LINE_2("0", "1", "1\t-\t-\t0")),
		     "span is given, but bit 8 of present is not set"));
	CHECK(strstr(complaint(HEAD_2 LINE_2("0", "1", "-\t-\t-\t3")), "name 3 has no #file line"));
	CHECK_TEXT(complaint(HEAD_3 LINE_2("0", "1", "-\t-\t-\t0\t0")), "");
	CHECK(strstr(complaint(HEAD_3 LINE_2("0", "1", "-\t-\t-\t0\t3")),
		     "hints 3 has no #file line"));
	CHECK(strstr(complaint(HEAD_2 LINE_2("4294967296", "1", "-\t-\t-\t0")),
		     "error is 4294967296, which is out of range"));
	/* What the first version had no column for cannot be there. */
	CHECK(strstr(
		complaint(HEAD
			  "1\t5\t0\t1\t0\tPOSIX\tread\t7\t0\t0\t0\t257\t-\t-\t-\t-\t-\t-\t-\n"),
		"span is absent, but bit 8 of present is set"));
}

/* Facts may stand anywhere, so this is known only when all are in. */
static void samples_and_notes_of_nobody_are_left_out(void)
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

static void text_takes_nanoseconds_only(void)
{
	struct run_clock clock = { (char *)"tsc", 0, 1, 3, 0 };
	void *w;

	CHECK_INT(trace_text.create(&w, "/tmp/never", &sample_run, &clock, sample_calls,
				    SAMPLE_CALLS, NULL),
		  -EINVAL);
}

TESTS(TEST(escapes_undo_themselves), TEST(proper_utf8_stays_readable),
      TEST(wrong_escapes_are_refused), TEST(numbers_must_fit),
      TEST(mistakes_are_named_with_their_line), TEST(values_that_contradict_each_other_are_named),
      TEST(samples_and_notes_of_nobody_are_left_out), TEST(text_takes_nanoseconds_only))
