# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# CephFS, mounted at the same place on each host by cephfs_mount.c. New files have one stripe, as at many Lustre sites.
# Those in targets/osdN are on OSD N.
program=$build/testbed/cephfs_mount
layout="stripe_unit=1048576 stripe_count=1 object_size=1073741824"

part_missing() {
	[ -e /dev/fuse ] || echo fuse
	[ -x "$program" ] && return
	if [ ! -e /usr/include/cephfs/libcephfs.h ]; then
		echo libcephfs-dev
	elif ! pkg-config --exists fuse3; then
		echo libfuse3-dev
	else
		echo make-testbed
	fi
}

is_mounted() {
	enter "$1" timeout 30 python3 -c 'import os, sys; os.statvfs(sys.argv[1])
sys.exit(" %s fuse.cephfs " % sys.argv[1] not in open("/proc/self/mounts").read())' "$mount_point"
}

part_start() {
	local host spread=$osds
	# With more, it would take hundreds of tries to find a file whose objects lie on different OSDs.
	[ "$spread" -le 4 ] || spread=4
	mkdir -p "$mount_point"
	publish TESTBED_MOUNT "$mount_point"
	for host in $(host_names); do
		start_server "$host" "cephfs.$host" "$program" "$mount_point" -o "conf=$state/ceph/ceph.conf,spread=$spread,pool=cephfs_data"
	done
	for host in $(host_names); do
		wait_until "the mount of $host" is_mounted "$host"
	done
	enter head python3 -c 'import os, sys
mount, layout, osds = sys.argv[1:]
folders = {mount: "cephfs_data"} | {f"{mount}/targets/osd{i}": f"osd{i}" for i in range(int(osds))}
for folder, pool in folders.items():
    os.makedirs(folder, exist_ok=True)
    os.setxattr(folder, "ceph.dir.layout", f"{layout} pool={pool}".encode())' "$mount_point" "$layout" "$osds"
}

# The mounts are in the namespaces of the hosts.
part_stop() {
	:
}

part_status() {
	local host mounted=0 total=0
	for host in $(host_names); do
		total=$((total + 1))
		! is_mounted "$host" 2>/dev/null || mounted=$((mounted + 1))
	done
	echo "mounted at $mount_point on $mounted of $total hosts"
	[ $mounted = $total ]
}
