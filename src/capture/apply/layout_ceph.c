/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/layout_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "capture/apply/inject.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"

#define CEPH_KEY_BYTES 64
#define CEPH_STEP 65536 /* all sizes are multiples of it */

static const char *ceph_key(char to[CEPH_KEY_BYTES], const char *field)
{
	strcpy(to, "ceph.file.layout.");
	strncat(to, field, CEPH_KEY_BYTES - strlen(to) - 1);
	return to;
}

static bool ceph_get(int fd, const char *field, char *value, size_t bytes)
{
	char key[CEPH_KEY_BYTES];
	long n = layout_get_attribute(fd, ceph_key(key, field), value, bytes - 1);

	if (n <= 0)
		return false;
	value[n] = 0;
	return true;
}

static uint64_t ceph_number(int fd, const char *field)
{
	char value[24];
	const char *at = value;
	uint64_t number = 0;

	if (!ceph_get(fd, field, value, sizeof(value)) || !rules_number(&at, &number))
		return 0;
	return number;
}

static void ceph_put(int fd, const char *field, const char *value)
{
	char key[CEPH_KEY_BYTES];

	layout_set_attribute(fd, ceph_key(key, field), value, strlen(value));
}

static void ceph_put_number(int fd, const char *field, uint64_t number)
{
	char value[24];

	if (number > UINT32_MAX)
		return;
	rules_put_number(value, number);
	ceph_put(fd, field, value);
}

/* Sets both sizes in an order in which an object always holds whole stripe units. */
static void ceph_sizes_put(int fd, uint64_t unit, uint64_t object)
{
	uint64_t unit_now = ceph_number(fd, "stripe_unit");
	uint64_t object_now = ceph_number(fd, "object_size");

	unit = unit ? unit : unit_now;
	object = object ? object : object_now;
	if (!unit || !object || object % unit)
		return;
	if (unit_now && object % unit_now && object_now % unit)
		ceph_put_number(fd, "stripe_unit", unit_now = CEPH_STEP);
	if (unit_now && object % unit_now == 0) {
		ceph_put_number(fd, "object_size", object);
		ceph_put_number(fd, "stripe_unit", unit);
	} else {
		ceph_put_number(fd, "stripe_unit", unit);
		ceph_put_number(fd, "object_size", object);
	}
}

/* The pool that is assigned to the file; NULL: none. */
static const char *ceph_assigned_pool(const struct layout *layout, const char *full,
				      char pool[CEPH_KEY_BYTES])
{
	const struct parameters_line *rule = layout_rule(full, PARAMETERS_SPREAD_POOLS);
	struct parameters_destination in;

	if (!rule || layout->turn == WEIGHTED_ROTATION_NONE ||
	    !weighted_rotation_destination(rule, layout->turn, &in) || in.bytes >= CEPH_KEY_BYTES)
		return NULL;
	memcpy(pool, in.name, in.bytes);
	pool[in.bytes] = 0;
	return pool;
}

void ceph_end(const struct layout *layout, int fd, const char *full)
{
	char name[CEPH_KEY_BYTES];
	const char *turn = ceph_assigned_pool(layout, full, name),
		   *pool = rules_value(&rules_own, PLACE_LAYOUT, full, "", "ceph_pool");
	uint64_t unit = 0, object = 0, count = 0;
	struct stat st;

	/* CephFS changes the layout of empty files only. */
	if (kernel_call(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size)
		return;
	if (turn || pool)
		ceph_put(fd, "pool", turn ? turn : pool);
	layout_number(full, "ceph_stripe_unit", &unit);
	layout_number(full, "ceph_object_size", &object);
	if (unit || object)
		ceph_sizes_put(fd, unit, object);
	if (layout_number(full, "ceph_stripe_count", &count))
		ceph_put_number(fd, "stripe_count", count);
}

void ceph_begin(struct layout *layout, const char *full)
{
	const struct parameters_line *rule = layout_rule(full, PARAMETERS_SPREAD_POOLS);

	if (rule && layout_is_absent(layout))
		layout->turn = weighted_rotation_take(capture_membership.control->turns, rule, 1);
}

void ceph_report(const struct layout *layout, int fd, const char *full, struct info_text *requested,
		 struct info_text *effective)
{
	static const char *const fields[] = { "stripe_unit", "stripe_count", "object_size",
					      "pool" };
	char key[CEPH_KEY_BYTES], value[128], name[CEPH_KEY_BYTES];
	const char *turn = ceph_assigned_pool(layout, full, name);

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (ceph_get(fd, fields[i], value, sizeof(value))) {
			strcpy(key, "ceph_");
			strcat(key, fields[i]);
			info_text_put(effective, key, value);
		}
	if (turn)
		inject_accept(requested, PARAMETERS_SPREAD_POOLS, turn);
	if (turn && ceph_get(fd, "pool", value, sizeof(value)))
		info_text_put(effective, PARAMETERS_SPREAD_POOLS, value);
}
