#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of large traces, which are generated (bench/report_trace.c). REPORT_STEPS selects what is measured:
#   ten      time and memory of a report of 10 million activities, with all cores and with one, and of its web page
#   hundred  the same of 100 million, whose CPU time per activity must be about the same, and how fast Ctrl-C ends it
#   parts    a job of 1,024 parts with 1,024 ranks each: read from its parts, and from profiles saved on their nodes
# The default is "ten parts"; "hundred" needs 3 GB of disk space and several minutes. Bars are compared with the
# wall-clock time, so the machine must be idle. The CPU time, which depends less on other programs, is printed as well,
# and so is its ratio to that of only reading the trace, which says how much work a report is on any machine.
# BUILD names the build tree, REPORT_DIR the directory of the traces, REPORT_PARTS the number of parts.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/libbench.sh"
parts=${REPORT_PARTS:-1024} ranks=1024
generate=$(cd "$BUILD" && pwd)/bench/bench_report_trace
sluice=$(cd "$BUILD" && pwd)/sluice
workspace "" "${REPORT_DIR:-${TMPDIR:-/tmp}}"

# measure NAME COMMAND...: sets wall, cpu (seconds) and memory (MiB)
measure() {
	local name=$1 user system
	shift
	/usr/bin/time -o times -f '%e %U %S %M' "$@" >out 2>err || { cat err; miss "$name failed"; }
	read -r wall user system memory < <(tail -n 1 times)
	cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
	memory=$((memory / 1024))
	say "$(printf '%-36s wall %7.2f s, CPU %7.2f s, %5d MiB' "$name" "$wall" "$cpu" "$memory")"
}

# bar NAME SECONDS MIB: compares the last measurement
bar() {
	less "$wall" "$2" || miss "$1 took $wall s, not $2"
	[ "$memory" -le "$3" ] || miss "$1 needed $memory MiB, not $3"
}

ten() {
	local all read
	"$generate" 10.sluice 10000000 64
	measure "10 million activities" "$sluice" report 10.sluice
	bar "10 million activities" 3 300
	key ten_million_s "$wall"
	key ten_million_cpu_s "$cpu"
	key ten_million_mib "$memory"
	all=$wall ten_cpu=$cpu
	cp out expected
	measure "  with one core" taskset -c 0 "$sluice" report 10.sluice
	cmp -s out expected || miss "the report of one core differs"
	key speedup "$(ratio "$wall" "$all")"
	measure "  only read" "$generate" --read 10.sluice
	read=$cpu
	say "  CPU time of the report / of reading: $(ratio "$ten_cpu" "$read")"
	key report_to_read "$(ratio "$ten_cpu" "$read")"
	measure "  as a web page" "$sluice" report --html page.html 10.sluice
	bar "the web page of 10 million activities" 6 300
	[ "$(stat -c %s page.html)" -le 2000000 ] || miss "the web page has $(stat -c %s page.html) bytes, not 2 MB"
	key page_s "$wall"
	key page_bytes "$(stat -c %s page.html)"
	rm 10.sluice page.html
}

hundred() {
	local started rc=0
	if [ -z "${ten_cpu:-}" ]; then
		"$generate" 10.sluice 10000000 64
		measure "10 million activities" "$sluice" report 10.sluice
		ten_cpu=$cpu
		rm 10.sluice
	fi
	"$generate" 100.sluice 100000000 64
	measure "100 million activities" "$sluice" report 100.sluice
	[ "$memory" -le 300 ] || miss "100 million activities needed $memory MiB, not 300"
	less "$(ratio "$cpu" "$ten_cpu")" 12 || miss "100 million activities are not linear"
	key hundred_million_s "$wall"
	key hundred_million_cpu_s "$cpu"
	key hundred_million_mib "$memory"
	key hundred_to_ten "$(ratio "$cpu" "$ten_cpu")"
	started=$EPOCHREALTIME
	timeout --preserve-status -s INT 2 "$sluice" report 100.sluice >out 2>err || rc=$?
	[ $rc = 130 ] || miss "Ctrl-C: exit code $rc, not 130"
	key interrupted_s "$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a - 2 }')"
	rm 100.sluice
}

parts() {
	mkdir job.parts
	for ((i = 0; i < parts; i++)); do
		"$generate" job.parts/$i.sluice $((16 * ranks)) $ranks $((i * ranks)) $((parts * ranks))
	done
	measure "$parts parts of $ranks ranks" "$sluice" report job.parts
	bar "$parts parts" 60 1024
	key parts_s "$wall"
	key parts_cpu_s "$cpu"
	key parts_mib "$memory"
	cp out expected
	measure "  saving them (--part)" "$sluice" report --part job.parts
	key saving_s "$wall"
	measure "  saved profiles" "$sluice" report job.parts
	bar "$parts saved profiles" 60 1024
	key saved_s "$wall"
	cmp -s out expected || miss "the report of saved profiles differs"
	measure "  saved as one profile" "$sluice" report --part -o all.profile job.parts
	measure "  report of that profile" "$sluice" report all.profile
	cmp -s <(grep -v ' show: \| slow calls: ' out) <(grep -v ' show: \| slow calls: ' expected) ||
		miss "the report of the saved job differs"
	key whole_s "$wall"
}

for step in ${REPORT_STEPS:-ten parts}; do
	"$step"
done
finish report
