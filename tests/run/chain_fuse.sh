#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls of clients lead to calls of a FUSE server: each of 800 writes of four processes with four threads, all of the same
# size and at the same offsets of different files, to exactly its calls. What is not certain is not matched.
# Papers: SIOX-11.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
here=$SOURCE/tests/run
[ -x "$prog/fuseserver" ] || skip libfuse3-dev
python3 -c 'open("/dev/fuse", "r+b", buffering=0)' 2>/dev/null || skip fuse
[ "$(id -u)" = 0 ] || command -v fusermount3 >/dev/null || skip fuse3
mount=$work/mount directory=$work/directory
mkdir "$mount" "$directory"

is_mounted() {
	grep -q " $mount fuse" /proc/self/mounts
}

unmount() {
	if [ "$(id -u)" = 0 ]; then umount "$@" "$mount"; else fusermount3 -u "$mount"; fi
}
at_exit 'is_mounted && unmount --lazy 2>/dev/null || true'

# start_server RECORD KIND CACHE [OPTION]...: a server in the background; RECORD is the command that runs it
start_server() {
	local record=$1 kind=$2 cache=$3 try
	shift 3
	rm -f "$directory"/* ./*.sluice
	# shellcheck disable=SC2086 # it is a command
	timeout "$limit" $record "$prog/fuseserver" serve "$kind" "$cache" "$directory" "$mount" "$@" 2>server.err &
	server=$!
	for try in $(seq $polls); do
		is_mounted && return
		# A container may have /dev/fuse but not the right to mount.
		kill -0 $server 2>/dev/null || skip fuse
		sleep 0.05
	done
	fail "no mount: $(cat server.err)"
}

stop_fuse() {
	unmount
	wait $server || fail "the server failed: $(cat server.err)"
}

four_clients="for i in 1 2 3 4; do $prog/fuseserver write $mount/file\$i 4 50 4096 & done; wait"

# record_both KIND CACHE [OPTION]...: a server of this kind and its clients, by two runs whose traces are joined
record_both() {
	start_server "$sluice run -o server.sluice --" "$@"
	timeout "$limit" "$sluice" run -o client.sluice -- bash -c "$four_clients"
	stop_fuse
	"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
}

# judge TRACE: what chain_fuse.py says of it
judge() {
	"$sluice" print --json "$1" >print.json 2>/dev/null
	python3 "$here/chain_fuse.py" print.json "$mount" "$directory"
}

state() {
	echo "requests by state: $(json_get "$work/print.json" '["fuse_requests"]')"
}

# check_all WHAT KIND CACHE [OPTION]...: all writes of clients, and at least some reads, are matched, and nothing is wrong.
# When the mount ends, libfuse cancels threads that wait for requests. A call that is cancelled leaves no record, so what
# ends after the last record of its thread is uncertain, if the thread then makes another call (it closes its pipes).
check_all() {
	local what=$1 result
	shift
	for _ in $(seq 10); do
		record_both "$@"
		result=$(judge both.sluice 2>judge.err)
		[ "$(json_get print.json '["fuse_requests"]["lost"]')" != 0 ] || break
		check_words "$result" writes=800 wrong=0
	done
	check_words "$result" writes=800 exact=800 unmatched=0 wrong=0
	check_eq "$(json_get print.json '["fuse_requests"]["no_head"]')" 0 "unseen heads, $what"
	case $result in
	*" reads=0 "*) fail "no read is matched, $what: $result" ;;
	esac
}

# Each call of the clients reaches the server.
check_all "direct" plain direct
check_eq "$(judge both.sluice)" "writes=800 exact=800 unmatched=0 reads=800 wrong=0
without_request=0" "direct"
check_eq "$(json_get print.json '["fuse_requests"]["no_caller_id"]')" 0 "requests without a caller"

# The tree shows the hop: the request, what the server calls for it, and the reply.
sent=$(python3 -c 'import json
print(next(c["id"] for c in json.load(open("print.json"))["activities"] if c["function"].startswith("pwrite") and
    len(c.get("remote_calls", [])) == 1 and "request" not in c and c["class"] == "write" and c["file"].startswith("'"$mount"'")))')
"$sluice" print --tree --call "$sent" both.sluice >tree 2>/dev/null
check_eq "$(cut -c43- tree | sed 's/(.*//; s/64$//')" "pwrite
  read
    fuse_request
    pwrite
    writev
      fuse_reply" "tree of one write"
read=$(awk 'NR == 2 { print $2 }' tree)
check_words "$(sed -n 1p tree)" "-> $read"
check_words "$(sed -n 2p tree)" "<- $sent"
check_words "$(sed -n 3p tree)" "hint/flags=WRITE" "quantity/Size=4096"
check_words "$(sed -n 4p tree)" "<- $read"
check_words "$(sed -n 5p tree)" "<- $read -> $sent"

# The page of an activity gets the same.
mkdir -p "$SLUICE_TRACE_DIR"
cp both.sluice "$SLUICE_TRACE_DIR"
"$sluice" ls --json >ls.json
run=$(json_get ls.json '["runs"][0]["id"]')
serve --socket "$work/socket"
is_indexed() {
	get "/api/v1/runs/$run/window"
	[ "$(json_get answer '["covered"]')" = 1 ]
}
wait_for "complete index" is_indexed
key=$(python3 -c 'import re, sys
process, thread, call = re.fullmatch(r"ID(?:(\d+):)?(?:(\d+)\.)?(\d+)", sys.argv[1]).groups()
print(f"{process or 0}.{int(thread or 0) << 40 | int(call)}")' "$sent")
expect_described "runs/$run/activities/$key"
check_eq "$(json_get answer '["children"].__class__(r["function"] for r in d["children"])')" "['read']" "children of the write"
expect_described "runs/$run/activities/$(json_get answer '["children"][0]["key"]')"
check_eq "$(json_get answer '["remote_calls"]')" "['$key']" "remote call of the read"
check_eq "$(json_get answer '["children"].__class__(r["function"].removesuffix("64") for r in d["children"])')" \
	"['fuse_request', 'pwrite', 'writev']" "served calls"
stop_server

# With the page cache, writes still wait for the server. Reads that the cache answers have no request.
check_all "cached" plain cached
# Requests and data pass through pipes.
check_all "splice, direct" splice direct
check_all "splice, cached" splice cached
# The device is still recognized after many others were opened and closed.
check_all "reopen" reopen direct
# Each thread of the server has a descriptor of its own; and one thread serves all.
check_all "clone_fd" plain direct -o clone_fd
check_all "one thread" plain direct -s

# A write of several requests leads to all of them.
start_server "$sluice run -o server.sluice --" plain direct
timeout "$limit" "$sluice" run -o client.sluice -- "$prog/fuseserver" write "$mount/file" 2 3 5000000
stop_fuse
"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
check_eq "$(judge both.sluice)" "writes=6 exact=6 unmatched=0 reads=6 wrong=0
without_request=0" "large writes"
check_eq "$(python3 -c 'import json
print(min(len(c["remote_calls"]) for c in json.load(open("print.json"))["activities"]
    if c["class"] == "write" and c.get("file") == "'"$mount/file"'") > 1)')" True "requests of a large write"

# Both in one run: calls that only times tell apart are matched, too.
rm -f "$directory"/*
undo=$(declare -f unmount)
timeout "$limit" "$sluice" run -o one.sluice -- bash -c "
	mount=$mount; $undo
	$prog/fuseserver serve plain direct $directory $mount 2>server.err &
	until grep -q ' $mount fuse' /proc/self/mounts; do sleep 0.05; done
	$prog/fuseserver again $mount/same 200 4096
	($four_clients)
	unmount; wait"
check_eq "$(judge one.sluice)" "writes=1000 exact=1000 unmatched=0 reads=800 wrong=0
without_request=0" "one run"
for state in several_calls no_clock contradictory lost no_caller_id; do
	check_eq "$(json_get print.json "[\"fuse_requests\"][\"$state\"]")" 0 "$state in one run"
done
"$sluice" trace convert -f text one.sluice one.txt >/dev/null
# By two runs, they are not: the times of two runs are not exact enough. None is matched wrongly.
start_server "$sluice run -o server.sluice --" plain direct
timeout "$limit" "$sluice" run -o client.sluice -- "$prog/fuseserver" again "$mount/same" 200 4096
stop_fuse
"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
check_words "$(judge both.sluice)" writes=200 wrong=0

# Requests of clients that were not recorded are not matched, least of all with a client that does the same at the same time.
start_server "$sluice run -o server.sluice --" plain direct
for i in 5 6; do
	"$prog/fuseserver" write "$mount/file$i" 4 50 4096 &
	others[i]=$!
done
timeout "$limit" "$sluice" run -o client.sluice -- bash -c "$four_clients"
wait "${others[@]}"
stop_fuse
"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
check_eq "$(judge both.sluice)" "writes=800 exact=800 unmatched=0 reads=800 wrong=0
without_request=800" "with clients that were not recorded"
"$sluice" print --tree both.sluice 2>tree.err >/dev/null
check_line tree.err requests FUSE not matched caller not recorded

# The server alone.
check_eq "$(judge server.sluice)" "writes=0 exact=0 unmatched=0 reads=0 wrong=0
without_request=2400" "the server alone"
check_eq "$(json_get print.json '["fuse_requests"]["matched"]')" 0 "matched requests of the server alone"
# And the clients alone have nothing to match.
"$sluice" print --json client.sluice >alone.json
check_eq "$(json_get alone.json '.get("fuse_requests")')" None "requests of the clients alone"

# Data that the kernel writes back later has no caller.
start_server "$sluice run -o server.sluice --" plain later
timeout "$limit" "$sluice" run -o client.sluice -- bash -c "$four_clients"
stop_fuse
"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
check_words "$(judge both.sluice)" writes=800 wrong=0
[ "$(json_get print.json '["fuse_requests"]["no_caller_id"]')" -gt 0 ] || fail "written back data has callers"

# Lost calls of the server make requests uncertain. None is matched wrongly.
for missing in "fuse_request 500" "fuse_reply 700" "pwrite64 900" "read 300" "writev 400" "[0-9] 1001"; do
	awk -F '\t' -v pattern="$(printf '\t')${missing% *}|${missing% *}$(printf '\t')" -v nth="${missing#* }" \
		'/^[0-9-]/ && $0 ~ pattern && ++n % nth == 0 { next } { print }' one.txt >less.txt
	check_words "$(judge less.txt 2>judge.err)" wrong=0
done

# Threads have other ids in other pid namespaces: clients there are not matched, and nothing is matched with them.
if [ "$(id -u)" = 0 ] && unshare --pid --fork true 2>/dev/null; then
	start_server "$sluice run -o server.sluice --" plain direct
	timeout "$limit" "$sluice" run -o client.sluice -- unshare --pid --fork bash -c "$four_clients"
	stop_fuse
	"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
	check_words "$(judge both.sluice)" writes=800 exact=0 unmatched=800 reads=0 wrong=0
	# Server and clients in the same namespace are matched.
	timeout "$limit" "$sluice" run -o one.sluice -- unshare --pid --fork --mount-proc bash -c "
		$prog/fuseserver serve plain direct $directory $mount 2>server.err &
		until grep -q ' $mount fuse' /proc/self/mounts; do sleep 0.05; done
		($four_clients)
		umount $mount; wait"
	check_eq "$(judge one.sluice)" "writes=800 exact=800 unmatched=0 reads=800 wrong=0
without_request=0" "in a pid namespace"
else
	skip_case namespaces "clients in other pid namespaces"
fi

# A program that misuses /dev/fuse: nothing is taken for a request.
rm -f ./*.sluice
timeout "$limit" "$sluice" run -o garbage.sluice -- "$prog/fuseserver" garbage
"$sluice" print --json garbage.sluice >print.json 2>/dev/null
check_eq "$(json_get print.json '["activities"].__class__(c for c in d["activities"] if c["function"].startswith("fuse_"))')" \
	"[]" "requests in garbage"
# Neither are the data of a file of that name.
if unshare --mount true 2>/dev/null; then
	python3 -c 'import struct
print(end="")
open("requests", "wb").write(struct.pack("<IIQQIIII", 4096, 16, 2, 1, 0, 0, 1, 0).ljust(4096, b"x"))'
	timeout "$limit" "$sluice" run -o file.sluice -- unshare --mount bash -c 'mount --bind requests /dev/fuse && cat /dev/fuse >/dev/null'
	"$sluice" print --json file.sluice >print.json 2>/dev/null
	check_eq "$(json_get print.json '["activities"].__class__(c for c in d["activities"] if c["function"].startswith("fuse_"))')" \
		"[]" "requests in a file"
else
	skip_case mounts "a file in place of /dev/fuse"
fi
