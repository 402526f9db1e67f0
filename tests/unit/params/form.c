/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: H5T-7.
 */
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "params/set.h"

struct problems {
	struct buf text;
	size_t drops;
};

/* Notes the place and the first word of a problem: "f:3: cb_nodes". */
static void note_problem(void *arg, const struct param *param, bool drop, const char *text)
{
	struct problems *problems = arg;
	const char *message = strchr(text, ' ');

	(void)param;
	REQUIRE(message);
	buf_printf(&problems->text, "%.*s\n",
		   (int)(message + 1 - text + (ptrdiff_t)strcspn(message + 1, " :")), text);
	problems->drops += drop;
}

/* Returns the set in one line and then the problems, or "!" and the error. The memory is static. */
static const char *read_text(const char *text)
{
	static struct buf out;
	struct param_set set = { 0 };
	struct problems problems = { 0 };
	struct err err = { 0 };

	buf_clear(&out);
	if (param_set_read_text(&set, "f", text, strlen(text), note_problem, &problems, &err) < 0)
		buf_printf(&out, "!%s", err.text);
	else
		param_set_line(&set, &out);
	if (problems.text.len)
		buf_printf(&out, "\n%s", buf_text(&problems.text));
	buf_release(&problems.text);
	param_set_release(&set);
	return buf_text(&out);
}

/* The sample in the documentation of H5Tuner. */
#define SAMPLE                                                        \
	"<?xml version=\"1.0\"?>\n"                                   \
	"<Parameters>\n"                                              \
	"  <High_Level_IO_Library>\n"                                 \
	"    <alignment> 0, 65536 </alignment>\n"                     \
	"  </High_Level_IO_Library>\n"                                \
	"  <Middleware_Layer>\n"                                      \
	"    <cb_buffer_size> 1048576 </cb_buffer_size>\n"            \
	"    <cb_nodes> 32 </cb_nodes>\n"                             \
	"  </Middleware_Layer>\n"                                     \
	"  <Parallel_File_System>\n"                                  \
	"    <striping_factor FileName=\"sample_dataset.h5part\"> 4 " \
	"</striping_factor>\n"                                        \
	"    <striping_factor> 16 </striping_factor>\n"               \
	"    <striping_unit> 65536 </striping_unit>\n"                \
	"  </Parallel_File_System>\n"                                 \
	"</Parameters>\n"

static void the_sample_of_h5tuner_is_read(void)
{
	struct param_set set = { 0 };
	const struct tunable *factor = tunable_by_name("striping_factor");

	CHECK_TEXT(read_text(SAMPLE), "alignment=0,65536 cb_buffer_size=1048576 cb_nodes=32 "
				      "striping_factor=4@sample_dataset.h5part striping_factor=16 "
				      "striping_unit=65536");
	REQUIRE(param_set_read_text(&set, "sample", SAMPLE, strlen(SAMPLE), NULL, NULL, NULL) == 0);
	CHECK_TEXT(set.origin, "sample");
	CHECK_TEXT(param_set_find(&set, factor, "/d/sample_dataset.h5part", NULL)->value, "4");
	CHECK_TEXT(param_set_find(&set, factor, "/d/other.h5", NULL)->value, "16");
	CHECK_INT(param_set_find(&set, factor, "/d/other.h5", NULL)->line, 12);
	param_set_release(&set);
}

static void invalid_elements_are_skipped_and_reported(void)
{
	/* No sections, no XML declaration, H5Tuner's names, a comment, CDATA, another case. */
	CHECK_TEXT(read_text("<Parameters><!-- x <cb_nodes> --><strp_fac>8</strp_fac>\n"
			     "<CB_NODES><![CDATA[ 4 ]]></CB_NODES></Parameters>"),
		   "striping_factor=8 cb_nodes=4");
	CHECK_TEXT(read_text("<!DOCTYPE Parameters>\n<parameters>\n<Middleware_Layer>\n"
			     "<striping_unit>1M</striping_unit>\n</Middleware_Layer></parameters>"),
		   "striping_unit=1048576\n"
		   "f:4: striping_unit\n");
	CHECK_TEXT(read_text("<Parameters>\n\n<cb_nods>4</cb_nods>\n<cb_nodes>x</cb_nodes>\n"
			     "<cb_nodes color='red'>2</cb_nodes>\n<cb_buffer_size/>\n"
			     "<cb_nodes>3</cb_nodes></Parameters>"),
		   "cb_nodes=3\n"
		   "f:3: cb_nods\nf:4: cb_nodes\nf:5: cb_nodes\nf:6: cb_buffer_size\n");
	CHECK_TEXT(read_text("<Parameters>\n<cb_nodes FileName='a<b'>2</cb_nodes>\n<x>4</x>\n"
			     "<cb_nodes>3</cb_nodes><cb_nodes>4</cb_nodes></Parameters>"),
		   "cb_nodes=2@a<b cb_nodes=4\n"
		   "f:3: x\nf:4: cb_nodes\n");
	CHECK_TEXT(read_text("<Parameters><chunk VariableName=\"/x\" FileName='a>b'>1, 2"
			     "</chunk></Parameters>"),
		   "chunk_size=1,2@a>b:/x");
	CHECK_TEXT(read_text("\xEF\xBB\xBF<Parameters></Parameters>"), "");
	CHECK_TEXT(read_text("<Parameters/>"), "");
}

static void broken_xml_is_refused_with_its_line(void)
{
	static const char *const bad[] = {
		"<Parameters>\n<cb_nodes>4</cb_nodes>\n",
		"<Parameters>\n<cb_nodes>4</cb_bodes>\n</Parameters>",
		"<Parameters>\n<cb_nodes>4<",
		"<Parameters>\n<cb_nodes FileName=\"x>4</cb_nodes>\n</Parameters>",
		"<",
		"<>",
		"<!--",
		"<![CDATA[",
		"<Wrong><cb_nodes>4</cb_nodes></Wrong>",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strncmp(read_text(bad[i]), "!f:", 3) == 0)
			continue;
		printf("%s: %s\n", bad[i], read_text(bad[i]));
		CHECK(!"refused");
	}
	CHECK(strstr(read_text("\n<Wrong/>"), "!f:2: "));
	CHECK(strncmp(read_text(bad[1]), "!f:2:", 5) == 0);
	CHECK(strncmp(read_text(bad[2]), "!f:2:", 5) == 0);
}

/* The entities would expand to a trillion bytes. */
static void entities_are_not_expanded(void)
{
	AUTO_BUF struct buf text = { 0 };

	buf_puts(&text, "<?xml version=\"1.0\"?>\n<!DOCTYPE P [\n<!ENTITY a0 \"ha\">\n");
	for (int i = 1; i < 40; i++)
		buf_printf(&text, "<!ENTITY a%d \"&a%d;&a%d;\">\n", i, i - 1, i - 1);
	buf_puts(&text, "]>\n<Parameters><cb_config_list>&a39;</cb_config_list></Parameters>");
	CHECK(strlen(read_text(buf_text(&text))) < 1000);
	CHECK(!strstr(read_text(buf_text(&text)), "haha"));
}

static void deeply_nested_xml_is_reported(void)
{
	AUTO_BUF struct buf text = { 0 };

	for (int i = 0; i < 20000; i++)
		buf_puts(&text, i ? "<a>" : "<Parameters>");
	for (int i = 19999; i >= 0; i--)
		buf_puts(&text, i ? "</a>" : "</Parameters>");
	CHECK(strstr(read_text(buf_text(&text)), "\nf:1: elements\n"));
}

static void json_is_read_with_lines(void)
{
	CHECK_TEXT(read_text("{\"schema\": \"sluice.params/1\", \"parameters\": [\n"
			     "{\"name\": \"cb_nodes\", \"value\": 4},\n"
			     "{\"name\": \"alignment\", \"value\": [0, \"64K\"], \"file\": null},\n"
			     "{\"name\": \"bglockless\", \"value\": true, \"file\": \"*.h5\"},\n"
			     "{\"name\": \"chunk_size\", \"value\": \"1,2\", \"object\": \"x\"}]}"),
		   "cb_nodes=4 alignment=0,65536 bglockless=true@*.h5 chunk_size=1,2@*:x");
	CHECK_TEXT(read_text("{\"parameters\": [\n{\"name\": \"cb_nodes\", \"value\": 1.5},\n"
			     "{\"value\": 1, \"x\": {\"[\\\"{\": [{}]}},\n"
			     "{\"name\": \"nope\", \"value\": 1}, 7,\n"
			     "{\"name\": \"cb_nodes\", \"value\": 0},"
			     "{\"name\": \"cb_nodes\", \"value\": 2, \"file\": 2}]}"),
		   "\nf:2: cb_nodes\nf:3: the\nf:4: nope\nf: parameter\nf:5: cb_nodes\nf:5: "
		   "cb_nodes\n");
	CHECK_TEXT(read_text("{\"parameters\": []}"), "");
	CHECK(strncmp(read_text("{\n\"parameters\": [}"), "!f:2:", 5) == 0);
	CHECK(strstr(read_text("{\"schema\": \"sluice.params/2\", \"parameters\": []}"),
		     "sluice.params/1"));
	CHECK(strstr(read_text("{}"), "\"parameters\""));
}

static void hints_files_are_read(void)
{
	CHECK_TEXT(read_text("# ROMIO\n\ncb_nodes 4  # four\r\n\tcb_config_list *:4\n"
			     "romio_lustre_start_iodevice 3\nromio_cb_write enable"),
		   "cb_nodes=4 cb_config_list=*:4 start_iodevice=3 romio_cb_write=enable");
	CHECK_TEXT(read_text("cb_nodes 4\npanfs_layout_type 2\ncb_buffer_size\n"),
		   "cb_nodes=4\n"
		   "f:2: panfs_layout_type\nf:3: cb_buffer_size\n");
	CHECK_TEXT(read_text("# nothing\n"), "");
}

static void a_list_takes_the_place_of_a_file(void)
{
	AUTO_BUF struct buf line = { 0 };
	struct param_set set = { 0 };
	struct err err = { 0 };

	REQUIRE(param_set_read(&set, "rdcc_nbytes=16M cb_nodes=4@*.h5 alignment=0,64K", NULL, NULL,
			       &err) == 0);
	param_set_line(&set, &line);
	CHECK_TEXT(buf_text(&line), "rdcc_nbytes=16777216 cb_nodes=4@*.h5 alignment=0,65536");
	param_set_release(&set);
}

static void unknown_formats_are_refused(void)
{
	struct param_set set = { 0 };
	struct err err = { 0 };

	REQUIRE(param_set_put(&set, tunable_by_name("cb_nodes"), "4", NULL, NULL, 0, NULL) == 0);
	CHECK_INT(param_set_read_text(&set, "f", "\0\x01", 2, NULL, NULL, &err), -EINVAL);
	CHECK(strstr(err.text, "text"));
	CHECK_INT(param_set_read_text(&set, "f", " \n", 2, NULL, NULL, &err), -EINVAL);
	CHECK(strstr(err.text, "empty"));
	CHECK_INT(param_set_read_text(&set, "f", "[1]", 3, NULL, NULL, &err), -EINVAL);
	CHECK_INT(param_set_read(&set, "/no/such/file", NULL, NULL, &err), -ENOENT);
	CHECK_INT(param_set_read(&set, "/", NULL, NULL, &err), -EISDIR);
	CHECK_INT(param_set_read(&set, "/dev/zero", NULL, NULL, &err), -EINVAL);
	CHECK_INT(set.count, 1);
	param_set_release(&set);
}

static void sample_set(struct param_set *set)
{
	static const char *const rows[][4] = {
		{ "alignment", "8K,1M", NULL, NULL },
		{ "chunk_size", "1,26,327680", "a \"&<>' b.h5", "/grp/*" },
		{ "cb_nodes", "8", NULL, NULL },
		{ "cb_config_list", "*:4", NULL, NULL },
		{ "striping_factor", "4", "sample.h5part", NULL },
		{ "striping_factor", "16", NULL, NULL },
		{ "striping_unit", "1M", NULL, NULL },
		{ "striping_unit", "2M", "*.nc", NULL },
		{ "start_iodevice", "3", NULL, NULL },
		{ "bglockless", "true", NULL, NULL },
		{ "ceph_object_size", "16M", "o'clock.h5", NULL },
		{ "ceph_stripe_count", "4", "o'clock.h5", NULL },
		{ "ceph_pool", "fast", NULL, NULL },
		{ "transfer", "independent", NULL, NULL },
	};

	*set = (struct param_set){ 0 };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		REQUIRE(param_set_put(set, tunable_by_name(rows[i][0]), rows[i][1], rows[i][2],
				      rows[i][3], 0, NULL) == 0);
}

static void written_sets_are_read_back_unchanged(void)
{
	static const char *const forms[] = { "xml", "json" };
	struct param_set set, again = { 0 };

	sample_set(&set);
	for (int i = 0; i < 2; i++) {
		AUTO_BUF struct buf text = { 0 };
		struct problems problems = { 0 };

		CHECK_INT(param_form_by_name(forms[i])->write(&set, &text, NULL), 0);
		CHECK_INT(param_set_read_text(&again, forms[i], text.data, text.len, note_problem,
					      &problems, NULL),
			  0);
		CHECK(param_set_equal(&set, &again));
		CHECK_TEXT(buf_text(&problems.text), "");
		buf_release(&problems.text);
	}
	param_set_release(&set);
	param_set_release(&again);
}

static void hints_files_contain_the_hints_for_all_files(void)
{
	AUTO_BUF struct buf text = { 0 }, line = { 0 };
	struct param_set set, again = { 0 };

	sample_set(&set);
	CHECK_INT(param_hints.write(&set, &text, NULL), 0);
	CHECK_INT(param_set_read_text(&again, "h", text.data, text.len, NULL, NULL, NULL), 0);
	param_set_line(&again, &line);
	CHECK_TEXT(buf_text(&line), "cb_nodes=8 cb_config_list=*:4 striping_factor=16 "
				    "striping_unit=1048576 start_iodevice=3");
	CHECK(strstr(buf_text(&text), "# striping_factor 4: "));
	CHECK(strstr(buf_text(&text), "# transfer independent: "));
	param_set_release(&set);
	param_set_release(&again);
}

static void shell_commands_are_quoted_and_complete(void)
{
	static const char expected[] =
		"lfs setstripe -c 4 'sample.h5part'\n"
		"# for the directory in which new files are created:\n"
		"lfs setstripe -c 16 -S 1048576 -i 3 '.'\n"
		"# for each new file that matches *.nc:\n"
		"# lfs setstripe -S 2097152 'FILE'\n"
		"touch 'o'\\''clock.h5' && setfattr -n ceph.file.layout -v "
		"'object_size=16777216 stripe_count=4' 'o'\\''clock.h5'\n"
		"# for the directory in which new files are created:\n"
		"setfattr -n ceph.dir.layout -v 'pool=fast' '.'\n"
		"cat >romio-hints <<'SLUICE_HINTS'\n"
		"cb_nodes 8\n"
		"cb_config_list *:4\n"
		"striping_factor 16\n"
		"striping_unit 1048576\n"
		"romio_lustre_start_iodevice 3\n"
		"SLUICE_HINTS\n"
		"export ROMIO_HINTS=\"$PWD/romio-hints\"\n"
		"# needs sluice run --params: alignment=8192,1048576\n"
		"# needs sluice run --params: chunk_size=1,26,327680 for a \"&<>' b.h5\n"
		"# needs sluice run --params: bglockless=true\n"
		"# needs sluice run --params: transfer=independent\n";
	AUTO_BUF struct buf text = { 0 };
	struct param_set set;

	sample_set(&set);
	CHECK_INT(param_shell.write(&set, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), expected);
	CHECK(!param_shell.is && !param_shell.read);
	param_set_release(&set);
}

TESTS(TEST(the_sample_of_h5tuner_is_read), TEST(invalid_elements_are_skipped_and_reported),
      TEST(broken_xml_is_refused_with_its_line), TEST(entities_are_not_expanded),
      TEST(deeply_nested_xml_is_reported), TEST(json_is_read_with_lines),
      TEST(hints_files_are_read), TEST(a_list_takes_the_place_of_a_file),
      TEST(unknown_formats_are_refused), TEST(written_sets_are_read_back_unchanged),
      TEST(hints_files_contain_the_hints_for_all_files),
      TEST(shell_commands_are_quoted_and_complete))
