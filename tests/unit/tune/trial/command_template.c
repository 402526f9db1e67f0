/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/command_template.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static const char space_text[] = "{\"schema\": \"sluice.space/1\", \"dimensions\": ["
				 "{\"name\": \"{block}\", \"values\": [1, 4, 8], \"default\": 4},"
				 "{\"name\": \"{mode}\", \"values\": [\"a b\", \"{block}\"]},"
				 "{\"name\": \"env:X\", \"values\": [null, 1]}]}";

static char *const words[] = { (char *)"app", (char *)"--block={block},{block}", (char *)"{mode}",
			       (char *)"{other}{", NULL };

static void read_defaults(struct param_set *defaults)
{
	struct space space = { 0 };

	REQUIRE(space_read_text(&space, "s", space_text, strlen(space_text), NULL) >= 0);
	command_template_defaults(&space, defaults);
	space_release(&space);
}

static const char *filled(const struct param_set *set, const struct param_set *defaults)
{
	static char out[256];
	char **made = command_template_fill(words, set, defaults);
	AUTO_BUF struct buf text = { 0 };

	buf_put_command(&text, made);
	snprintf(out, sizeof(out), "%s", buf_text(&text));
	command_template_free(made);
	return out;
}

static void arguments_have_the_value_of_the_set_or_their_default(void)
{
	struct param_set defaults, set = { 0 };

	read_defaults(&defaults);
	CHECK_INT(defaults.count, 2);
	CHECK_TEXT(filled(&set, &defaults), "app --block=4,4 'a b' '{other}{'");
	param_set_put(&set, tunable_by_name("{block}"), "8", NULL, NULL, 0, NULL);
	param_set_put(&set, tunable_by_name("{mode}"), "{block}", NULL, NULL, 0, NULL);
	/* A value is not filled in again. */
	CHECK_TEXT(filled(&set, &defaults), "app --block=8,8 '{block}' '{other}{'");
	param_set_release(&set);
	param_set_release(&defaults);
}

static void an_argument_must_occur_in_the_command(void)
{
	char *const without[] = { (char *)"app", (char *)"{block}", NULL };
	struct param_set defaults;
	struct err err = { 0 };

	read_defaults(&defaults);
	CHECK_INT(command_template_check(words, &defaults, &err), 0);
	CHECK_INT(command_template_check(without, &defaults, &err), -EINVAL);
	CHECK_WORDS(err.text, "{mode}");
	param_set_release(&defaults);
}

TESTS(TEST(arguments_have_the_value_of_the_set_or_their_default),
      TEST(an_argument_must_occur_in_the_command))
