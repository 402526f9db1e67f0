/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/mount_table.h"

#include "check.h"

static void mount_point_is_the_longest_that_fits(void)
{
	struct mount_table table = { 0 };

	mount_table_parse(&table, "22 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
				  "23 22 0:5 / /home rw - nfs server:/home rw\n"
				  "24 23 0:6 / /home/my\\040data rw - nfs server:/x rw\n"
				  "damaged line\n");
	CHECK_TEXT(mount_table_find(&table, "/home/a"), "/home");
	CHECK_TEXT(mount_table_find(&table, "/home"), "/home");
	CHECK_TEXT(mount_table_find(&table, "/homes/a"), "/");
	CHECK_TEXT(mount_table_find(&table, "/home/my data/x"), "/home/my data");
	CHECK_TEXT(mount_table_find(&table, "socket:[17]"), "other");
	CHECK(mount_table_is_shared(&table, "/home"));
	CHECK(!mount_table_is_shared(&table, "/"));
	CHECK(!mount_table_is_shared(&table, "other"));
	mount_table_parse(&table, "");
	CHECK_TEXT(mount_table_find(&table, "/home/a"), "/");
	mount_table_release(&table);
}

TESTS(TEST(mount_point_is_the_longest_that_fits))
