# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with libtest.sh and the tests
# Helpers for tests on a cluster; to be sourced first. A test either uses the bed that up.sh has started for all (use_bed) or
# has one of its own (own_bed).
. "$(dirname "${BASH_SOURCE[0]}")/../run/libtest.sh"
testbed=$SOURCE/testbed
# Names the state directory of the bed for all tests.
shared_bed=$BUILD/testbed/shared

# needs_root: skips the test unless it may make hosts
needs_root() {
	[ "$(id -u)" = 0 ] || skip root
	unshare --mount --uts --ipc --net --pid --fork true 2>/dev/null || skip namespaces
}

# own_bed: a bed of this test, which ends with it
own_bed() {
	needs_root
	export SLUICE_TESTBED=$work/bed
	at_exit '"$testbed/down" >/dev/null'
}

# use_bed PART...: uses the bed for all tests; skips the test if the machine lacks what a part needs
use_bed() {
	local part need
	needs_root
	[ -s "$shared_bed" ] || fail "there is no bed; cluster/up starts it"
	SLUICE_TESTBED=$(cat "$shared_bed")
	export SLUICE_TESTBED
	for part; do
		need=$(missing_of "$part")
		[ -z "$need" ] || skip "$need" "part $part of the test bed"
		grep -qx "$part" "$SLUICE_TESTBED/started" || fail "part $part of the test bed was not started"
	done
}

# missing_of PART: the first thing that it, or a part that it requires, lacks
missing_of() {
	local need
	need=$(sed -n "s/^$1: requires \([^ ]*\).*/\1/p" "$SLUICE_TESTBED/lacks")
	case $need in
	part:*) missing_of "${need#part:}" ;;
	*) echo "$need" ;;
	esac
}

# on HOST COMMAND...: runs a command on a host of the bed
on() {
	timeout -k 5 "$limit" "$testbed/enter" "$@"
}

# layout_of FILE: the layout of a file on CephFS, without the pool
layout_of() {
	on head python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "ceph.file.layout").decode().rsplit(" pool=")[0])' "$1"
}

# bed_processes: the ids of all processes of the bed. They know its directory by their environment, command or working
# directory; this shell and its children are no such processes.
bed_processes() {
	python3 - "$SLUICE_TESTBED" $$ <<'END'
import os, sys
bed, test = sys.argv[1].encode(), int(sys.argv[2])
def parents(pid):
    while pid > 1:
        yield pid
        pid = int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[1])
def belongs(pid):
    at = "/proc/%d/" % pid
    if open(at + "stat").read().rsplit(")", 1)[1].split()[0] in "ZX":
        return False
    words = open(at + "environ", "rb").read() + open(at + "cmdline", "rb").read() + os.readlink(at + "cwd").encode()
    return bed in words and test not in parents(pid)
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        if belongs(int(name)):
            print(name)
    except OSError:
        pass    # it has ended, or belongs to others
END
}

# check_nothing_left WHEN: no process, mount, loop device, control group, link or file of the bed is left
check_nothing_left() {
	local left name
	left=$(bed_processes | while read -r pid; do
		ps -o pid=,args= -p "$pid" || true
	done)
	check_eq "$left" "" "processes $1"
	check_eq "$(grep -F "$SLUICE_TESTBED" /proc/self/mountinfo || true)" "" "mounts $1"
	check_eq "$(losetup --list --noheadings --output NAME,BACK-FILE | grep -F "$SLUICE_TESTBED" || true)" "" "loop devices $1"
	name=sluice-testbed$(tr / - <<<"$SLUICE_TESTBED")
	check_eq "$(find /sys/fs/cgroup -maxdepth 2 -name "$name" 2>/dev/null)" "" "control groups $1"
	check_eq "$(ls -d "$SLUICE_TESTBED"* 2>/dev/null || true)" "" "files $1"
}
