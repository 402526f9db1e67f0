#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: host_init.sh FOLDER NAMES
# Process 1 of an emulated host, in namespaces of its own; started by parts/hosts.sh. FOLDER is that of the host, NAMES its
# /etc/hosts. It reaps orphans until it is killed.
set -eu
hostname "${1##*/}"
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount --bind "$2" /etc/hosts
ip link set lo up
: >"$1/ready"
while :; do
	sleep infinity || true
done
