# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# Ceph on head: one monitor, OSDs on loop devices whose throughput a control group limits, and one metadata server, whose
# data is on an OSD of its own without a limit: otherwise, creating a file would wait for the load of all OSDs. There is no
# authentication: only the hosts of the bed reach it. Settings keep memory small.
folder=$state/ceph
address=10.99.0.254
image_size=4G
# The control group of the OSDs: version 1 has a hierarchy for blkio, version 2 has the controller io.
group_name=sluice-testbed$(tr / - <<<"$state")
group_v1=/sys/fs/cgroup/blkio/$group_name
group_v2=/sys/fs/cgroup/$group_name

part_missing() {
	need_commands ceph-common ceph
	need_commands ceph-mon ceph-mon monmaptool
	need_commands ceph-osd ceph-osd
	need_commands ceph-mds ceph-mds
	[ "$store" != filestore ] || need_commands e2fsprogs mkfs.ext4
	[ -e /dev/loop-control ] || echo loop-devices
}

ceph_settings() {
	cat <<END
[global]
fsid = $1
mon host = [v2:$address:3300/0]
mon initial members = a
ms bind msgr1 = false
ms bind ipv4 = true
# Ceph would use ports from 6800 on, and Slurm needs 6817 and 6818.
ms bind port min = 7000
ms bind port max = 7999
public network = 10.99.0.0/24
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
run dir = $folder/run
pid file = $folder/run/\$name.pid
admin socket = $folder/run/\$name.asok
log file = $state/log/ceph.\$name
mon cluster log file = $state/log/ceph.cluster
crash dir = $state/log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon osd reporter subtree level = osd
mon data avail warn = 2
mon data avail crit = 1
mon max pg per osd = 1000
mon memory target = 134217728
# One object per stripe, as on Lustre.
osd max object size = 2147483648
osd max write size = 512
debug ms = 0/0
[mon.a]
mon data = $folder/mon
[mds.a]
mds data = $folder/mds
mds cache memory limit = 67108864
[osd]
osd data = $folder/osd\$id
osd memory target = 939524096
osd numa auto affinity = false
osd op num shards = 2
osd op num threads per shard = 1
bluestore cache autotune = false
bluestore cache size = 67108864
bluestore fsck on mkfs = false
# Otherwise an OSD that is told to end leaves bytes in its journal.
osd fast shutdown = false
osd class update on start = false
osd crush update on start = false
osd max scrubs = 0
osd objectstore = $store
# For a FileStore on ext4, whose names and attributes are short.
osd max object name len = 256
osd max object namespace len = 64
osd journal = $folder/osd\$id/journal
# It must hold two of the largest writes.
osd journal size = 1100
[client]
# Hosts have equal process ids.
admin socket = $folder/run/\$name.\$pid.\$cctid.asok
log file = $state/log/ceph.\$name
client mount timeout = 60
client oc size = 134217728
client oc max dirty = 33554432
client oc target dirty = 8388608
END
}

# make_group: makes the control group, if the machine has one; prints its list of processes
make_group() {
	if [ -d "${group_v1%/*}" ]; then
		mkdir "$group_v1" && echo "$group_v1/cgroup.procs"
	elif grep -qw io "${group_v2%/*}/cgroup.subtree_control"; then
		mkdir "$group_v2" && echo "$group_v2/cgroup.procs"
	else
		return 1
	fi
}

# limit_device DEVICE: limits its throughput for the processes of the control group
limit_device() {
	local number bytes
	number=$(cat "/sys/class/block/${1##*/}/dev")
	bytes=$(numfmt --from=iec "$rate")
	if [ -d "$group_v1" ]; then
		echo "$number $bytes" >"$group_v1/blkio.throttle.write_bps_device"
		echo "$number $bytes" >"$group_v1/blkio.throttle.read_bps_device"
	else
		echo "$number wbps=$bytes rbps=$bytes" >"$group_v2/io.max"
	fi
}

# make_store NUMBER DEVICE: prepares the device for the OSD. Only BlueStore uses it itself. The file system of a FileStore is
# mounted on head only, and ends with it.
make_store() {
	local osd=$folder/osd$1
	if [ "$store" = bluestore ]; then
		ln -s "$2" "$osd/block"
	else
		mkfs.ext4 -q "$2"
		enter head mount -o noatime "$2" "$osd"
	fi
}

# start_osd NUMBER UUID PROCESSES [COMMAND...]: PROCESSES is the list of the control group, if there is one. With a COMMAND,
# the OSD is its child and stays in the foreground.
start_osd() {
	local osd=$folder/osd$1 device limited
	mkdir -p "$osd"
	truncate -s "$image_size" "$osd.image"
	device=$(losetup --find --show "$osd.image")
	[ -z "$3" ] || limit_device "$device"
	make_store "$1" "$device"
	enter head ceph-osd -i "$1" --osd-uuid "$2" --mkfs
	# shellcheck disable=SC2016
	limited=(sh -c '[ -z "$1" ] || echo $$ >"$1"; shift; exec "$@"' sh "$3")
	if [ $# -gt 3 ]; then
		start_server head "ceph.under$1" "${limited[@]}" "${@:4}" ceph-osd -f -i "$1"
	else
		enter head "${limited[@]}" ceph-osd -i "$1"
	fi
}

# start_osds: the monitor registers them in one session; then they start at the same time
start_osds() {
	local i command uuids=() jobs=() processes=
	if [ "$rate" != 0 ]; then
		processes=$(make_group) || lacks "limits of OSDs: requires io-limits"
	fi
	for ((i = 0; i < osds; i++)); do
		uuids+=("$(cat /proc/sys/kernel/random/uuid)")
		echo "osd new ${uuids[i]} $i"
		echo "osd crush add osd.$i 1.0 root=default host=storage$i"
	done >"$folder/commands"
	uuids+=("$(cat /proc/sys/kernel/random/uuid)")
	printf '%s\n' "osd new ${uuids[osds]} $osds" "osd crush add-bucket metadata root" \
		"osd crush add osd.$osds 1.0 root=metadata host=metadata0" >>"$folder/commands"
	enter head ceph <"$folder/commands" >"$state/log/ceph.commands" 2>&1
	for ((i = 0; i < osds; i++)); do
		read -r -a command <<<"${under//\{\}/$i}"
		start_osd $i "${uuids[i]}" "$processes" "${command[@]}" >"$state/log/ceph.start$i" 2>&1 &
		jobs+=($!)
	done
	start_osd "$osds" "${uuids[osds]}" "" >"$state/log/ceph.start$osds" 2>&1 &
	jobs+=($!)
	for i in "${jobs[@]}"; do
		wait "$i" || die "an OSD did not start; see $state/log/ceph.start*"
	done
	wait_until "OSDs" osds_are_up
}

osds_are_up() {
	enter head ceph osd stat | grep -q " $((osds + 1)) up"
}

mds_is_active() {
	enter head ceph mds stat | grep -q up:active
}

# pool_commands: the pools of the file system, and one on each OSD for its folder (cephfs.sh)
pool_commands() {
	local i
	printf '%s\n' "osd crush rule create-replicated metadata metadata osd" \
		"osd pool create cephfs_meta 8 8 replicated metadata" "osd pool create cephfs_data 128 128" \
		"fs new cephfs cephfs_meta cephfs_data"
	for ((i = 0; i < osds; i++)); do
		printf '%s\n' "osd crush rule create-replicated osd$i storage$i osd" \
			"osd pool create osd$i 8 8 replicated osd$i" "fs add_data_pool cephfs osd$i"
	done
}

part_start() {
	local id
	mkdir -p "$folder/run" "$folder/mon" "$folder/mds"
	id=$(cat /proc/sys/kernel/random/uuid)
	ceph_settings "$id" >"$folder/ceph.conf"
	publish CEPH_CONF "$folder/ceph.conf"
	monmaptool --create --fsid "$id" --addv a "[v2:$address:3300]" "$folder/monmap" >"$state/log/ceph.monmap"
	enter head ceph-mon -i a --mkfs --monmap "$folder/monmap"
	enter head ceph-mon -i a
	start_osds
	enter head ceph-mds -i a >"$state/log/ceph.startmds" 2>&1
	pool_commands >"$folder/commands"
	enter head ceph <"$folder/commands" >>"$state/log/ceph.commands" 2>&1
	wait_until "the metadata server" mds_is_active
}

# Processes have ended before. A device is busy until the kernel has closed their files.
part_stop() {
	local device
	for device in $(losetup --list --noheadings --output NAME,BACK-FILE | awk -v at="$folder/" 'index($2, at) == 1 { print $1 }'); do
		losetup --detach "$device"
		until ! losetup "$device" 2>/dev/null | grep -qF "($folder/"; do
			sleep 0.05
		done
	done
	for device in "$group_v1" "$group_v2"; do
		[ ! -d "$device" ] || rmdir "$device"
	done
}

part_status() {
	local up
	up=$(enter head timeout 30 ceph osd stat | sed -E 's/.* ([0-9]+) up.*/\1/') || return 1
	mds_is_active || { echo "the metadata server is not active" && return 1; }
	echo "$up of $((osds + 1)) OSDs are up, one for metadata and the others limited to $rate per second each; the metadata server is active"
	[ "$up" = $((osds + 1)) ]
}
