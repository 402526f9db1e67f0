# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# What the commands of the test bed share; to be sourced. All files of the bed are below $state. Its processes run in
# the namespaces of its hosts and end with the first process of each host.
set -euo pipefail
testbed=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$testbed/../build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")
state=${SLUICE_TESTBED:-${TMPDIR:-/tmp}/sluice-testbed}
# The mount point of CephFS, on each host.
mount_point=$state/cephfs
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

# In the order in which they start; each may need those before it.
all_parts=(hosts ceph cephfs postgres slurm sluiced)

note() {
	echo "testbed: $*"
}

die() {
	echo "testbed: $*" >&2
	exit 1
}

# call PART FUNCTION: runs a function of a part in a shell of its own
call() {
	(
		# shellcheck source=/dev/null
		. "$testbed/parts/$1.sh"
		"$2"
	)
}

# wait_until WHAT COMMAND...: waits until the command succeeds. The limit only catches what hangs.
wait_until() {
	local what=$1 until=$((SECONDS + ${TESTBED_LIMIT:-300}))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || die "$what did not start; see the logs in $state/log"
		sleep 0.1
	done
}

# host_names: head, where the servers run, and the compute nodes
host_names() {
	echo head
	node_names
}

node_names() {
	seq -f 'node%g' "$hosts"
}

# holder_of HOST: the process outside of the host that lives as long as the host; fails if there is none
holder_of() {
	local pid
	pid=$(cat "$state/host/$1/pid" 2>/dev/null) && [ -n "$pid" ] || return 1
	# The id may be that of another process by now.
	grep -qzxF "$state/host/$1" "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# first_process_of HOST: the id of process 1 of the host, as seen from outside
first_process_of() {
	local holder
	holder=$(holder_of "$1") && pgrep -P "$holder"
}

# enter HOST COMMAND...: runs a command on a host, in the current directory
enter() {
	local first
	first=$(first_process_of "$1") || die "host $1 is not running"
	# shellcheck disable=SC2016 # the shell on the host expands it
	nsenter -t "$first" --mount --uts --ipc --net --pid -- sh -c '
		cd "$1" && . "$2" && shift 2 && exec "$@"' sh "$PWD" "$state/environment" "${@:2}" 9>&-
}

# start_server HOST NAME COMMAND...: starts a server that stays in the foreground; its output goes to $state/log/NAME
start_server() {
	# shellcheck disable=SC2016
	enter "$1" sh -c 'log=$1; shift; setsid "$@" </dev/null >"$log" 2>&1 &' sh "$state/log/$2" "${@:3}"
}

# publish VARIABLE VALUE: sets a variable for all commands on the hosts
publish() {
	printf 'export %s=%q\n' "$1" "$2" >>"$state/environment"
}

# lacks TEXT: notes something that the bed does without on this machine
lacks() {
	note "lacks $*"
	echo "$*" >>"$state/lacks"
}

# need_commands PACKAGE COMMAND...: prints the package if a command is missing
need_commands() {
	local command
	for command in "${@:2}"; do
		[ -x "$(type -P "$command")" ] || { echo "$1" && return; }
	done
}

# lock_state: nobody else changes the bed until this process and its children have ended
lock_state() {
	exec 9>"$state.lock"
	flock "$@" 9
}

# load_settings: the settings of the bed that is up
load_settings() {
	[ -f "$state/settings" ] || return 1
	# shellcheck source=/dev/null
	. "$state/settings"
}
