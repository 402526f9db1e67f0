#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of large traces: time and memory of a report of 10 million activities (REPORT_LARGE=1: also of 100 million, of
# which the time per activity must be about the same), and of a job of 1,024 parts with 1,024 ranks each, read from its
# parts and from profiles that were saved on their nodes. The traces are generated (bench/report_trace.c).
# Bars are compared with the wall-clock time, so the machine must be idle. The CPU time is printed, too.
# BUILD names the build tree, REPORT_DIR the directory of the traces, REPORT_PARTS the number of parts.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/libbench.sh"
parts=${REPORT_PARTS:-1024} ranks=1024
cores=$(nproc)
work=$(mktemp -d "${REPORT_DIR:-${TMPDIR:-/tmp}}/sluice-bench.XXXXXX")
trap 'cd /; rm -rf "$work"' EXIT
generate=$(cd "$BUILD" && pwd)/bench/bench_report_trace
sluice=$(cd "$BUILD" && pwd)/sluice
cd "$work"

# measure NAME ARGUMENT...: runs sluice; sets wall, cpu (seconds) and memory (MiB)
measure() {
	local name=$1
	shift
	/usr/bin/time -o times -f '%e %U %S %M' "$sluice" "$@" >out 2>err || { cat err; miss "$name failed"; }
	read -r wall user system memory < <(tail -n 1 times)
	cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
	memory=$((memory / 1024))
	say "$(printf '%-34s wall %7.2f s, CPU %7.2f s on %d cores, %5d MiB' "$name" "$wall" "$cpu" "$cores" "$memory")"
}

# bar NAME SECONDS MIB: compares the last measurement
bar() {
	less "$wall" "$2" || miss "$1 took $wall s, not $2"
	[ "$memory" -le "$3" ] || miss "$1 needed $memory MiB, not $3"
}

"$generate" 10.sluice 10000000 64
measure "10 million activities" report 10.sluice
bar "10 million activities" 3 300
key ten_million_s "$wall"
key ten_million_cpu_s "$cpu"
key ten_million_mib "$memory"
ten=$cpu
if [ -n "${REPORT_LARGE:-}" ]; then
	rm 10.sluice
	"$generate" 100.sluice 100000000 64
	measure "100 million activities" report 100.sluice
	bar "100 million activities" 30 300
	less "$cpu" "$(awk -v t="$ten" 'BEGIN { print 12 * t }')" || miss "100 million activities are not linear"
	key hundred_million_s "$wall"
	rm 100.sluice
fi

mkdir job.parts
for ((i = 0; i < parts; i++)); do
	"$generate" job.parts/$i.sluice $((16 * ranks)) $ranks $((i * ranks)) $((parts * ranks))
done
measure "$parts parts of $ranks ranks" report job.parts
bar "$parts parts" 60 1024
key parts_s "$wall"
key parts_mib "$memory"
cp out expected
measure "saving them (--part)" report --part job.parts
key saving_s "$wall"
measure "$parts saved profiles" report job.parts
bar "$parts saved profiles" 60 1024
key saved_s "$wall"
cmp -s out expected || miss "the report of saved profiles differs"

printf '%s' "$missed"
say "bench report:$keys failed=$failed"
[ $failed -eq 0 ]
