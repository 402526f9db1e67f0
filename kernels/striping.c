/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/striping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/err.h"
#include "contract/striping.h"

#define TEXT_BYTES 256

static uint64_t read_number(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

/* Reads the layout of the file, and fails unless it is on CephFS. */
static int read_layout(int fd, char text[TEXT_BYTES], struct err *err)
{
	ssize_t n = fgetxattr(fd, CEPH_LAYOUT, text, TEXT_BYTES - 1);

	text[n > 0 ? n : 0] = 0;
	if (n > 0 && read_number(text, "object_size="))
		return 0;
	return err_set(
		err, ENOTSUP,
		"the stripes of a file can be set on CephFS only, and with the MPI library on "
		"file systems that it knows");
}

bool striping_is_settable(int fd)
{
	char text[TEXT_BYTES];

	return read_layout(fd, text, NULL) >= 0;
}

int striping_set(int fd, uint64_t count, uint64_t unit, struct err *err)
{
	char text[TEXT_BYTES];
	uint64_t object;
	int n, r = read_layout(fd, text, err);

	if (r < 0)
		return r;
	if (!count)
		count = read_number(text, "stripe_count=");
	if (!unit)
		unit = read_number(text, "stripe_unit=");
	object = read_number(text, "object_size=");
	object -= unit ? object % unit : 0;
	n = snprintf(text, sizeof(text),
		     "stripe_unit=%" PRIu64 " stripe_count=%" PRIu64 " object_size=%" PRIu64, unit,
		     count, object);
	if (fsetxattr(fd, CEPH_LAYOUT, text, (size_t)n, 0) != 0)
		return err_set(err, errno,
			       "the file system rejects %" PRIu64 " stripes in units of %" PRIu64
			       " bytes: %s",
			       count, unit, strerror(errno));
	return 0;
}
