#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The capture clock follows the kernel's judgment of the CPU's counter: at the start, and when it changes during a run.
# The kernel's clock source is replaced by mounting a file over the one in /sys, for the processes of this test only.
. "$(dirname "$0")/libtorture.sh"

source_path=/sys/devices/system/clocksource/clocksource0/current_clocksource
# with_source NAME COMMAND...: runs the command where the kernel seems to use this clock source
with_source() {
	echo "$1" >"$work/source"
	unshare --mount --propagation private bash -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' mount \
		"$work/source" $source_path "${@:2}"
}
[ -e $source_path ] && with_source hpet true 2>/dev/null || skip mounts
chosen=$("$sluice" doctor --json | python3 -c 'import json, sys
print(next(c["text"] for c in json.load(sys.stdin)["checks"] if c["name"] == "clock"))')

# clock_of TRACE: the name of its clock
clock_of() {
	"$sluice" trace convert --format text "$1" "$work/text" 2>/dev/null
	sed -n -E 's/^#clock\t(.*\t)?source=([a-z0-9_]+).*/\2/p' "$work/text"
	rm -f "$work/text"
}

case_begin "the kernel keeps time with something else"
with_source hpet "$sluice" run -o other.sluice -- "$prog/plain" >out || [ $? = 23 ]
check_eq "$(clock_of other.sluice)" monotonic "$case: clock"
check_words "$(with_source hpet "$sluice" doctor)" hpet clock_gettime
check_words "$(with_source tsc-early "$sluice" doctor)" clock_gettime

# The remaining cases need a counter that the kernel of this machine trusts.
case $chosen in
*counter\ \(*) ;;
*) skip_case tsc "the kernel changes its mind during a run"; exit ;;
esac
case_begin "the kernel keeps time with the counter"
"$sluice" run -o usual.sluice -- "$prog/plain" >out || [ $? = 23 ]
case $(clock_of usual.sluice) in
cntvct_el0 | tsc) ;;
*) wrong "clock is $(clock_of usual.sluice)" ;;
esac

# changing COMMAND...: records a program; while it runs, the command is executed in its namespace
changing() {
	rm -f started go
	unshare --mount --propagation private bash -c '
		"$1" run -o changed.sluice -- sh -c "echo >started; while [ ! -e go ]; do sleep 0.05; done" 2>warnings &
		shift
		while [ ! -e started ]; do sleep 0.05; done
		"$@"
		echo >go
		wait' changing "$sluice" "$@"
}
case_begin "the kernel changes its mind during a run"
echo hpet >source
changing mount --bind source $source_path
check_words "$(cat warnings)" "times" "wrong" "kernel"
check_has "$("$sluice" report changed.sluice)" "times may be wrong" "report"
changing true
check_eq "$(cat warnings)" "" "$case: warnings without a change"

# With a clock that may need system calls, nothing is recorded in a sandbox, where they might be fatal.
grep -q '^Seccomp:' /proc/self/status || { skip_case seccomp "$case"; exit; }
case_begin "a clock that needs system calls, in a sandbox"
run_options=--quiet
both "$prog/sandbox" filter kill prctl
n=$(($(rows 'function == "write" and file == "/dev/null"') + $(lost)))
[ "$n" -ge 20000 ] || wrong "only $n of 20000 writes are recorded or lost with the counter"
[ "$(rows 'function == "write" and file == "/dev/null"')" -gt 0 ] || wrong "nothing is recorded with the counter"
# prog/preload/slow_clock.c takes the vDSO away, as hpet does. The filter of the program forbids the system call.
rc=0
LD_PRELOAD=$prog/slow_clock.so "$sluice" --set capture.clock=monotonic run --quiet -o sealed.sluice -- \
	"$prog/sandbox" filter kill prctl >sealed.out 2>sealed.err || rc=$?
check_eq $rc 159 "$case: exit code" # the program's own forbidden call
check_has "$(cat sealed.out)" "changed 0 times" "$case"
"$sluice" print --csv sealed.sluice >sealed.csv
check_eq "$(grep -c /dev/null sealed.csv)" 1 "$case: calls of the file, of which only the open is recorded"
