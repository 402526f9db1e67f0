/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-4, H5T-5, H5T-10, HYB-6.
 */
#include "params/tunable.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "contract/hints.h"

/* Returns the canonical value, or "!" and the error. The memory is static. */
static const char *parsed(const char *name, const char *text)
{
	static char out[600];
	struct err err = { 0 };
	AUTO_FREE char *value = tunable_parse(tunable_by_name(name), text, &err);

	snprintf(out, sizeof(out), "%s%s", value ? "" : "!", value ? value : err.text);
	return out;
}

static void rows_are_complete_and_names_are_unique(void)
{
	for (const struct tunable *t = tunables; t->name; t++) {
		CHECK(tunable_by_name(t->name) == t);
		CHECK(t->help && t->unit && t->consumers);
		CHECK((t->safety == TUNABLE_SAFE) == !t->warning);
		CHECK(t->kind != TUNABLE_CHOICE || t->words);
		CHECK(t->kind == TUNABLE_CHOICE || t->kind == TUNABLE_TEXT ||
		      t->kind == TUNABLE_SPREAD || t->kind == TUNABLE_RATIO || t->max > t->min);
		if (t->initial && strcmp(t->initial, "0") != 0) {
			AUTO_FREE char *value = tunable_parse(t, t->initial, NULL);

			CHECK_TEXT(value, t->initial);
		}
	}
	CHECK(tunable_by_name("strp_fac") == tunable_by_name("striping_factor"));
	CHECK(tunable_by_name("strp_unt") == tunable_by_name("striping_unit"));
	CHECK(tunable_by_name("cb_nds") == tunable_by_name("cb_nodes"));
	CHECK(tunable_by_name("cb_buf_size") == tunable_by_name("cb_buffer_size"));
	CHECK(tunable_by_name("align") == tunable_by_name("alignment"));
	CHECK(!tunable_by_name(""));
	CHECK(!tunable_by_name("strp"));
	CHECK(!tunable_by_name("strp_fac|stripe_count"));
}

static void sizes_become_plain_digits(void)
{
	CHECK_TEXT(parsed("cb_buffer_size", "16M"), "16777216");
	CHECK_TEXT(parsed("cb_buffer_size", " 1048576 \n"), "1048576");
	CHECK_TEXT(parsed("cb_buffer_size", "1.5 MiB"), "1572864");
	CHECK_TEXT(parsed("striping_unit", "64K"), "65536");
	CHECK_TEXT(parsed("cb_nodes", "0032"), "32");
}

static void ratios_are_written_as_the_guest_writes_them(void)
{
	static const char *const bad[] = { "1.1", "-0.5", "0.1234567", "1e-2", ".", "x", "0.5 1" };

	CHECK_TEXT(parsed("rdcc_w0", "0.750"), "0.75");
	CHECK_TEXT(parsed("rdcc_w0", "1.0"), "1");
	CHECK_TEXT(parsed("rdcc_w0", "0"), "0");
	CHECK_TEXT(parsed("rdcc_w0", ".5"), "0.5");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(parsed("rdcc_w0", bad[i])[0] == '!');
}

static void numbers_that_atoi_misreads_are_refused(void)
{
	static const char *const bad[] = { "0",	    "4294967296", "2147483648", "-1", "1.5",
					   "0x400", "16MX",	  "",		" ",  "nan" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(parsed("cb_buffer_size", bad[i])[0] == '!');
	CHECK_WORDS(parsed("cb_buffer_size", "2147483648"), "1024|2147483647");
	CHECK(strstr(parsed("cb_nodes", "4M"), "!cb_nodes: "));
	CHECK(strstr(parsed("cb_nodes", "\x01\xff"), "\"??\""));
	CHECK(strstr(parsed("cb_nodes", "\n"), "!cb_nodes: "));
}

static void pairs_may_have_blanks_and_brackets(void)
{
	CHECK_TEXT(parsed("alignment", " 0, 65536 "), "0,65536");
	CHECK_TEXT(parsed("alignment", "0,65536"), "0,65536");
	CHECK_TEXT(parsed("alignment", "(8 K, 1 MB)"), "8192,1048576");
	CHECK_TEXT(parsed("alignment", "0 64K"), "0,65536");
	CHECK(parsed("alignment", "65536")[0] == '!');
	CHECK(parsed("alignment", "1,2,3")[0] == '!');
	CHECK(parsed("alignment", "0, 0")[0] == '!');
	CHECK(parsed("alignment", "a, b")[0] == '!');
	CHECK(parsed("alignment", ",")[0] == '!');
}

static void a_shape_is_extents_or_a_size(void)
{
	CHECK_TEXT(parsed("chunk_size", "(1, 26, 327680)"), "1,26,327680");
	CHECK_TEXT(parsed("chunk_size", "1x26x327680"), "1,26,327680");
	CHECK_TEXT(parsed("chunk_size", "32M"), "33554432");
	CHECK_TEXT(parsed("chunk_size", "4096"), "4096");
	CHECK_TEXT(parsed("chunk_size", "4096,"), "4096,");
	CHECK(parsed("chunk_size", "1,0,4")[0] == '!');
	CHECK(parsed("chunk_size", "4294967296,2")[0] == '!');
	CHECK(parsed("chunk_size", "0")[0] == '!');
	CHECK(parsed("chunk_size",
		     "1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,"
		     "6")[0] == '!');
}

static void words_match_in_any_case_and_by_synonym(void)
{
	CHECK_TEXT(parsed("romio_cb_write", "ENABLE"), "enable");
	CHECK_TEXT(parsed("bglockless", "True"), "true");
	CHECK_TEXT(parsed("bglockless", "1"), "true");
	CHECK_TEXT(parsed("IBM_largeblock_io", "no"), "false");
	CHECK_TEXT(parsed("coll_metadata_write", "true"), "on");
	CHECK_TEXT(parsed("romio_ds_write", "false"), "disable");
	CHECK(strstr(parsed("fill_time", "yes"), "ifset|never|alloc"));
}

static void lists_of_aggregators_are_not_empty(void)
{
	CHECK_TEXT(parsed("cb_config_list", "*:4"), "*:4");
	CHECK_TEXT(parsed("cb_config_list", "node-1:2, *:1"), "node-1:2,*:1");
	CHECK_TEXT(parsed("cb_config_list", "*:*"), "*:*");
	CHECK(parsed("cb_config_list", "*:0")[0] == '!');
	CHECK(parsed("cb_config_list", "*:")[0] == '!');
	CHECK(parsed("cb_config_list", "a;b")[0] == '!');
	CHECK(parsed("cb_config_list", "*:2,")[0] == '!');
	CHECK(parsed("ceph_pool", "it's")[0] == '!');
}

/* The guest's final check must not refuse a hint that the host accepts. */
static void every_hint_passes_the_guest_on_romio(void)
{
	for (const struct tunable *t = tunables; t->name; t++) {
		AUTO_FREE char *value = NULL;
		char text[32], word[32];

		if (t->place != PLACE_HINT || t->safety == TUNABLE_DANGEROUS)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)(t->min ? t->min : 1));
		snprintf(word, sizeof(word), "%.*s", (int)(t->words ? strcspn(t->words, "|") : 0),
			 t->words ? t->words : "");
		value = tunable_parse(t,
				      t->kind == TUNABLE_CHOICE ? word
				      : t->kind == TUNABLE_TEXT ? "*:2"
								: text,
				      NULL);
		REQUIRE(value);
		CHECK(hints_is_safe(t->key ? t->key : t->name, value, false));
	}
	CHECK(!hints_is_safe("romio_cb_pfr", "enable", false));
	CHECK(!hints_is_safe("cb_nodes", "2", true));
}

static void consumers_depend_on_the_environment(void)
{
	struct tunable_context here = { .middleware = MIDDLEWARE_MPICH,
					.filesystem = FILESYSTEM_LOCAL };
	const struct tunable *striping = tunable_by_name("striping_factor");
	const struct tunable *nodes = tunable_by_name("cb_nodes");

	CHECK_INT(tunable_consumers(striping, &here), 0);
	CHECK_INT(tunable_consumers(nodes, &here), TUNABLE_CONSUMER_ROMIO);
	here.filesystem = FILESYSTEM_LUSTRE;
	CHECK_INT(tunable_consumers(striping, &here),
		  TUNABLE_CONSUMER_ROMIO_LUSTRE | TUNABLE_CONSUMER_LUSTRE);
	here.middleware = MIDDLEWARE_OMPIO;
	CHECK_INT(tunable_consumers(striping, &here), TUNABLE_CONSUMER_LUSTRE);
	CHECK_INT(tunable_consumers(nodes, &here), TUNABLE_CONSUMER_OMPIO);
	CHECK_INT(tunable_consumers(tunable_by_name("cb_config_list"), &here), 0);
	here = (struct tunable_context){ 0 };
	CHECK_INT(tunable_consumers(nodes, &here), TUNABLE_CONSUMER_ROMIO | TUNABLE_CONSUMER_OMPIO);
}

static void values_that_may_hang_need_evidence_or_permission(void)
{
	const struct tunable *transfer = tunable_by_name("transfer");
	struct tunable_context here = { .allowed = TUNABLE_LAYOUT };
	struct err err = { 0 };

	CHECK(tunable_may_hang(transfer, "collective"));
	CHECK(!tunable_may_hang(transfer, "independent") && !tunable_may_hang(transfer, NULL));
	CHECK(!tunable_may_hang(tunable_by_name("cb_nodes"), "collective"));
	CHECK_INT(tunable_allow(transfer, "independent", &here, NULL), 0);
	CHECK_INT(tunable_allow(transfer, "collective", &here, &err), -EPERM);
	CHECK(strstr(err.text, "hangs") && strstr(err.text, "sluice tune") &&
	      strstr(err.text, "params.allow = semantics"));
	here.allowed = TUNABLE_SEMANTICS;
	CHECK_INT(tunable_allow(transfer, "collective", &here, NULL), 0);
	here = (struct tunable_context){ .allowed = TUNABLE_LAYOUT, .is_lockstep = true };
	CHECK_INT(tunable_allow(transfer, "collective", &here, NULL), 0);
	/* Evidence is no proof: a site that permits only safe values does not get it. */
	here.allowed = TUNABLE_SAFE;
	CHECK_INT(tunable_allow(transfer, "collective", &here, NULL), -EPERM);
	CHECK_INT(tunable_allow(transfer, "independent", &here, NULL), 0);
}

static void dangerous_values_are_refused_and_classes_need_permission(void)
{
	struct tunable_context here = { .middleware = MIDDLEWARE_OMPIO,
					.allowed = TUNABLE_DANGEROUS };
	struct err err = { 0 };

	CHECK_INT(tunable_allow(tunable_by_name("cb_nodes"), "2", &here, &err), -EPERM);
	CHECK(strstr(err.text, "loses data"));
	CHECK_INT(tunable_allow(tunable_by_name("romio_cb_pfr"), "enable", &here, &err), -EPERM);
	here.middleware = MIDDLEWARE_MPICH;
	CHECK_INT(tunable_allow(tunable_by_name("cb_nodes"), "2", &here, NULL), 0);
	here.allowed = TUNABLE_SAFE;
	CHECK_INT(tunable_allow(tunable_by_name("alignment"), "0,1", &here, &err), -EPERM);
	CHECK(strstr(err.text, "params.allow = layout"));
	here.allowed = TUNABLE_LAYOUT;
	CHECK_INT(tunable_allow(tunable_by_name("alignment"), "0,1", &here, NULL), 0);
	CHECK_INT(tunable_allow(tunable_by_name("libver"), "latest", &here, NULL), -EPERM);
}

static void a_missing_path_has_the_file_system_of_its_parent(void)
{
	CHECK_INT(filesystem_of("/proc/self"), FILESYSTEM_LOCAL);
	CHECK_INT(filesystem_of("/proc/no/such/path"), filesystem_of("/proc"));
	CHECK_INT(filesystem_of("no-such-file"), filesystem_of("."));
	CHECK_INT(filesystem_by_name("Lustre"), FILESYSTEM_LUSTRE);
	CHECK_INT(filesystem_by_name("zfs"), -1);
	CHECK_INT(middleware_by_name(middleware_name(MIDDLEWARE_OPENMPI_ROMIO)),
		  MIDDLEWARE_OPENMPI_ROMIO);
}

TESTS(TEST(rows_are_complete_and_names_are_unique), TEST(sizes_become_plain_digits),
      TEST(ratios_are_written_as_the_guest_writes_them),
      TEST(numbers_that_atoi_misreads_are_refused), TEST(pairs_may_have_blanks_and_brackets),
      TEST(a_shape_is_extents_or_a_size), TEST(words_match_in_any_case_and_by_synonym),
      TEST(lists_of_aggregators_are_not_empty), TEST(every_hint_passes_the_guest_on_romio),
      TEST(consumers_depend_on_the_environment),
      TEST(values_that_may_hang_need_evidence_or_permission),
      TEST(dangerous_values_are_refused_and_classes_need_permission),
      TEST(a_missing_path_has_the_file_system_of_its_parent))
