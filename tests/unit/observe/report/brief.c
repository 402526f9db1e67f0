/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-17.
 */
#include "observe/report/brief.h"

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/tally/summary.h"

#define MS INT64_C(1000000)

enum { OPEN, READ, WRITE, MPI_WRITE };
static struct call_info calls[] = {
	[OPEN] = { .name = "open", .layer = LAYER_POSIX, .class = CLASS_OPEN },
	[READ] = { .name = "read", .layer = LAYER_POSIX, .class = CLASS_READ },
	[WRITE] = { .name = "write", .layer = LAYER_POSIX, .class = CLASS_WRITE },
	[MPI_WRITE] = { .name = "MPI_File_write", .layer = LAYER_MPI, .class = CLASS_WRITE },
};
static char *files[] = { "", "/home/me/run/out.dat",
			 "/scratch/a/very/long/path/that/nobody/wants/to/read/input.dat" };

struct run {
	struct process_info processes[4];
	struct note notes[32];
	struct trace_head head;
	struct summary summary;
	uint64_t next;
};

static void run_init(struct run *run, size_t ranks)
{
	*run = (struct run){ .next = 1 };
	for (size_t i = 0; i < 4; i++)
		run->processes[i] = (struct process_info){ .parent = -1,
							   .rank = i < ranks ? (int32_t)i : -1,
							   .host = i % 2 ? "n1" : "n0" };
	run->head = (struct trace_head){ .calls = calls,
					 .call_count = 4,
					 .files = files,
					 .file_count = 3,
					 .processes = run->processes,
					 .process_count = ranks ? ranks : 1,
					 .notes = run->notes };
	run->head.run.directory = "/home/me/run";
	run->head.end = (struct run_end){ .duration_ns = 1000 * MS, .complete = true };
}

static void note(struct run *run, int32_t process, const char *source, const char *kind,
		 const char *name, const char *value)
{
	run->notes[run->head.note_count++] =
		(struct note){ .time_ns = strcmp(kind, NOTE_COST) ? 12300 * MS : -1,
			       .process = process,
			       .source = (char *)source,
			       .kind = (char *)kind,
			       .name = (char *)name,
			       .value = (char *)value };
}

static void call(struct run *run, uint32_t process, uint16_t number, file_id file, int64_t at_ms,
		 int64_t ms, int64_t bytes)
{
	struct activity a = { .process = process,
			      .call = number,
			      .layer = calls[number].layer,
			      .file = file,
			      .start_ns = at_ms * MS,
			      .duration_ns = ms * MS,
			      .result = bytes,
			      .id = run->next++ };

	summary_add(&run->summary, &a);
}

/* Returns what is printed; the caller frees it. */
static char *render(struct run *run, bool read)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	brief_render(out, &run->summary, NULL, "/tmp/my trace.sluice", read);
	fclose(out);
	summary_release(&run->summary);
	return text;
}

/* Returns the number of lines, or 1000 if one of them except the last is too long. */
static int count_lines(const char *text)
{
	int lines = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n > BRIEF_COLUMNS && text[n + 1])
			return 1000;
		text += n + 1;
		lines++;
	}
	return lines;
}

/* Returns the line that begins with the label; "" if there is none. */
static const char *line(const char *text, const char *label)
{
	static char found[256];
	const char *at = text;

	while (*at && strncmp(at, label, strlen(label)) != 0)
		at += strcspn(at, "\n") + 1;
	snprintf(found, sizeof(found), "%.*s", (int)strcspn(at, "\n"), at);
	return found;
}

static void a_program_of_one_process_has_its_layers_and_files(void)
{
	static struct run run;
	AUTO_FREE char *text = NULL;

	run_init(&run, 0);
	summary_init(&run.summary, &run.head);
	call(&run, 0, READ, 2, 0, 100, 50 << 20);
	call(&run, 0, WRITE, 1, 200, 400, 100 << 20);
	text = render(&run, true);
	CHECK_INT(count_lines(text), 4);
	CHECK_WORDS(line(text, "sluice:"), "1.00 s|50.0%|read 50.0 MiB, wrote 100 MiB");
	CHECK_WORDS(line(text, "  POSIX "), "read 50.0 MiB, wrote 100 MiB|2 calls|300 MiB/s");
	CHECK_WORDS(line(text, "  files "), "out.dat|100 MiB|40.0%|2 files");
	CHECK_TEXT(line(text, "  more "), "  more       sluice report '/tmp/my trace.sluice'");
}

static void ranks_are_compared(void)
{
	static struct run run;
	AUTO_FREE char *text = NULL;

	run_init(&run, 4);
	summary_init(&run.summary, &run.head);
	for (uint32_t i = 0; i < 4; i++) {
		call(&run, i, MPI_WRITE, 1, 0, 100 * (i + 1), (i < 2 ? 50 : 100) << 20);
		call(&run, i, OPEN, 1, 500, 0, 3); /* took no time and transferred no data */
	}
	text = render(&run, true);
	CHECK_INT(count_lines(text), 5);
	CHECK_WORDS(line(text, "sluice:"), "4 ranks on 2 nodes|1.00 s|25.0%|wrote 300 MiB");
	CHECK_WORDS(line(text, "  ranks "), "250 ms|100 ms (rank 0)|400 ms (rank 3)");
	CHECK_WORDS(line(text, "  MPI "), "300 MiB|4 calls|333 MiB/s per rank|250 to 500");
	CHECK_WORDS(line(text, "  files "), "out.dat|300 MiB|25.0%");
	CHECK(*line(text, "  more "));
}

static void findings_actions_and_overhead_are_shown(void)
{
	static struct run run;
	AUTO_FREE char *text = NULL;

	run_init(&run, 2);
	note(&run, 0, "reasoner", NOTE_ANOMALY, "process 0", "40 of 100");
	note(&run, 1, "reasoner", NOTE_ANOMALY, "process 1", "50 of 100");
	note(&run, 0, "read_ahead", NOTE_APPLIED, "advice given", "1200");
	note(&run, 1, "read_ahead", NOTE_APPLIED, "advice given", "34");
	note(&run, -1, "overhead", NOTE_DEGRADED, "counters", "recording cost 3 %");
	note(&run, -1, "watcher", NOTE_DEGRADED, "calls dropped", "7");
	note(&run, -1, "mine", NOTE_REFUSED, "abi", "ABI 7");
	note(&run, 0, "overhead", NOTE_COST, "guest_ns", "2000000");
	note(&run, 0, "overhead", NOTE_COST, "guest_share", "0.002");
	note(&run, 1, "overhead", NOTE_COST, "guest_ns", "3000000");
	note(&run, 1, "overhead", NOTE_COST, "guest_share", "0.003");
	note(&run, -1, "overhead", NOTE_COST, "collector_ns", "7000000");
	summary_init(&run.summary, &run.head);
	text = render(&run, true);
	CHECK_WORDS(line(text, "  anomalies "), "2|12.3 s|40 of 100");
	/* What Sluice did to the program comes first. */
	CHECK(strncmp(strchr(text, '\n'), "\n  applied ", 11) == 0);
	CHECK_WORDS(line(text, "  applied "), "read_ahead: advice given 1234");
	CHECK_WORDS(line(text, "  degraded "), "12.3 s|recording cost 3 %");
	CHECK_WORDS(line(text, "  refused "), "mine: ABI 7");
	CHECK_WORDS(line(text, "  overhead "), "program|5.00 ms|0.30%|collector|7.00 ms");
}

/* Everything at once, with long texts. */
static void there_are_never_more_than_twelve_lines_of_a_hundred_columns(void)
{
	static char ramble[1000];
	static struct loss_info loss = { .records = 5, .threads = 2 };
	static struct run run;
	AUTO_FREE char *text = NULL;

	memset(ramble, 'x', sizeof(ramble) - 1);
	run_init(&run, 4);
	for (int i = 0; i < 4; i++)
		calls[i].layer = (uint8_t)(i < 2 ? i : i + 1);
	note(&run, 0, "reasoner", NOTE_ANOMALY, "a", ramble);
	note(&run, 0, "read_ahead", NOTE_APPLIED, "advice given", ramble);
	note(&run, -1, "overhead", NOTE_DEGRADED, "counters", ramble);
	note(&run, -1, ramble, NOTE_REFUSED, "abi", ramble);
	note(&run, 1, "overhead", NOTE_COST, "guest_ns", "3000000");
	note(&run, 0, "capture", NOTE_LOST, "spool_limit", "5");
	run.head.losses = &loss;
	run.head.loss_count = 1;
	summary_init(&run.summary, &run.head);
	for (uint32_t i = 0; i < 4; i++)
		call(&run, i, (uint16_t)i, 2, 0, 100, 1 << 20);
	text = render(&run, true);
	CHECK_INT(count_lines(text), BRIEF_LINES);
	CHECK(strstr(text, "files      /scratch/a/ve.../wants/to/read/input.dat (3.00 MiB, "));
	CHECK_WORDS(line(text, "  incomplete "), "5 calls|spool.limit|2 threads");
	for (int i = 0; i < 4; i++)
		calls[i].layer = i == MPI_WRITE ? LAYER_MPI : LAYER_POSIX;
}

static void unrecorded_processes_are_shown_by_cause(void)
{
	static struct run run;
	AUTO_FREE char *text = NULL;

	run_init(&run, 2);
	note(&run, -1, "capture", NOTE_UNRECORDED, "static", "2 /some/where/tool");
	note(&run, -1, "capture", NOTE_UNRECORDED, "user", "1 /bin/echo");
	summary_init(&run.summary, &run.head);
	text = render(&run, true);
	CHECK_WORDS(line(text, "  incomplete "),
		    "3 processes|2 statically linked (tool)|1 another user (echo)");
}

static void interrupted_hosts_are_named(void)
{
	static struct run run;
	AUTO_FREE char *text = NULL;

	run_init(&run, 2);
	note(&run, -1, "merge", "interrupted", "recording", "");
	run.head.notes[run.head.note_count - 1].host = "node7";
	run.head.end.complete = false;
	summary_init(&run.summary, &run.head);
	text = render(&run, true);
	CHECK_WORDS(line(text, "  incomplete "), "interrupted|node7");
}

static void a_cut_does_not_split_a_character(void)
{
	static char umlauts[400];
	static struct run run;
	AUTO_FREE char *text = NULL;

	for (size_t i = 0; i + 2 < sizeof(umlauts); i += 2)
		memcpy(&umlauts[i], "\xc3\xa4", 2);
	run_init(&run, 0);
	note(&run, 0, "reasoner", NOTE_ANOMALY, "a", umlauts);
	summary_init(&run.summary, &run.head);
	text = render(&run, true);
	CHECK(strstr(text, "\xc3\xa4...\n"));
}

static void only_the_head_of_a_long_trace_is_shown(void)
{
	static struct run run;
	AUTO_FREE char *text = NULL;

	run_init(&run, 0);
	run.head.activities = 20000000;
	summary_init(&run.summary, &run.head);
	text = render(&run, false);
	CHECK_INT(count_lines(text), 2);
	CHECK_WORDS(line(text, "sluice:"), "1.00 s|20000000 calls");
	CHECK(*line(text, "  more "));
}

static void a_trace_that_cannot_be_read_is_an_error(void)
{
	struct config config = { 0 };
	AUTO_FREE char *text = NULL;
	struct err err = { 0 };
	size_t n;
	FILE *out = open_memstream(&text, &n);

	CHECK(brief_print(out, "/nowhere/trace.sluice", &config, &err) < 0);
	fclose(out);
	CHECK_TEXT(text, "");
	CHECK(strstr(err.text, "/nowhere/trace.sluice"));
}

TESTS(TEST(a_program_of_one_process_has_its_layers_and_files), TEST(ranks_are_compared),
      TEST(findings_actions_and_overhead_are_shown),
      TEST(there_are_never_more_than_twelve_lines_of_a_hundred_columns),
      TEST(unrecorded_processes_are_shown_by_cause), TEST(interrupted_hosts_are_named),
      TEST(a_cut_does_not_split_a_character), TEST(only_the_head_of_a_long_trace_is_shown),
      TEST(a_trace_that_cannot_be_read_is_an_error))
