/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What becomes of requested stripes on each file system: sizes of CephFS, structs of Lustre and of
 * BeeGFS as their clients define them, and the refusals. tests/cluster/layout.sh sets layouts on a
 * real CephFS.
 * Papers: H5T-11.
 */
#include "check.h"
#include "guest_outside.h"

#include "capture/apply/layout_beegfs.c"
#include "capture/apply/layout_ceph.c"
#include "capture/apply/layout_lustre.c"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const struct ceph_layout nothing;

/* What requested stripes become where new files have this layout; NULL, or why not. */
static const char *plan(uint64_t unit, uint64_t count, uint64_t now_object, struct ceph_layout *to)
{
	const struct ceph_layout now = { .unit = 4 * MIB, .count = 1, .object = now_object };

	return ceph_plan(&(struct ceph_layout){ .unit = unit, .count = count }, &nothing, &now, to);
}

static void stripes_become_large_objects(void)
{
	struct ceph_layout to;

	/* The default limit of Ceph; where the directory has larger objects, these. */
	CHECK(!plan(MIB, 4, 4 * MIB, &to));
	CHECK(to.unit == MIB && to.count == 4 && to.object == 128 * MIB);
	CHECK(!plan(MIB, 4, GIB, &to));
	CHECK(to.unit == MIB && to.count == 4 && to.object == GIB);
	/* Whole units. */
	CHECK(!plan(3 * MIB, 4, GIB, &to));
	CHECK(to.object == 1023 * MIB);
	/* The directory decides what is not requested. */
	CHECK(!plan(0, 2, 4 * MIB, &to));
	CHECK(to.unit == 4 * MIB && to.count == 2 && to.object == 128 * MIB);
	CHECK(!plan(64 * 1024, 0, 4 * MIB, &to));
	CHECK(to.unit == 64 * 1024 && to.count == 1 && to.object == 128 * MIB);
}

static void invalid_sizes_are_refused_before_they_are_set(void)
{
	struct ceph_layout to;

	CHECK_TEXT(plan(4096, 4, 4 * MIB, &to), "invalid");
	CHECK_TEXT(plan(100000, 4, 4 * MIB, &to), "invalid");
	/* Objects beyond the limit of the servers would fail when the program writes. */
	CHECK_TEXT(plan(256 * MIB, 4, 4 * MIB, &to), "invalid");
	CHECK(!plan(256 * MIB, 4, GIB, &to));
	CHECK_TEXT(plan(MIB, UINT64_C(1) << 32, 4 * MIB, &to), "invalid");
}

static void own_names_have_priority(void)
{
	const struct ceph_layout now = { .unit = 4 * MIB, .count = 1, .object = 4 * MIB };
	struct ceph_layout general = { .unit = MIB, .count = 4 }, own = { .count = 2 }, to;

	CHECK(!ceph_plan(&general, &own, &now, &to));
	CHECK(to.unit == MIB && to.count == 2 && to.object == 128 * MIB);
	own.object = 8 * MIB;
	CHECK(!ceph_plan(&general, &own, &now, &to));
	CHECK(to.object == 8 * MIB);
	/* Without general names, objects keep their size. */
	general = own = nothing;
	own.count = 3;
	CHECK(!ceph_plan(&general, &own, &now, &to));
	CHECK(to.unit == 4 * MIB && to.count == 3 && to.object == 4 * MIB);
	own.object = 6 * MIB;
	CHECK_TEXT(ceph_plan(&general, &own, &now, &to), "invalid");
}

static void layouts_of_ceph_are_read_and_written(void)
{
	char text[CEPH_TEXT_BYTES];
	struct ceph_layout layout;

	CHECK(ceph_read(
		"stripe_unit=1048576 stripe_count=4 object_size=1073741824 pool=cephfs_data",
		&layout));
	CHECK(layout.unit == MIB && layout.count == 4 && layout.object == GIB);
	CHECK_TEXT(layout.pool, "cephfs_data");
	ceph_write(text, &layout);
	CHECK_TEXT(text, "stripe_unit=1048576 stripe_count=4 object_size=1073741824");
	CHECK(ceph_read("stripe_unit=1 stripe_count=2 object_size=3 pool=p pool_namespace=q",
			&layout));
	CHECK_TEXT(layout.pool, "p");
	CHECK(!ceph_read("stripe_unit=1 stripe_count=2", &layout));
	CHECK(!ceph_read("", &layout));
	CHECK(!ceph_read("xstripe_unit=1 stripe_count=2 object_size=3", &layout));
	layout = (struct ceph_layout){ UINT64_MAX, UINT64_MAX, UINT64_MAX, "" };
	ceph_write(text, &layout);
	CHECK(strlen(text) < sizeof(text));
}

/* lustre.lov of a file with three stripes of 64 KiB, two of them on target 5. */
static const unsigned char lustre_overstriped[] = {
	0xd0, 0x0b, 0xd1, 0x0b, 1, 2, 0, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 2, 0, 0, 0,
	0,    0,    1,	  0,	3, 0, 0, 0, /* object of target 5 */
	0x77, 1,    0,	  0,	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0,
	0x78, 1,    0,	  0,	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
	0x79, 1,    0,	  0,	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0,
};

/* lustre.lov of a file with two stripes of 4 MiB on the targets 5 and 2, and one with a pool. */
static const unsigned char lustre_v1[] = {
	0xd0, 0x0b, 0xd1, 0x0b, 1, 0, 0, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 2, 0, 0, 0,
	0,    0,    0x40, 0,	2, 0, 0, 0, /* object of target 5 */
	0x77, 1,    0,	  0,	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0,
	0x78, 1,    0,	  0,	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
};
static const unsigned char lustre_v3[] = {
	0xd0, 0x0b, 0xd3, 0x0b, 1, 0, 0, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 2, 0, 0, 0,
	0,    0,    0x10, 0,	1, 0, 0, 0,			       /* its pool */
	'f',  'a',  's',  't',	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, /* its object */
	0x77, 1,    0,	  0,	0, 0, 0, 0, 0,	  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0,
};

static const char *read_stripes(const unsigned char *bytes, size_t count, bool with_targets)
{
	static struct workspace space;
	static struct info_text text;

	memset(&space, 0, sizeof(space));
	memset(&text, 0, sizeof(text));
	memcpy(space.bytes, bytes, count);
	put_stripes(&space, (long)count, with_targets, &text);
	return info_text_end(&text);
}

static void stripes_of_lustre_are_read(void)
{
	CHECK_TEXT(read_stripes(lustre_v1, sizeof(lustre_v1), true),
		   "spread_osts=5,2;start_iodevice=5;striping_factor=2;striping_unit=4194304");
	CHECK_TEXT(read_stripes(lustre_v3, sizeof(lustre_v3), false),
		   "start_iodevice=7;striping_factor=1;striping_unit=1048576");
	CHECK_TEXT(read_stripes(lustre_overstriped, sizeof(lustre_overstriped), true),
		   "spread_osts=5*2,2;start_iodevice=5;striping_factor=3;striping_unit=65536");
	/* Without its objects, only the head is valid. */
	CHECK_TEXT(read_stripes(lustre_v1, sizeof(lustre_v1) - 1, true),
		   "striping_factor=2;striping_unit=4194304");
	CHECK_INT(sizeof(struct lustre_stripes), 32);
	CHECK_INT(sizeof(struct lustre_object), 24);
}

/* A library that lacks overstriping, and servers that refuse the first `refusals` requests. */
static unsigned refusals, opened;
static uint64_t pattern;
static uint32_t asked[MOST_STRIPES], asked_count;

static void *stand_alloc(void)
{
	asked_count = 0;
	pattern = 0;
	return asked;
}

static void stand_release(void *stripes)
{
	(void)stripes;
}

static int stand_set(void *stripes, uint64_t value)
{
	(void)stripes, (void)value;
	return 0;
}

static int stand_pattern(void *stripes, uint64_t value)
{
	(void)stripes;
	pattern = value;
	return 0;
}

static int stand_target(void *stripes, int number, uint64_t target)
{
	(void)stripes;
	asked[number] = (uint32_t)target;
	asked_count = (uint32_t)number + 1;
	return 0;
}

static int stand_open(const char *path, int flags, mode_t mode, const void *stripes)
{
	(void)stripes;
	opened++;
	if (refusals && refusals--)
		return -1;
	return open(path, flags, mode);
}

/* Plans the stripes of a file and sets them, as far as the library permits. */
static struct lustre_request *request_stripes(unsigned stripes, struct layout *layout)
{
	static struct lustre_request request;
	static struct layout_workspace space;
	static const struct parameters_line rule = { .value = "3*2,7,9*1" };

	memset(&request, 0, sizeof(request));
	opened = 0;
	request.count = (int)stripes;
	*layout = (struct layout){ .refusal = "failed", .turn = 0 };
	REQUIRE(plan_stripes(&request, &rule, layout, &space));
	set_planned(&request, &rule, layout, "/dev/null");
	return &request;
}

static void stand_in_for_the_library(void)
{
	lustre.alloc = stand_alloc;
	lustre.release = stand_release;
	lustre.count_set = stand_set;
	lustre.size_set = stand_set;
	lustre.pattern_set = stand_pattern;
	lustre.target_set = stand_target;
	lustre.file_open = stand_open;
	is_overstriping_refused = false;
	refusals = 0;
}

static void several_stripes_per_target_need_overstriping(void)
{
	struct lustre_request *request;
	struct layout layout;

	stand_in_for_the_library();
	request = request_stripes(8, &layout);
	CHECK(!layout.refusal && request->is_overstriped && pattern == OVERSTRIPING);
	CHECK_INT(asked_count, 8);
	CHECK_INT(count_target(asked, 8, 3), 4);
	CHECK_INT(count_target(asked, 8, 7), 2);
	/* It is not requested if it is not needed: quotas of 1.5, 0.75, 0.75. */
	request = request_stripes(3, &layout);
	CHECK(!layout.refusal && !request->is_uneven && !pattern);
	CHECK_INT(asked_count, 3);
}

static void servers_without_overstriping_get_one_stripe_per_target(void)
{
	struct lustre_request *request;
	struct layout layout;

	stand_in_for_the_library();
	refusals = 1;
	request = request_stripes(8, &layout);
	CHECK_TEXT(layout.refusal, "overstriping");
	CHECK(!request->is_overstriped && !pattern);
	CHECK_INT(asked_count, 3);
	CHECK_INT(opened, 2);
	/* They are not asked again. */
	request_stripes(8, &layout);
	CHECK_TEXT(layout.refusal, "overstriping");
	CHECK_INT(opened, 1);
}

static void library_without_overstriping_is_not_asked_for_it(void)
{
	struct layout layout;

	stand_in_for_the_library();
	lustre.pattern_set = NULL;
	request_stripes(8, &layout);
	CHECK_TEXT(layout.refusal, "overstriping");
	CHECK_INT(asked_count, 3);
	CHECK_INT(opened, 1);
}

/* A target that is out of service does not mean that overstriping is not possible. */
static void other_failures_are_not_taken_for_missing_overstriping(void)
{
	struct layout layout;

	stand_in_for_the_library();
	refusals = 2;
	request_stripes(8, &layout);
	CHECK_TEXT(layout.refusal, "failed");
	request_stripes(8, &layout);
	CHECK(!layout.refusal && pattern == OVERSTRIPING);
}

static void calls_of_beegfs_are_those_of_its_client(void)
{
	CHECK_INT(sizeof(struct beegfs_hints), 24);
	CHECK_INT(offsetof(struct beegfs_hints, targets), 12);
	CHECK_INT(offsetof(struct beegfs_hints, chunk), 16);
	CHECK_INT(sizeof(struct beegfs_stripes), 12);
	CHECK_INT(offsetof(struct beegfs_stripes, targets), 8);
	CHECK_INT(BEEGFS_CREATE, 0x4018661b);
	CHECK_INT(BEEGFS_STRIPES, 0x800c6619);
}

static void errors_have_reasons(void)
{
	CHECK_TEXT(layout_refusal_of(-ENOTEMPTY), "not_empty");
	CHECK_TEXT(layout_refusal_of(-EINVAL), "invalid");
	CHECK_TEXT(layout_refusal_of(-EACCES), "denied");
	CHECK_TEXT(layout_refusal_of(-EROFS), "denied");
	CHECK_TEXT(layout_refusal_of(-EOPNOTSUPP), "filesystem");
	CHECK_TEXT(layout_refusal_of(-EIO), "failed");
	CHECK_INT(outcomes_reason("not_empty"), OUTCOME_NOT_EMPTY);
	CHECK_INT(outcomes_reason("denied"), OUTCOME_DENIED);
}

TESTS(TEST(stripes_become_large_objects), TEST(invalid_sizes_are_refused_before_they_are_set),
      TEST(own_names_have_priority), TEST(layouts_of_ceph_are_read_and_written),
      TEST(stripes_of_lustre_are_read), TEST(several_stripes_per_target_need_overstriping),
      TEST(servers_without_overstriping_get_one_stripe_per_target),
      TEST(library_without_overstriping_is_not_asked_for_it),
      TEST(other_failures_are_not_taken_for_missing_overstriping),
      TEST(calls_of_beegfs_are_those_of_its_client), TEST(errors_have_reasons))
