#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A testbed/up that is killed at any moment is cleaned up by testbed/down, also while the rest of it is still at work. The
# next testbed/up works.
. "$(dirname "$0")/libcluster.sh"
own_bed

# kill_at FILE: starts the bed and kills testbed/up as soon as FILE of the bed exists
kill_at() {
	local up try
	"$testbed/up" --hosts 2 >"$work/up.out" 2>&1 &
	up=$!
	for try in $(seq "$polls"); do
		[ ! -e "$SLUICE_TESTBED/$1" ] || break
		kill -0 $up 2>/dev/null || fail "testbed/up ended before $1: $(cat "$work/up.out")"
		sleep 0.01
	done
	kill -KILL $up
	wait $up 2>/dev/null || true
	[ -n "$(bed_processes)" ] || [ "$1" = settings ] || fail "killing at $1: no process was left to clean up"
	check_rc 0 "$testbed/down"
	check_nothing_left "after up was killed at $1"
}

moments=(settings host/head/pid host/node2/ready)
if command -v ceph-osd >/dev/null; then
	moments+=(ceph/ceph.conf ceph/osd0.image ceph/osd3/block log/ceph.mds.a)
fi
for moment in "${moments[@]}"; do
	kill_at "$moment"
done
check_rc 0 "$testbed/up" --hosts 1 hosts
check_rc 0 "$testbed/status"
check_rc 0 "$testbed/down"
check_nothing_left "after the last down"
