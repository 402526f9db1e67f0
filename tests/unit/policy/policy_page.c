/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/policy_page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/err.h"
#include "check.h"
#include "contract/policy.h"

static struct policy page;
static char site[] = "policy-test-XXXXXX";
static char spools[64];
static struct err err;

static const struct policy *map_page(void)
{
	char path[64];
	const struct policy *mapped;
	int fd;

	snprintf(path, sizeof(path), "%s/" POLICY_NAME, site);
	fd = open(path, O_RDONLY);
	REQUIRE(fd >= 0);
	mapped = mmap(NULL, sizeof(*mapped), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	REQUIRE(mapped != MAP_FAILED);
	return mapped;
}

static void a_process_notices_that_its_page_was_replaced(void)
{
	const struct policy *first, *second;
	char path[64];
	struct stat st;

	CHECK_INT(policy_page_init(&page, "/run/x/socket", "/run/x/spools", &err), 0);
	CHECK_INT(policy_page_publish(site, &page, &err), 0);
	first = map_page();
	CHECK(policy_is_valid(first, sizeof(*first)));
	CHECK_INT(first->superseded, 0);
	page.rule_count = 1;
	page.rules[0].mode = POLICY_TRACE;
	CHECK_INT(policy_page_publish(site, &page, &err), 0);
	second = map_page();
	CHECK_INT(first->superseded, 1);
	CHECK_INT(first->rule_count, 0);
	CHECK_INT(second->superseded, 0);
	CHECK_INT(second->rule_count, 1);
	CHECK_INT(second->epoch, first->epoch + 1);
	CHECK_INT(second->generation, first->generation + 1);
	snprintf(path, sizeof(path), "%s/" POLICY_NAME, site);
	REQUIRE(stat(path, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0644);
	REQUIRE(unlink(path) == 0);
	munmap((void *)(uintptr_t)first, sizeof(*first));
	munmap((void *)(uintptr_t)second, sizeof(*second));
}

static void users_can_create_spools_but_not_list_or_remove_them(void)
{
	struct stat st;

	CHECK_INT(policy_page_prepare(spools, POLICY_NOBODY, &err), 0);
	REQUIRE(stat(spools, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 01733);
	/* Again, and for a group. */
	CHECK_INT(policy_page_prepare(spools, (uint32_t)getegid(), &err), 0);
	REQUIRE(stat(spools, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 03733);
	CHECK_INT(st.st_gid, getegid());
}

static void the_directory_of_somebody_else_is_refused(void)
{
	struct stat st;

	if (geteuid() != 0 || stat("/", &st) != 0)
		return;
	rmdir(spools);
	REQUIRE(mkdir(spools, 0700) == 0 && chown(spools, 65534, 65534) == 0);
	CHECK_INT(policy_page_prepare(spools, POLICY_NOBODY, &err), -EPERM);
	CHECK(strstr(err.text, "65534") != NULL);
	rmdir(spools);
	REQUIRE(symlink("/tmp", spools) == 0);
	CHECK(policy_page_prepare(spools, POLICY_NOBODY, &err) < 0);
	unlink(spools);
}

static void paths_must_be_absolute_and_short(void)
{
	char path[300];

	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	CHECK_INT(policy_page_init(&page, "socket", "/spools", &err), -EINVAL);
	CHECK_INT(policy_page_init(&page, path, "/spools", &err), -ENAMETOOLONG);
	CHECK_INT(policy_page_init(&page, "/socket", path, &err), -ENAMETOOLONG);
}

static void begin(void)
{
	REQUIRE(mkdtemp(site));
	snprintf(spools, sizeof(spools), "%s/spools", site);
}

static void end(void)
{
	rmdir(spools);
	REQUIRE(rmdir(site) == 0);
}

TESTS(TEST(begin), TEST(a_process_notices_that_its_page_was_replaced),
      TEST(users_can_create_spools_but_not_list_or_remove_them),
      TEST(the_directory_of_somebody_else_is_refused), TEST(paths_must_be_absolute_and_short),
      TEST(end))
