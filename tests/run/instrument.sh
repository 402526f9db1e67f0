#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Explicit instrumentation (sluice/instrument.h) from C, Fortran and Python: without Sluice it has no effect; under
# `sluice run` activities and phases are in the trace, in the report, in plots and in exports; wrong use harms nothing.
# Papers: SIOX-16.
. "$(dirname "$0")/libtest.sh"

# recorded COMMAND...: runs it; trace and report.json
recorded() {
	rm -rf trace
	check_rc 0 timeout -k 5 "$limit" "$sluice" run -o trace -- "$@"
	"$sluice" report --json trace >report.json
	"$sluice" report trace >report.txt
	! grep -q incomplete report.txt || fail "$(cat report.txt)"
}

# mark LIST NAME FIELD: a field of an activity or a phase
mark() {
	python3 - "$@" <<'END'
import json, sys
rows = [r for r in json.load(open("report.json"))[sys.argv[1]] if r["name"] == sys.argv[2]]
print(rows[0][sys.argv[3]] if len(rows) == 1 else "%d rows" % len(rows))
END
}

# Programs run bare, and the same under Sluice.
for case in "" steps threads forks misuse busy; do
	check_rc 0 "$prog/instrument" $case
	cp out bare
	recorded "$prog/instrument" $case
	check_eq "$(sed s/1/0/ out)" "$(cat bare)" "output of case '$case'"
done
check_eq "$("$prog/instrument")" "present 0"
check_eq "$("$sluice" run -- "$prog/instrument")" "present 1"

# Activities and phases are in the report with the I/O in them.
recorded "$prog/instrument" steps
check_eq "$(mark activities checkpoint/write count)" 3
check_eq "$(mark activities checkpoint/write errors)" 1
check_eq "$(mark activities checkpoint/write data_bytes)" 24576
check_eq "$(mark activities checkpoint/write bytes_written)" $((3 * (8192 + 1024)))
check_eq "$(mark activities checkpoint/fields bytes_written)" $((3 * 8192))
check_eq "$(mark activities nothing bytes_written)" 0
check_eq "$(mark phases "read input" bytes_written)" 4096
check_eq "$(mark phases solve bytes_written)" $((3 * (8192 + 1024) + 2048))
check_words "$(cat report.txt)" "By phase of the program" "By activity of the program" checkpoint/write Application

# The I/O of the run is the same as without activities.
check_eq "$(json_get report.json '["io"]["bytes_written"]')" $((4096 + 3 * (8192 + 1024) + 2048))
check_eq "$(json_get report.json '["io"]["calls"]')" "$(json_get report.json '["storage"]["calls"]')"

# Calls are children of the activity that causes them.
"$sluice" trace export trace stacks.folded >/dev/null 2>&1
check_has "$(cat stacks.folded)" "instrument;checkpoint/write;checkpoint/fields;write"
"$sluice" print trace >printed
check_words "$(grep ' activity(' printed | head -1)" '"checkpoint/'
check_has "$(cat printed)" 'format=raw?=?;ranks=-1'

# Pictures and exports show activities and phases.
"$sluice" plot bandwidth trace -o plot.svg >/dev/null
check_words "$(cat plot.svg)" "phases of the program" "read input"
"$sluice" plot bandwidth trace -o plot.csv >/dev/null
check_has "$(cat plot.csv)" ",phase read input,"
"$sluice" plot causes trace -o causes.svg >/dev/null
check_has "$(cat causes.svg)" checkpoint/write
rm -f events.json
"$sluice" trace export --format perfetto trace events.json >/dev/null 2>&1
python3 - <<'END' || fail "events"
import json
events = json.load(open("events.json"))["traceEvents"]
phases = [e["name"] for e in events if e.get("cat") == "phase"]
assert phases == ["read input", "solve"], phases
parts = [e for e in events if e["name"] == "checkpoint/fields"]
assert len(parts) == 3 and all("cause" in e["args"] for e in parts), parts
END
"$sluice" report --html page.html trace >/dev/null 2>&1
check_has "$(cat page.html)" checkpoint/write

# Formats keep activities, and a saved profile is the same.
"$sluice" trace convert trace converted.txt >/dev/null 2>&1
"$sluice" report --json converted.txt >converted.json
check_eq "$(json_get converted.json '["activities"]')" "$(json_get report.json '["activities"]')"
check_eq "$(json_get converted.json '["phases"]')" "$(json_get report.json '["phases"]')"

# Threads: a link names the cause, and an end in another thread is ignored.
recorded "$prog/instrument" threads
check_eq "$(mark activities producer/make bytes_written)" 1024
check_eq "$(mark activities consumer/store bytes_written)" 1024
check_eq "$(mark instrumentation_misuse "the end of an activity that is not open in the thread" count)" 1
rm -f events.json
"$sluice" trace export --format perfetto trace events.json >/dev/null 2>&1
check_has "$(cat events.json)" '"cat": "cause"'

# A forked child starts without open activities.
recorded "$prog/instrument" forks
check_eq "$(mark activities child count)" 2
check_eq "$(mark activities child bytes_written)" 2048
check_eq "$(mark activities "around fork" count)" 1
check_eq "$(mark activities "around fork" bytes_written)" 1024

# Wrong use is ignored and reported.
recorded "$prog/instrument" misuse
check_words "$(cat report.txt)" sluice/instrument.h wrongly
check_eq "$(mark activities deep count)" 16
check_eq "$(mark activities "never ended" errors)" 1
check_eq "$(mark activities "never ended" bytes_written)" 1024

# Signal handlers and many activities.
recorded "$prog/instrument" busy
check_eq "$(mark activities loop count)" 200000
# A handler that interrupts a call before its start is known hides the cause of that call.
written=$(mark activities loop bytes_written)
hidden=$(mark activities "in handler" count)
((written >= 200000 - hidden && written <= 200000)) || fail "bytes of the loop: $written, calls of the handler: $hidden"

# Programs linked in other ways find the functions.
printf '#include <sluice/instrument.h>\n#include <stdio.h>\nint main(void) { sluice_phase("p"); return printf("%%d", sluice_is_present()) != 1; }\n' >tiny.c
for flags in "" "-O2" "-no-pie -fno-pie" "-O2 -no-pie -fno-pie" "-fno-plt" "-std=c99 -pedantic -Wall -Wextra -Werror"; do
	"$CC" -I"$SOURCE/include" $flags tiny.c -o tiny
	check_eq "$(./tiny)" 0 "bare with $flags"
	check_eq "$("$sluice" run -- ./tiny)" 1 "recorded with $flags"
done
# The search for the functions is over before main(), since a first call from a signal handler must not allocate memory;
# it leaves no error of dlsym().
cat >early.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sluice/instrument.h>
#include <stdio.h>
static int main_runs, searches;
void *dlsym(void *restrict handle, const char *restrict name)
{
	searches += main_runs;
	return dlvsym(handle, name, "NONE");
}
int main(void)
{
	main_runs = 1;
	sluice_end(sluice_begin(0, "first"));
	printf("%d %s\n", searches, dlerror() ? "error" : "none");
	return 0;
}
END
for flags in "" "-no-pie -fno-pie"; do
	"$CC" -I"$SOURCE/include" $flags early.c -o early
	check_eq "$(./early)" "0 none" "searches in main() with $flags"
done
"$CC" -I"$SOURCE/include" -DSLUICE_INSTRUMENT_OFF tiny.c -o tiny
check_eq "$("$sluice" run -- ./tiny)" 0 "switched off"
if "$CC" -I"$SOURCE/include" tiny.c @"$BUILD/sluice-link.flags" "$BUILD/libsluice-link.a" -static -o tiny 2>/dev/null; then
	check_eq "$("$sluice" run -- ./tiny)" 1 "linked statically"
fi

# Modes without a trace.
for mode in counters flight off; do
	check_rc 0 timeout "$limit" "$sluice" run --mode $mode -o other -- "$prog/instrument" steps
	rm -rf other
done
check_rc 0 env SLUICE_DISABLE=1 "$sluice" run -- "$prog/instrument" steps

# Answers: parameters of the run, for all files and for some.
printf '{"schema": "sluice.params/1", "parameters": [{"name": "cb_nodes", "value": 4},
 {"name": "cb_nodes", "value": 2, "file": "*.h5"}]}' >params.json
check_rc 0 "$sluice" run --params params.json -- "$prog/instrument" ask none cb_nodes out.dat
check_has "$(cat out)" "best 1 4"
check_rc 0 "$sluice" run --params params.json -- "$prog/instrument" ask none cb_nodes /data/out.h5
check_has "$(cat out)" "best 1 2"
check_rc 0 "$sluice" run --params params.json -- "$prog/instrument" ask none cb_buffer_size x
check_has "$(cat out)" "best 0 none"
check_has "$(cat out)" "target 0 unchanged"

if command -v gfortran >/dev/null; then
	# Fortran.
	gfortran -J. -Wall -Werror -Wno-tabs -o fortran "$SOURCE/bindings/fortran/sluice.f90" "$SOURCE/tests/prog/fortran/instrument.f90"
	check_rc 0 ./fortran
	check_words "$(cat out)" "present F" "advised 1000000"
	recorded ./fortran
	check_has "$(cat out)" "present T"
	check_eq "$(mark activities checkpoint/write count)" 3
	check_eq "$(mark activities checkpoint/write errors)" 1
	check_eq "$(mark activities checkpoint/fields bytes_written)" $((3 * 8192))
	check_eq "$(mark phases "read input" bytes_written)" 4096
else
	skip_case gfortran
fi

# Python.
cat >program.py <<'END'
import os, sluice
sluice.phase("read input")
open("input", "wb").write(b"x" * 4096)
sluice.phase("solve")
for step in range(3):
    with sluice.activity("write", component="checkpoint", step=step, data_bytes=8192, format="raw") as write:
        with sluice.activity("fields", component="checkpoint", cause=write):
            open("fields", "wb").write(b"x" * 8192)
try:
    with sluice.activity("fails"):
        raise ValueError
except ValueError:
    pass
write.end()
print(sluice.is_present(), sluice.target("none"), sluice.targets(), sluice.best("cb_nodes"))
END
export PYTHONPATH=$SOURCE/bindings/python PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
[ -x $python ] || python=python3
check_rc 0 $python program.py
check_eq "$(cat out)" "False None [] None"
recorded $python program.py
check_eq "$(cat out)" "True None [] None"
check_eq "$(mark activities checkpoint/write count)" 3
check_eq "$(mark activities checkpoint/write data_bytes)" 24576
check_eq "$(mark activities checkpoint/fields bytes_written)" $((3 * 8192))
check_eq "$(mark activities fails errors)" 1
check_eq "$(mark instrumentation_misuse "the end of an activity that is not open in the thread" count)" 1
