#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The guest's assumptions about io_uring hold for the installed liburing and kernel header: the layout of rings and
# entries, flags, the numbers of operations, and the prototypes of the wrapped functions.
set -eu
. "$SOURCE/tests/libskip.sh"
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '#include <liburing.h>' | "$cc" -D_GNU_SOURCE -fsyntax-only -x c - 2>/dev/null ||
	skip liburing-dev

# compiles FILE OPTION...
compiles() {
	"$cc" -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I"$SOURCE/src" -I"$SOURCE/include" "${@:2}" -x c "$1"
}

# The operation numbers of uring.c, without those of newer kernels that the header does not define.
operations()
{
	local number name
	sed -n 's|.*\[\([0-9]*\) /\* \([A-Z0-9_]*\) \*/\] = .*|\1 \2|p' "$SOURCE/src/capture/libraries/uring.c" |
		while read -r number name; do
			! grep -q "IORING_OP_$name\\b" "$header" || echo "SAME(IORING_OP_$name, $number);"
		done
}
header=$(echo '#include <liburing.h>' | "$cc" -D_GNU_SOURCE -M -x c - | tr ' ' '\n' | grep 'io_uring\.h$' | head -1)

cat >"$work/check.c" <<C
#include <liburing.h>
#include "capture/libraries/uring.h"

#define SAME(a, b) _Static_assert((a) == (b), #a " is not " #b)
#define PLACE(theirs, ours, field) SAME(offsetof(struct theirs, field), offsetof(struct ours, field))
#define RING(field) PLACE(io_uring, uring_ring, field)
#define SQE(field) PLACE(io_uring_sqe, uring_sqe, field)
#define CQE(field) PLACE(io_uring_cqe, uring_cqe, field)

SAME(sizeof(struct io_uring_sqe), sizeof(struct uring_sqe));
SQE(opcode); SQE(flags); SQE(fd); SQE(off); SQE(addr); SQE(len); SQE(user_data); SQE(splice_fd_in);
SAME(offsetof(struct io_uring_sqe, rw_flags), offsetof(struct uring_sqe, op_flags));
SAME(offsetof(struct io_uring_sqe, file_index), offsetof(struct uring_sqe, splice_fd_in));
SAME(offsetof(struct io_uring_sqe, addr2), offsetof(struct uring_sqe, off));
SAME(sizeof(struct io_uring_cqe), sizeof(struct uring_cqe));
CQE(user_data); CQE(res); CQE(flags);
RING(sq.khead); RING(sq.ktail); RING(sq.kring_mask); RING(sq.sqes); RING(sq.sqe_head); RING(sq.sqe_tail);
RING(sq.ring_sz); RING(sq.ring_ptr);
RING(cq.khead); RING(cq.ktail); RING(cq.kring_mask); RING(cq.kring_entries); RING(cq.cqes); RING(cq.ring_sz);
RING(cq.ring_ptr); RING(flags); RING(ring_fd);
SAME(IOSQE_FIXED_FILE, URING_SQE_FIXED_FILE);
SAME(IOSQE_CQE_SKIP_SUCCESS, URING_SQE_SKIP_SUCCESS);
SAME(IORING_CQE_F_MORE, URING_CQE_MORE);
SAME(IORING_CQE_F_NOTIF, URING_CQE_NOTIF);
SAME(IORING_SETUP_SQE128, URING_SETUP_SQE128);
SAME(IORING_SETUP_CQE32, URING_SETUP_CQE32);
C
operations >>"$work/check.c"
known=$(grep -c '^SAME(IORING_OP_' "$work/check.c")
[ "$known" -ge 40 ] || { echo "uring: only $known operations of uring.c were found in $header"; exit 1; }
compiles "$work/check.c" || { echo "uring: the layout of the installed liburing differs"; exit 1; }
compiles "$SOURCE/src/capture/interfaces/uring.h" -DSLUICE_CHECK || { echo "uring: the prototypes of the installed liburing differ"; exit 1; }

# mistaken FILE SED-EXPRESSION OPTION...: the compiler rejects FILE after a mistake was made in it
mistaken() {
	sed "$2" "$1" >"$work/mistaken.c"
	! cmp -s "$1" "$work/mistaken.c" || { echo "uring: \"$2\" changes nothing"; exit 1; }
	! compiles "$work/mistaken.c" "${@:3}" 2>/dev/null || { echo "uring: the mistake \"$2\" was not reported"; exit 1; }
}
mistaken "$work/check.c" 's/IORING_OP_WRITE, 23/IORING_OP_WRITE, 24/'
mistaken "$work/check.c" 's/RING(flags)/SAME(offsetof(struct io_uring, flags), offsetof(struct uring_ring, ring_fd))/'
mistaken "$SOURCE/src/capture/interfaces/uring.h" 's/int io_uring_submit(struct/long io_uring_submit(struct/' -DSLUICE_CHECK
echo "uring: $known operations, layouts and prototypes match the installed liburing"
