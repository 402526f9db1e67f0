# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# Emulated hosts: network, host name, IPC, process and mount namespaces of their own, on a switch with limited links. The
# root file system is that of the machine, except for /dev/shm, /run and /etc/hosts. Killing the first process of a host
# is the loss of that host.
network=10.99.0

part_missing() {
	[ "$(id -u)" = 0 ] || { echo root && return; }
	need_commands iproute2 ip tc
	need_commands util-linux unshare nsenter flock losetup
	need_commands procps pgrep
	if command -v unshare >/dev/null; then
		unshare --mount --uts --ipc --net --pid --fork true 2>/dev/null || echo namespaces
	fi
}

# start_host HOST: a process holds the namespaces; process 1 of the host reaps its orphans
start_host() {
	local folder=$state/host/$1
	mkdir -p "$folder"
	# shellcheck disable=SC2016
	setsid sh -c 'echo $$ >"$1/pid" && exec unshare --mount --uts --ipc --net --pid --fork --kill-child --mount-proc \
		bash "$2/host_init.sh" "$1" "$3"' sh "$folder" "$testbed" "$state/host/names" \
		</dev/null >"$state/log/$1" 2>&1 9>&- &
	wait_until "host $1" test -e "$folder/ready"
}

# connect_host HOST ADDRESS: a link from the switch, which is in the namespace of head
connect_host() {
	local switch host
	switch=$(first_process_of head)
	host=$(first_process_of "$1")
	nsenter -t "$switch" --net ip link add "v$1" type veth peer name eth0 netns "$host"
	nsenter -t "$switch" --net ip link set "v$1" master switch up
	nsenter -t "$host" --net ip addr add "$2/24" dev eth0
	nsenter -t "$host" --net ip link set eth0 up
}

# limit_link HOST: limits what the host sends and what the switch sends to it; fails if the kernel cannot
limit_link() {
	[ "$link" != 0 ] || return 0
	nsenter -t "$(first_process_of head)" --net tc qdisc add dev "v$1" root tbf rate "$link" burst 256k latency 50ms &&
		nsenter -t "$(first_process_of "$1")" --net tc qdisc add dev eth0 root tbf rate "$link" burst 256k latency 50ms
}

part_start() {
	local name number=0 unlimited=
	{
		echo "127.0.0.1 localhost"
		echo "$network.254 head"
		for name in $(node_names); do
			echo "$network.$((++number)) $name"
		done
	} >"$state/host/names"
	publish TESTBED_HEAD "$network.254"
	publish TESTBED_NODES "$hosts"
	start_host head
	enter head ip link add switch type bridge
	enter head ip addr add "$network.254/24" dev switch
	enter head ip link set switch up
	number=0
	for name in $(node_names); do
		start_host "$name"
		connect_host "$name" "$network.$((++number))"
		limit_link "$name" 2>>"$state/log/links" || unlimited=yes
	done
	[ -z "$unlimited" ] || lacks "limits of links: requires tbf"
}

# Ends all processes of all hosts, compute nodes first, so that clients do not wait for servers that are gone.
part_stop() {
	local folder host pid first
	for folder in "$state"/host/node* "$state"/host/head; do
		host=${folder##*/}
		pid=$(holder_of "$host") || continue
		first=$(pgrep -P "$pid") || true
		# The holder waits for process 1, which ends last; without process 1 it ends itself.
		# shellcheck disable=SC2086
		kill -KILL ${first:-$pid} 2>/dev/null || true
		until ! is_alive "$pid"; do
			sleep 0.02
		done
	done
}

# is_alive PID: a zombie is not
is_alive() {
	local fields
	fields=$(cat "/proc/$1/stat" 2>/dev/null) && [[ ${fields##*) } != Z* ]]
}

part_status() {
	local name alive=0 total=0
	for name in $(host_names); do
		total=$((total + 1))
		! first_process_of "$name" >/dev/null || alive=$((alive + 1))
	done
	echo "$alive of $total hosts run, links of $link"
	[ $alive = $total ]
}
