#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# testbed/up, status and down: parts can be selected, what the machine lacks is reported and only that is skipped, and
# nothing is left behind.
. "$(dirname "$0")/libcluster.sh"
own_bed

# Without a bed.
check_rc 3 "$testbed/status"
check_rc 0 "$testbed/down"
check_rc 1 "$testbed/up" --hosts 0
check_rc 1 "$testbed/up" --link fast
check_rc 1 "$testbed/up" nonsense
check_words "$(cat err)" nonsense
check_nothing_left "without a bed"

# Selected parts, with what they require.
check_rc 0 "$testbed/up" --hosts 2 slurm
check_eq "$(paste -sd ' ' "$SLUICE_TESTBED/started")" "hosts slurm" "parts"
check_rc 0 "$testbed/status"
check_eq "$(on head srun -N 2 hostname | sort | paste -sd ' ')" "node1 node2" "hosts of a job"
[ -n "$(bed_processes)" ] || fail "bed_processes does not see a bed that is up"

# There is one bed per directory, and it stays.
check_rc 1 "$testbed/up" hosts
check_words "$(cat err)" down
check_rc 0 "$testbed/status"

# Addresses exist only on the hosts.
[ -z "$(ip -brief address | grep -F 10.99.0. || true)" ] || fail "the machine has an address of the bed"
check_words "$(on node1 ip -brief address show eth0)" 10.99.0.1

# The loss of a host is noticed, and does not prevent down.
first=$(pgrep -P "$(cat "$SLUICE_TESTBED/host/node2/pid")")
kill -KILL "$first"
wait_for "loss of node2" sh -c "! '$testbed/status' >'$work/out'"
check_line out hosts 2 3
check_rc 0 "$testbed/down"
check_nothing_left "after down"
check_rc 0 "$testbed/down"

# A machine without OSDs: only the parts that need them are skipped. A bed is not seen by other mount namespaces, so the
# programs are hidden only from it.
hidden=$(command -v ceph-osd || echo /usr/bin/true)
# shellcheck disable=SC2016 # the inner shell expands it
check_rc 0 unshare --mount bash -c 'mount --bind /dev/null "$1" && exec "$2" --hosts 1 cephfs slurm' bash "$hidden" "$testbed/up"
check_eq "$(paste -sd ' ' "$SLUICE_TESTBED/started")" "hosts slurm" "parts without ceph-osd"
check_line out lacks ceph ceph-osd
check_line out lacks cephfs part:ceph
check_eq "$(missing_of cephfs)" ceph-osd "what cephfs lacks"
check_rc 0 "$testbed/status"
check_line out lacks ceph ceph-osd
check_rc 0 "$testbed/down"
check_nothing_left "after down of some parts"
