/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/mount_table.h"

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

/* As the sandbox of a service shows the node: /home and /data/x are protected, /home/ann is NFS. */
static void directory_that_is_mounted_onto_itself_is_no_mount_point(void)
{
	struct mount_table table = { 0 };

	mount_table_parse(&table, "22 1 8:2 / / ro - ext4 /dev/sda2 rw\n"
				  "30 22 8:2 /home /home ro - ext4 /dev/sda2 rw\n"
				  "31 30 0:5 / /home/ann ro - nfs server:/ann rw\n"
				  "32 22 0:33 /@data /data ro - btrfs /dev/sdb rw\n"
				  "33 32 0:33 /@data/x /data/x ro - btrfs /dev/sdb rw\n"
				  "34 32 0:33 /@other /data/other ro - btrfs /dev/sdb rw\n"
				  "35 22 8:2 /export /exported ro - ext4 /dev/sda2 rw\n");
	CHECK_TEXT(mount_table_find(&table, "/home/bob/a"), "/");
	CHECK_TEXT(mount_table_find(&table, "/home/ann/a"), "/home/ann");
	CHECK_TEXT(mount_table_find(&table, "/data/x/a"), "/data");
	CHECK_TEXT(mount_table_find(&table, "/data/other/a"), "/data/other");
	CHECK_TEXT(mount_table_find(&table, "/exported/a"), "/exported");
	mount_table_release(&table);
}

TESTS(TEST(mount_point_is_the_longest_that_fits),
      TEST(directory_that_is_mounted_onto_itself_is_no_mount_point))
