/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-line plug-in history: how it reads the answers file, and how often it tries hints.
 */
#include "check.h"

#include "capture/inline/history.c"
#include "capture/record/files.c"

struct membership capture_membership;
struct mpi_kind mpi_kind;

static struct control page;
static const char *program = "app";
static const char *program_sets; /* the hint that the program has set itself */

static bool is_set(const struct sluice_query *query, const char *key)
{
	(void)query;
	return program_sets && !strcmp(program_sets, key);
}

/* The answer as text; "-" if there is none. */
static const char *answer_for(const char *text, const char *path, int flags)
{
	static char said[1024];
	struct sluice_query query = { path, flags, 4, is_set };
	struct sluice_answer answer = { 0 };

	strcpy(said, "-");
	if (!history_suggest(text, program, &page, &query, &answer))
		return said;
	strcpy(said, answer.trial ? "trial " : "");
	for (uint32_t i = 0; i < answer.count; i++)
		sprintf(said + strlen(said), "%s%s=%s", i ? ";" : "", answer.hints[i].key,
			answer.hints[i].value);
	return said;
}

#define HEAD_PROGRAM "program app\n"
#define HEAD "sluice-answers 2\n" HEAD_PROGRAM

static void the_most_specific_line_answers(void)
{
	static const char text[] = HEAD "best * r any=1\n"
					"best nc r nc=1;two=2\n"
					"best  w none=1\n";

	CHECK_TEXT(answer_for(text, "/data/out.nc", HINTS_RDONLY), "nc=1;two=2");
	CHECK_TEXT(answer_for(text, "/data/out.nc.0042", HINTS_RDONLY), "nc=1;two=2");
	CHECK_TEXT(answer_for(text, "out.dat", HINTS_RDONLY), "any=1");
	CHECK_TEXT(answer_for(text, "out.nc", HINTS_WRONLY | 1), "-");
	CHECK_TEXT(answer_for(text, "out", HINTS_WRONLY), "none=1");
	CHECK_TEXT(answer_for(text, "out.nc", HINTS_RDWR), "-");
}

static void each_program_has_its_own_lines(void)
{
	static const char text[] = "sluice-answers 2\nbest * r none=1\n"
				   "program\nbest * r none=2\nprogram \nbest * r none=3\n"
				   "program a b\nbest * r ab=1\nprogram app2\nbest * r two=2\n";

	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "-");
	program = "app2";
	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "two=2");
	program = "a b";
	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "ab=1");
	program = "a";
	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "-");
	program = ""; /* the name is unknown */
	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "-");
	program = "app";
}

static void malformed_lines_are_skipped(void)
{
	CHECK_TEXT(answer_for("", "f", HINTS_RDONLY), "-");
	CHECK_TEXT(answer_for("sluice-answers 1\nprogram app\nbest * r a=1\n", "f", HINTS_RDONLY),
		   "-");
	CHECK_TEXT(answer_for(HEAD "best\nbest *\nbest * r\nbest * r \nexplore\ntry\n", "f.x",
			      HINTS_RDONLY),
		   "-");
	CHECK_TEXT(answer_for(HEAD "\n\xff\xff\nbest * r ;;=;a;b=2;=3\n", "f.x", HINTS_RDONLY),
		   "b=2");
	CHECK_TEXT(answer_for(HEAD "explore 1 2\ntry a=1\n", "f", HINTS_RDONLY), "-");
	CHECK_TEXT(answer_for(HEAD "explore 99999999999 0 0\ntry a=1\n", "f", HINTS_RDONLY), "-");
}

static void numbers_and_leading_dots_are_not_extensions(void)
{
	char room[HINTS_EXTENSION_BYTES];

	CHECK_TEXT(hints_extension("/a.b/c", room), "");
	CHECK_TEXT(hints_extension("/a/b.h5", room), "h5");
	CHECK_TEXT(hints_extension("b.tar.gz", room), "gz");
	CHECK_TEXT(hints_extension(".hidden", room), "");
	CHECK_TEXT(hints_extension("out.12", room), "");
	CHECK_TEXT(hints_extension("out.dat.12.3", room), "dat");
	CHECK_TEXT(hints_extension("out.", room), "");
	CHECK_TEXT(hints_extension("a.seventeen_letters_", room), "");
	CHECK_TEXT(hints_extension("a.sixteen_letters_", room), "sixteen_letters_");
	CHECK_TEXT(hints_extension("a.b c", room), "");
	CHECK_TEXT(hints_extension("", room), "");
}

static void harmful_hints_are_not_safe(void)
{
	CHECK(hints_is_safe("cb_buffer_size", "200000000", false));
	CHECK(!hints_is_safe("cb_buffer_size", "0", false));
	CHECK(!hints_is_safe("cb_buffer_size", "16M", false));
	CHECK(!hints_is_safe("cb_buffer_size", "2147483648", false));
	CHECK(hints_is_safe("cb_buffer_size", "2147483647", false));
	CHECK(!hints_is_safe("cb_buffer_size", "4294967296000000000000", false));
	CHECK(!hints_is_safe("romio_cb_pfr", "enable", false));
	CHECK(hints_is_safe("cb_nodes", "2", false));
	CHECK(!hints_is_safe("cb_nodes", "2", true));
	CHECK(!hints_is_safe("", "1", false));
	CHECK(!hints_is_safe("a", "", false));
	CHECK(!hints_is_safe("a key that is longer than Open MPI's 36", "1", false));
	CHECK(!hints_is_safe("a_key_of_thirty_six_letters_is_too_l", "1", false));
	CHECK(hints_is_safe("romio_ds_write", "disable", true));
}

static unsigned count_trials_in(const char *text, unsigned opens)
{
	unsigned trials = 0;

	for (unsigned i = 0; i < opens; i++) {
		trials += !strncmp(answer_for(text, "f.nc", HINTS_WRONLY), "trial ", 6);
		atomic_fetch_add(&page.opens, 1);
		CHECK(trials * 10 <= i + 1);
	}
	return trials;
}

/* The hints that a plan has for an access, "-" if it is none of them, "?" if it does not know. */
static const char *hints_for(const char *text, const char *path, uint32_t ranks, const char *call,
			     uint64_t bytes, bool strided)
{
	static char found[256];
	struct sluice_query query = { path, HINTS_RDWR, ranks, is_set };
	struct history_access access = { .call = call,
					 .bytes = bytes,
					 .is_write = strstr(call, "write"),
					 .is_collective = strstr(call, "_all"),
					 .is_strided = strided };
	struct history_plan plan;
	unsigned choice;
	const char *hints;

	if (!history_plan_find(&plan, text, program, &query))
		return "no plan";
	if (!history_plan_choose(&plan, &access, &choice))
		return "?";
	hints = history_plan_hints(&plan, choice);
	snprintf(found, sizeof(found), "%.*s", hints ? (int)strcspn(hints, "\n") : 1,
		 hints ? hints : "-");
	return found;
}

static void plans_tell_accesses_apart(void)
{
	static const char text[] =
		"sluice-answers 2\nchanges 7\nprogram other\n"
		"access dat b write_all 3 strided other=1\n" HEAD_PROGRAM
		"best dat b best=1\n" HEAD_PROGRAM "access dat b write_all 3 strided a=1;b=2\n"
		"access nc b write_all 3 strided c=1\n"
		"access dat r write_all 3 strided d=1\n"
		"access dat b write_all 3 contiguous e=1\n"
		"alone dat b write any any f=1\n"
		"access dat b read_all any strided g=1\n"
		"program later\naccess dat b write_all 2 any h=1\n";

	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 64, true), "a=1;b=2");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 255, false), "e=1");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 256, true), "-");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 30, true), "-");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 0, true), "?");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_read_all", 1 << 30, true), "g=1");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_read_all", 1 << 30, false), "-");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write", 64, false), "-");
	CHECK_TEXT(hints_for(text, "x.dat", 1, "MPI_File_write", 64, false), "f=1");
	CHECK_TEXT(hints_for(text, "x.nc", 1, "MPI_File_write_all", 64, true), "c=1");
	CHECK_TEXT(hints_for(text, "x.other", 1, "MPI_File_write_all", 64, true), "no plan");
	/* Such a file is opened without hints, except with Open MPI. */
	CHECK_TEXT(answer_for(text, "x.dat", HINTS_RDWR), "-");
	mpi_kind.is_open = true;
	CHECK_TEXT(answer_for(text, "x.dat", HINTS_RDWR), "best=1");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 64, true), "no plan");
	mpi_kind.is_open = false;
}

static void a_plan_may_be_used_beside_hints_for_the_file(void)
{
	static const char text[] =
		"sluice-answers 2\nchanges 7\ncalls MPI_File_write_all "
		"MPI_File_read_at_all\n" HEAD_PROGRAM "best * b best=1\n"
		"beside * b write_all 3 any a=1\nalone * b write_all 3 any b=1\n";
	struct sluice_query query = { "x.dat", HINTS_RDWR, 4, is_set };
	struct history_plan plan;

	CHECK(history_plan_find(&plan, text, program, &query));
	CHECK(plan.beside);
	CHECK_INT(plan.changes, 7);
	CHECK_TEXT(answer_for(text, "x.dat", HINTS_RDWR), "best=1");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_all", 64, true), "a=1");
	CHECK_TEXT(hints_for(text, "x.dat", 1, "MPI_File_write_all", 64, true), "b=1");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_write_at_all", 64, true), "?");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_read_at_all", 64, true), "-");
	CHECK_TEXT(hints_for(text, "x.dat", 4, "MPI_File_read", 64, true), "?");
}

static void malformed_plans_are_harmless(void)
{
	CHECK_TEXT(hints_for(HEAD "access * b\n", "f", 1, "MPI_File_write", 9, true), "no plan");
	CHECK_TEXT(hints_for(HEAD "access * b \n", "f", 1, "MPI_File_write", 9, true), "-");
	CHECK_TEXT(hints_for(HEAD "access * b write\n", "f", 1, "MPI_File_write", 9, true), "-");
	CHECK_TEXT(hints_for(HEAD "access * b write any\n", "f", 1, "MPI_File_write", 9, true),
		   "-");
	CHECK_TEXT(hints_for(HEAD "access * b write any any\n", "f", 1, "MPI_File_write", 9, true),
		   "");
}

static void trials_do_not_exceed_their_share(void)
{
	memset((void *)&page, 0, sizeof(page));
	CHECK_INT(count_trials_in(HEAD "explore 100000 0 0\ntry a=1\ntry b=2\n", 1000), 100);
	CHECK_INT(page.explored, 100);
	/* Trials of earlier runs are counted, too. */
	memset((void *)&page, 0, sizeof(page));
	CHECK_INT(count_trials_in(HEAD "explore 100000 1000 200\ntry a=1\n", 1000), 0);
	memset((void *)&page, 0, sizeof(page));
	CHECK_TEXT(answer_for(HEAD "explore 100000 9 0\ntry a=1\n", "f", HINTS_RDONLY),
		   "trial a=1");
}

static void all_sets_are_tried_in_turn(void)
{
	static const char text[] = HEAD "explore 1000000 0 0\ntry a=1\ntry b=2\ntry c=3\n";
	static const char *const expected[] = { "trial a=1", "trial b=2", "trial c=3",
						"trial a=1" };

	memset((void *)&page, 0, sizeof(page));
	for (int i = 0; i < 4; i++, page.opens++)
		CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), expected[i]);
}

static void hints_that_the_program_sets_are_not_tried(void)
{
	static const char text[] = HEAD "explore 1000000 0 0\ntry a=1;b=2\nbest * r b=3;c=4\n";

	memset((void *)&page, 0, sizeof(page));
	program_sets = "b";
	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "b=3;c=4");
	CHECK_INT(page.explored, 0);
	program_sets = NULL;
	CHECK_TEXT(answer_for(text, "f", HINTS_RDONLY), "trial a=1;b=2");
}

TESTS(TEST(the_most_specific_line_answers), TEST(each_program_has_its_own_lines),
      TEST(malformed_lines_are_skipped), TEST(numbers_and_leading_dots_are_not_extensions),
      TEST(harmful_hints_are_not_safe), TEST(plans_tell_accesses_apart),
      TEST(a_plan_may_be_used_beside_hints_for_the_file), TEST(malformed_plans_are_harmless),
      TEST(trials_do_not_exceed_their_share), TEST(all_sets_are_tried_in_turn),
      TEST(hints_that_the_program_sets_are_not_tried))
