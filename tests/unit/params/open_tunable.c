/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/open_tunable.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "params/set.h"

static void a_variable_has_one_row_however_it_is_written(void)
{
	const struct tunable *io = tunable_by_name("mca:io"), *tls = tunable_by_name("ucx:TLS");

	CHECK(io && io == tunable_by_name("env:OMPI_MCA_io"));
	CHECK_TEXT(io->name, "mca:io");
	CHECK_TEXT(io->key, "OMPI_MCA_io");
	CHECK(tls && tls == tunable_by_name("env:UCX_TLS"));
	CHECK_TEXT(tls->key, "UCX_TLS");
	CHECK(tunable_by_name("env:io") != io);
	CHECK_INT(tunable_by_name("env:A")->layer, TUNABLE_ENVIRONMENT);
	CHECK(tunable_by_name("{A}") != tunable_by_name("env:A"));
	CHECK_INT(tunable_by_name("{A}")->layer, TUNABLE_COMMAND);
}

static void every_row_is_found_by_its_own_name(void)
{
	static const char *const names[] = { "env:OMPI_MCA_1", "env:UCX_", "env:UCX_2A", "mca:a1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct tunable *row = tunable_by_name(names[i]);

		CHECK_TEXT(row->name, names[i]);
		CHECK(tunable_by_name(row->name) == row);
	}
}

static void other_names_are_unknown(void)
{
	static const char *const bad[] = { "env:",  "env:1A",  "env:A=B", "env:A B", "{}",
					   "{a b}", "{a}b",    "{a",	  "mca:",    "x:y",
					   "a}",    "env:A-B", "env:{a}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!tunable_by_name(bad[i]));
}

static void dangerous_variables_are_refused(void)
{
	static const char *const bad[] = { "mca:io_ompio_num_aggregators", "env:LD_PRELOAD",
					   "env:SLUICE_SPOOL",
					   "env:OMPI_MCA_io_ompio_num_aggregators" };
	struct tunable_context all = { .allowed = TUNABLE_SEMANTICS };
	struct tunable_context safe = { .allowed = TUNABLE_SAFE };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(tunable_allow(tunable_by_name(bad[i]), "1", &all, NULL), -EPERM);
	CHECK_INT(tunable_allow(tunable_by_name("mca:io"), "ompio", &all, NULL), 0);
	CHECK_INT(tunable_allow(tunable_by_name("mca:io"), "ompio", &safe, NULL), -EPERM);
}

static void the_guest_does_not_get_them_and_files_say_what_they_hold(void)
{
	static const char *const names[] = { "env:A", "cb_nodes", "{block}" };
	struct param_set set = { .command = xstrdup("app --block 4") }, back = { 0 };
	AUTO_BUF struct buf json = { 0 }, shell = { 0 }, xml = { 0 }, hints = { 0 };
	char text[PARAMETERS_BYTES];

	for (size_t i = 0; i < 3; i++)
		CHECK(param_set_put(&set, tunable_by_name(names[i]), "4", NULL, NULL, 0, NULL) >=
		      0);
	CHECK(param_set_compile(&set, false, text, NULL) >= 0);
	CHECK(strstr(text, "cb_nodes") && !strstr(text, "block") && !strstr(text, "A\t4"));
	CHECK(param_json.write(&set, &json, NULL) >= 0);
	CHECK(param_set_read_text(&back, "j", buf_text(&json), json.len, NULL, NULL, NULL) >= 0);
	CHECK(param_set_equal(&set, &back));
	CHECK_TEXT(back.command, "app --block 4");
	CHECK(param_shell.write(&set, &shell, NULL) >= 0);
	CHECK(strstr(buf_text(&shell), "export A='4'\n"));
	CHECK(strstr(buf_text(&shell), "app --block 4"));
	CHECK(param_xml.write(&set, &xml, NULL) >= 0);
	CHECK(strstr(buf_text(&xml), "<!-- env:A "));
	CHECK(param_hints.write(&set, &hints, NULL) >= 0);
	CHECK(strstr(buf_text(&hints), "# env:A 4"));
	param_set_release(&back);
	CHECK(param_set_read_text(&back, "x", buf_text(&xml), xml.len, NULL, NULL, NULL) >= 0);
	CHECK_INT(back.count, 1);
	param_set_release(&back);
	param_set_release(&set);
}

TESTS(TEST(a_variable_has_one_row_however_it_is_written), TEST(every_row_is_found_by_its_own_name),
      TEST(other_names_are_unknown), TEST(dangerous_variables_are_refused),
      TEST(the_guest_does_not_get_them_and_files_say_what_they_hold))
