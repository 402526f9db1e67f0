/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/file_pattern.h"

#include "check.h"

static const int32_t pids[] = { 1, 77, 4711, 4712 };
static const struct file_context context = { "/home/me/old", pids, 4 };

static void variable_parts_are_replaced(void)
{
	static const char *const rows[][2] = {
		{ "/home/me/old/out.dat", "out.dat" },
		{ "/home/me/older/out.dat", "/home/me/older/out.dat" },
		{ "/data/part.4711", "/data/part.{pid}" },
		{ "/proc/77/maps", "/proc/{pid}/maps" },
		{ "/data/part.4713", "/data/part.4713" },
		{ "/data/run-20261116-170512.log", "/data/run-{number}-{number}.log" },
		{ "/data/step0042.h5", "/data/step0042.h5" },
		{ "/data/step00042.h5", "/data/step{number}.h5" },
		{ "/tmp/sort.aB3dEf", "/tmp/sort.{random}" },
		{ "/tmp/sortaB3dEf", "/tmp/sortaB3dEf" },
		{ "/tmp/x.aB3dEf/y", "/tmp/x.{random}/y" },
		{ "/tmp/tmp3k_x9a2b", "/tmp/tmp{random}" },
		{ "/tmp/tmp3k_x9a2b/file", "/tmp/tmp{random}/file" },
		{ "/data/0f3a2b1c-aaaa/x", "/data/{id}-aaaa/x" },
		{ "/data/deadbeef", "/data/deadbeef" },
		{ "/data/a.config", "/data/a.config" },
		{ "/data/my.part01", "/data/my.part01" },
		{ "/src/Makefile.am", "/src/Makefile.am" },
		{ "", "" },
		{ "/", "/" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *pattern = file_pattern(rows[i][0], &context);

		CHECK_TEXT(pattern, rows[i][1]);
		free(pattern);
	}
}

static void bytes_that_are_not_ascii_stay(void)
{
	char *pattern = file_pattern("/data/\xff\xc3\xa9.4711", &context);

	CHECK_TEXT(pattern, "/data/\xff\xc3\xa9.{pid}");
	free(pattern);
}

TESTS(TEST(variable_parts_are_replaced), TEST(bytes_that_are_not_ascii_stay))
