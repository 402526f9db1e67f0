/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/launches.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/process.h"
#include "check.h"
#include "trace/format.h"

static struct control *control;
static struct launches launches;

static void begin(void)
{
	control = xcalloc(1, sizeof(*control));
	atomic_store(&control->mode, CAPTURE_TRACE);
	strcpy(control->skip, "skipped\n");
	launches = (struct launches){ .control = control };
}

static void take_note(void *arg, const struct note *note)
{
	buf_printf(arg, "%s %s %s\n", note->kind, note->name, note->value);
}

/* Ends the run; the caller frees the notes. */
static char *finish(void)
{
	struct buf text = { 0 };

	launches_finish(&launches);
	launches_report(&launches, "h", &text, take_note);
	launches_release(&launches);
	free(control);
	buf_puts(&text, "");
	return buf_take(&text);
}

/* The pid of a process that has ended. */
static int32_t ended_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	REQUIRE(waitpid(pid, NULL, 0) == pid);
	return pid;
}

static void post(enum launch_kind kind, int32_t pid, unsigned flags, uint64_t time,
		 const char *path)
{
	struct launch_note *note = launch_claim(&control->launches);

	REQUIRE(note);
	note->kind = (uint16_t)kind;
	note->flags = (uint16_t)flags;
	note->pid = pid;
	note->cause = LOSS_NO_SPACE;
	note->pid_namespace = process_namespace();
	note->time = time;
	snprintf(note->path, sizeof(note->path), "%s", path);
	launch_publish(note);
}

static void join(int32_t pid, uint64_t time)
{
	struct spool_header *header = xcalloc(1, sizeof(*header));

	header->pid = pid;
	header->pid_namespace = process_namespace();
	header->attached = time;
	strcpy(header->program, "/bin/true");
	launches_joined(&launches, header);
	free(header);
}

static void pass(void)
{
	launches_check(&launches);
	launches_settle(&launches);
}

static void a_program_that_joins_is_not_counted(void)
{
	int32_t pid = ended_pid();
	AUTO_FREE char *text = NULL;

	begin();
	post(LAUNCH_STARTS, pid, 0, 10, "/bin/true");
	launches_check(&launches);
	join(pid, 11);
	launches_settle(&launches);
	pass();
	CHECK_INT(launches.unrecorded, 0);
	text = finish();
	CHECK_TEXT(text, "");
}

/* posix_spawn() returns after the program has started. */
static void a_note_may_follow_the_spool(void)
{
	int32_t pid = ended_pid();
	AUTO_FREE char *text = NULL;

	begin();
	join(pid, 11);
	pass();
	post(LAUNCH_STARTS, pid, 0, 10, "/bin/true");
	pass();
	pass();
	text = finish();
	CHECK_TEXT(text, "");
}

static void an_earlier_image_of_the_process_does_not_count_as_joined(void)
{
	int32_t pid = ended_pid();
	AUTO_FREE char *text = NULL;

	begin();
	join(pid, 9);
	post(LAUNCH_STARTS, pid, LAUNCH_NO_ENVIRONMENT, 10, "/bin/true");
	pass();
	CHECK_INT(launches.unrecorded, 0);
	pass();
	CHECK_INT(launches.unrecorded, 1);
	CHECK_INT(atomic_load(&control->unrecorded[LOSS_ENVIRONMENT]), 1);
	text = finish();
	CHECK_TEXT(text, "unrecorded environment 1 /bin/true\n");
}

static void a_living_process_is_counted_at_the_end(void)
{
	AUTO_FREE char *text = NULL;

	begin();
	post(LAUNCH_STARTS, getpid(), LAUNCH_UNREACHABLE, 10, "/bin/true");
	post(LAUNCH_STARTS, getpid(), LAUNCH_UNREACHABLE | LAUNCH_OTHER_USER, 11, "/bin/false");
	/* It may be about to join. */
	post(LAUNCH_STARTS, getpid(), 0, 12, "/bin/true");
	pass();
	pass();
	CHECK_INT(launches.unrecorded, 0);
	text = finish();
	CHECK_WORDS(text, "unrecorded namespace 1 /bin/true|unrecorded user 1 /bin/false");
	CHECK(!strstr(text, "unknown"));
}

static void a_failed_start_is_withdrawn(void)
{
	int32_t pid = ended_pid();
	AUTO_FREE char *text = NULL;

	begin();
	post(LAUNCH_STARTS, pid, LAUNCH_UNREACHABLE, 10, "/bin/true");
	pass();
	post(LAUNCH_WITHDRAWN, pid, 0, 11, "");
	launches_settle(&launches);
	pass();
	text = finish();
	CHECK_TEXT(text, "");
}

static void a_process_that_reports_its_failure_is_counted_once(void)
{
	int32_t pid = ended_pid();
	AUTO_FREE char *text = NULL;

	begin();
	post(LAUNCH_STARTS, pid, 0, 10, "/bin/true");
	post(LAUNCH_FAILED, pid, 0, 11, "/bin/true");
	pass();
	post(LAUNCH_STARTS, pid, 0, 10, "/bin/true");
	pass();
	pass();
	text = finish();
	CHECK_TEXT(text, "unrecorded no_space 1 /bin/true\n");
}

static void unreadable_spools_are_counted_with_their_program(void)
{
	int32_t pid = ended_pid();
	AUTO_FREE char *text = NULL;

	begin();
	post(LAUNCH_STARTS, pid, 0, 10, "/bin/true");
	launches_settle(&launches);
	launches_unreadable(&launches, pid, LOSS_ADDRESS_SPACE);
	text = finish();
	CHECK_TEXT(text, "unrecorded address_space 1 /bin/true\n");
}

static void programs_to_skip_are_not_counted(void)
{
	AUTO_FREE char *text = NULL;

	begin();
	post(LAUNCH_STARTS, ended_pid(), LAUNCH_UNREACHABLE, 10, "/usr/bin/skipped");
	pass();
	pass();
	text = finish();
	CHECK_TEXT(text, "");
}

static void a_full_table_counts_what_it_cannot_hold(void)
{
	AUTO_FREE char *text = NULL;

	begin();
	for (int i = 0; i < LAUNCH_NOTES; i++)
		REQUIRE(launch_claim(&control->launches));
	CHECK(!launch_claim(&control->launches));
	CHECK(!launch_claim(&control->launches));
	text = finish();
	CHECK_WORDS(text, "degraded|2 programs");
}

static void notes_with_damaged_contents_do_no_harm(void)
{
	struct launch_note *note;
	AUTO_FREE char *text = NULL;

	begin();
	note = launch_claim(&control->launches);
	memset((char *)note + sizeof(note->state), 0xff, sizeof(*note) - sizeof(note->state));
	launch_publish(note);
	post(LAUNCH_FAILED, 1, 0, 5, "a\nb\033");
	pass();
	text = finish();
	CHECK_TEXT(text, "unrecorded no_space 1 a?b?\n");
}

TESTS(TEST(a_program_that_joins_is_not_counted), TEST(a_note_may_follow_the_spool),
      TEST(an_earlier_image_of_the_process_does_not_count_as_joined),
      TEST(a_living_process_is_counted_at_the_end), TEST(a_failed_start_is_withdrawn),
      TEST(a_process_that_reports_its_failure_is_counted_once),
      TEST(unreadable_spools_are_counted_with_their_program),
      TEST(programs_to_skip_are_not_counted), TEST(a_full_table_counts_what_it_cannot_hold),
      TEST(notes_with_damaged_contents_do_no_harm))
