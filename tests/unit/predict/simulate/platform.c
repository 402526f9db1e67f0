/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptions of platforms: the shipped ones are complete, and errors in a description name the
 * line.
 * Papers: ATE-3.
 */
#include "predict/simulate/platform.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"
#include "predict/simulate/description.h"

static const char *const shipped[] = { "hopper", "intrepid", "stampede" };

static char *shipped_text(const char *name)
{
	AUTO_FREE char *bin = place_binary_dir();
	AUTO_FREE char *path = xprintf("%s/../platforms/%s.ini", bin, name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char *text = xcalloc(1, 65536);

	REQUIRE(f && fread(text, 1, 65535, f) > 0);
	return text;
}

static void shipped_platforms_are_found_by_name(void)
{
	for (size_t i = 0; i < 3; i++) {
		struct platform *platform = NULL;
		struct tunable_context context;
		struct err err = { 0 };

		CHECK_INT(platform_open(&platform, shipped[i], &err), 0);
		CHECK_TEXT(err.text, "");
		REQUIRE(platform);
		CHECK_TEXT(platform_name(platform), shipped[i]);
		platform_context(platform, &context);
		CHECK_INT(context.filesystem, i == 1 ? FILESYSTEM_GPFS : FILESYSTEM_LUSTRE);
		platform_close(platform);
	}
}

static void published_figures_are_those_of_the_paper(void)
{
	static const struct {
		double cores, memory_gib, peak, servers, targets, io_nodes;
	} paper[] = { { 24, 32, 35e9, 26, 156, 0 },
		      { 4, 2, 47e9, 128, 0, 640 },
		      { 16, 32, 159e9, 58, 160, 0 } };

	for (size_t i = 0; i < 3; i++) {
		struct platform *p = NULL;

		REQUIRE(platform_open(&p, shipped[i], NULL) == 0);
		CHECK(p->cores == paper[i].cores);
		CHECK(p->memory == paper[i].memory_gib * (1u << 30));
		CHECK(platform_peak(p) == paper[i].peak);
		CHECK(p->servers == paper[i].servers);
		CHECK(p->targets == paper[i].targets);
		CHECK(p->io_nodes == paper[i].io_nodes);
		platform_close(p);
	}
}

static void an_unknown_name_lists_the_known_platforms(void)
{
	struct platform *platform = NULL;
	struct err err = { 0 };

	CHECK_INT(platform_open(&platform, "franklin", &err), -ENOENT);
	CHECK(strstr(err.text, "'franklin'") && strstr(err.text, "hopper"));
	CHECK_INT(platform_open(&platform, "/nowhere/x.ini", &err), -ENOENT);
	CHECK(strstr(err.text, "/nowhere/x.ini"));
	CHECK(!platform);
}

static void the_environment_variable_adds_a_folder(void)
{
	AUTO_FREE char *text = shipped_text("hopper");
	char folder[] = "/tmp/sluice-platforms.XXXXXX";
	AUTO_FREE char *path = NULL;
	struct platform *platform = NULL;
	FILE *f;

	REQUIRE(mkdtemp(folder));
	path = xprintf("%s/mine.ini", folder);
	f = fopen(path, "we");
	REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0);
	setenv("SLUICE_PLATFORMS", folder, 1);
	CHECK_INT(platform_open(&platform, "mine", NULL), 0);
	unsetenv("SLUICE_PLATFORMS");
	platform_close(platform);
	unlink(path);
	rmdir(folder);
}

/* Returns a description in which the first line that begins with `old` is replaced. */
static char *changed(const char *old, const char *new, unsigned *line)
{
	AUTO_FREE char *text = shipped_text("hopper");
	AUTO_FREE char *mark = xprintf("\n%s", old);
	char *at = strstr(text, mark), *end, *out;

	REQUIRE(at);
	at++;
	end = strchr(at, '\n');
	*line = 1;
	for (const char *c = text; c < at; c++)
		*line += *c == '\n';
	out = xprintf("%.*s%s%s", (int)(at - text), text, new, end);
	return out;
}

static void errors_name_the_line(void)
{
	static const struct {
		const char *old, *new, *words;
	} cases[] = {
		{ "cores", "cores = many", "cores|'many'" },
		{ "cores", "cores = 0", "cores|'0'" },
		{ "memory", "memory = 32X", "memory|size" },
		{ "peak", "peak = 35 GB/s", "peak|bytes per second" },
		{ "peak", "peak = nan", "peak|'nan'" },
		{ "share", "share = 1.5", "to 1" },
		{ "share", "share =", "share|''" },
		{ "lock ", "lok = 1", "'lok'" },
		{ "lock ", "lock", "key = value" },
		{ "[locks]", "[locks", "]" },
		{ "[locks]", "[padlocks]", "[padlocks]" },
		{ "filesystem", "filesystem = zfs", "lustre" },
		{ "name", "nom = hopper", "'nom'" },
		{ "servers =", "peak = 1", "peak|twice" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned line;
		AUTO_FREE char *text = changed(cases[i].old, cases[i].new, &line);
		struct platform *platform = NULL;
		struct err err = { 0 };
		char place[32];

		CHECK_INT(platform_read_text(&platform, "x.ini", text, strlen(text), &err),
			  -EINVAL);
		CHECK(!platform);
		/* A missing heading is noticed at the next line. */
		snprintf(place, sizeof(place),
			 "x.ini:%u: ", line + (strcmp(cases[i].new, "[padlocks]") ? 0 : 2));
		CHECK_WORDS(err.text, place);
		CHECK_WORDS(err.text, cases[i].words);
	}
}

static void missing_keys_are_named(void)
{
	static const struct {
		const char *old, *new, *words;
	} cases[] = {
		{ "peak", "", "x.ini:|[servers]|peak|missing" },
		{ "name", "", "x.ini:|[platform]|name|missing" },
		{ "filesystem", "", "x.ini:|[platform]|filesystem|missing" },
		{ "cb_nodes", "", "[search]|cb_nodes" },
		{ "collective", "colective = cb_nodes", "'colective'" },
		{ "cb_buffer_size = striping_unit", "cb_buffer_size = stripe", "[ties]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned line;
		AUTO_FREE char *text = changed(cases[i].old, cases[i].new, &line);
		struct platform *platform = NULL;
		struct err err = { 0 };

		CHECK_INT(platform_read_text(&platform, "x.ini", text, strlen(text), &err),
			  -EINVAL);
		CHECK_WORDS(err.text, cases[i].words);
	}
}

/* Truncated files and files with one changed byte are accepted or refused, without a crash. */
static void damaged_descriptions_do_not_crash_the_reader(void)
{
	AUTO_FREE char *text = shipped_text("intrepid");
	size_t n = strlen(text), refused = 0;

	for (size_t i = 0; i < n; i += 7) {
		struct platform *platform = NULL;
		char was = text[i];

		refused += platform_read_text(&platform, "x", text, i, NULL) < 0;
		platform_close(platform);
		platform = NULL;
		text[i] = (char)(i % 2 ? 0 : 0xff);
		refused += platform_read_text(&platform, "x", text, n, NULL) < 0;
		platform_close(platform);
		text[i] = was;
	}
	CHECK(refused > n / 7);
}

TESTS(TEST(shipped_platforms_are_found_by_name), TEST(published_figures_are_those_of_the_paper),
      TEST(an_unknown_name_lists_the_known_platforms), TEST(the_environment_variable_adds_a_folder),
      TEST(errors_name_the_line), TEST(missing_keys_are_named),
      TEST(damaged_descriptions_do_not_crash_the_reader))
