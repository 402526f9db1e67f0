# SPDX-License-Identifier: BSD-3-Clause
# A test bed of storage targets: loop devices in memory, each with its own file system, throttled by the blkio cgroup
# (version 1). The measured program and its competitors run in the cgroup of the bed, because a limit applies to one
# cgroup on one device, and the processes in the cgroup share it. Writes that bypass the page cache and fsync() are
# accounted to the process that makes them.
#
# To be sourced by a script that bed_enter() has put into a mount namespace of its own. The mounts end with the namespace,
# the loop devices with the mounts, and the files of the devices have no names. However the script ends, nothing remains
# but an empty cgroup, which bed_stop() or the next bed removes.
bed_cgroups=/sys/fs/cgroup/blkio
bed_group= bed_targets=()

# bed_can: succeeds if a bed can be made here; otherwise prints the reason
bed_can() {
	local what
	[ "$(id -u)" = 0 ] || { echo "requires root" >&2; return 1; }
	[ -e "$bed_cgroups/blkio.throttle.write_bps_device" ] ||
		{ echo "requires the blkio controller of cgroups version 1 at $bed_cgroups" >&2; return 1; }
	for what in mkfs.ext4 losetup unshare setpriv; do
		command -v $what >/dev/null || { echo "requires $what" >&2; return 1; }
	done
	unshare -m true 2>/dev/null || { echo "requires a mount namespace of its own" >&2; return 1; }
	[ -e /dev/loop-control ] || { echo "requires loop devices" >&2; return 1; }
}

# bed_enter SCRIPT [ARGUMENT]...: runs the script again in a mount namespace of its own
bed_enter() {
	[ -z "${BED_INSIDE:-}" ] || return 0
	BED_INSIDE=1 exec unshare -m --propagation private bash "$@"
}

# bed_start DIR COUNT MIB: creates COUNT targets of MIB mebibytes, DIR/t1 and so on; sets bed_targets
bed_start() {
	local dir=$1 count=$2 mib=$3 i image
	for i in "$bed_cgroups"/sluice-bench.*; do
		[ ! -d "$i" ] || [ -d "/proc/${i##*.}" ] || rmdir "$i" 2>/dev/null || true
	done
	bed_group=$bed_cgroups/sluice-bench.$$
	mkdir "$bed_group" || return 1
	bed_targets=()
	for i in $(seq "$count"); do
		image=$(mktemp /dev/shm/sluice-bed.XXXXXX) || return 1
		truncate -s "${mib}M" "$image" &&
			mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "$image" &&
			mkdir -p "$dir/t$i" && mount -o loop,noatime "$image" "$dir/t$i" || { rm -f "$image"; return 1; }
		rm "$image"
		bed_targets+=("$dir/t$i")
	done
}

# bed_throttle MIB_PER_SECOND: limits the write rate of every target, for all processes of the cgroup together
bed_throttle() {
	local target
	for target in "${bed_targets[@]}"; do
		echo "$(mountpoint -d "$target") $(($1 << 20))" >"$bed_group/blkio.throttle.write_bps_device" || return 1
	done
}

# bed_run COMMAND...: runs the command in the cgroup of the bed
bed_run() {
	(echo "$BASHPID" >"$bed_group/cgroup.procs" && unset BED_INSIDE && exec "$@")
}

# bed_spawn COMMAND...: starts the command there in the background; $! is its process, which ends with the script
bed_spawn() {
	(echo "$BASHPID" >"$bed_group/cgroup.procs" && unset BED_INSIDE && exec setpriv --pdeathsig TERM "$@") &
}

# bed_load SEED MOVERS THREADS STAY_S REST_S: starts a load that moves between the targets
bed_load() {
	bed_spawn "$BUILD/bench/bench_forecast_load" "$@" "${bed_targets[@]}"
}

# bed_stop: ends the processes of the cgroup and removes the bed
bed_stop() {
	local target pid
	for _ in $(seq 50); do
		[ -n "$bed_group" ] && [ -e "$bed_group/cgroup.procs" ] && read -r pid <"$bed_group/cgroup.procs" || break
		kill "$pid" 2>/dev/null || true
		sleep 0.1
	done
	for target in "${bed_targets[@]}"; do
		umount "$target" 2>/dev/null || umount -l "$target" 2>/dev/null || true
	done
	bed_targets=()
	[ -z "$bed_group" ] || rmdir "$bed_group" 2>/dev/null || true
	bed_group=
}
