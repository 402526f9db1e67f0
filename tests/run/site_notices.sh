#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `sluice site learn` has learned reaches the nodes at once, by a notification of a real PostgreSQL: the daemon would
# otherwise look once per day. What is learned while the daemon has lost the database reaches it afterwards.
# Papers: SIOX-3.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
. "$(dirname "$0")/../libpg.sh"
pg_start fsync=off || skip postgresql
export SLUICE_SITE_DATABASE=$pg SLUICE_SITE_KNOWLEDGE=1d
page=$work/run/knowledge
: >"$work/policy"

page_differs() {
	! cmp -s "$page" "$work/before"
}

# The page names the first mount point, and not only empty tables.
page_has_mount() {
	python3 -c 'import struct, sys
page = open(sys.argv[1], "rb").read()
hints, durations, mounts = struct.unpack_from("<3I", page, 12)
sys.exit(not (durations and mounts and page[32:33] == b"/"))' "$page"
}

# learn NAME COMMAND...: records the command, imports it, and learns from it
learn() {
	local name=$1
	shift
	"$sluice" run --quiet -o "$work/$name.sluice" -- "$@" || fail "cannot record $name"
	check_rc 0 "$sluice" site import --sample 1 "$work/$name.sluice"
	check_rc 0 "$sluice" site learn
	check_line out learned "1 new run"
}

check_rc 0 "$sluice" site init
start_daemon
wait_for "page" test -e "$page"
cp "$page" before
learn first sh -c 'head -c 100000 /dev/zero >a.dat && cat a.dat >b.dat'
wait_for "page with what was learned" page_differs
wait_for "page with a mount point" page_has_mount
# The daemon has looked once more when it began to listen; from now on it does so only if it is notified.
cp "$page" before
learn next sh -c 'dd if=/dev/zero of=d.dat bs=300000 count=2 2>/dev/null'
wait_for "page with what was learned next" page_differs

# The database goes away, and comes back with more knowledge before the daemon has found it again.
cp "$page" before
pg_kill
pg_again
learn second sh -c 'dd if=/dev/zero of=c.dat bs=3000000 count=2 2>/dev/null'
wait_for "page after the database was away" page_differs
