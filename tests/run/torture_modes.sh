#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: modes and settings, shells and launchers, programs that cannot be recorded, and a collector that is killed.
# Papers: SIOX-26.
. "$(dirname "$0")/libtorture.sh"

case_begin "counters mode: opens are recorded, other calls are in the totals"
bare "$prog/limits" busy 20000
run_options="--mode counters" captured "$prog/limits" busy 20000
same_code
same_out
same_err
same_files
check_eq "$(lost)" 0 "lost"
check_rows 0 'function in ("pwrite", "pread", "fputs")'
check_rows 1 'function == "open" and file == "file"'
check_eq "$(json_get report.json '["losses"]["counted_calls"] >= 42000')" True "calls counted"
python3 - <<'PYTHON' || wrong "the report's sums are not those of the program"
import json
report = json.load(open("report.json"))
files = {f["file"].split("/")[-1]: f for f in report["files"]}
assert files["file"]["bytes_written"] == 200000 and files["file"]["bytes_read"] == 20000, files["file"]
assert files["stream"]["bytes_written"] == 100000, files["stream"]
PYTHON

case_begin "mode off"
run_options="--mode off" captured "$prog/limits" busy 1000
check_eq "$captured_rc" 0 "exit code"
check_rows 0 True

case_begin "SLUICE_DISABLE=1"
captured env SLUICE_DISABLE=1 "$prog/limits" busy 1000
check_eq "$captured_rc" 0 "exit code"
check_rows 0 'function == "pwrite"'
check_rc 0 env SLUICE_DISABLE=1 "$sluice" run -o "$work/none" -- true
[ ! -e none ] || wrong "there is a trace"
captured env SLUICE_DISABLE=0 "$prog/limits" busy 1000
check_rows 1000 'function == "pwrite"'

case_begin "capture.skip"
export SLUICE_CAPTURE_SKIP="cat, limits"
captured sh -c "echo x >a; cat a; '$prog/limits' busy 100"
unset SLUICE_CAPTURE_SKIP
check_eq "$captured_rc" 0 "exit code"
check_rows 0 'function == "pwrite"'
check_least 1 'function == "write" and file == "a"'

case_begin "capture.clock=monotonic"
export SLUICE_CAPTURE_CLOCK=monotonic
both "$prog/forks" plain
check_sound
check_rows 0 'duration_ns > 60e9'
both "$prog/signals" fork_in_read 5
check_rows 50 'function == "write" and p == 0'
both "$prog/threads" sixteen 500
check_sound
unset SLUICE_CAPTURE_CLOCK

case_begin "shells, pipelines and nested shells"
both sh -c 'echo one | cat | sh -c "cat; sh -c \"echo two; exit 3\""; echo $?; (echo three >f; cat f) | sort | uniq; exit 4'
check_sound
check_eq "$captured_rc" 4 "exit code"
check_least 1 'function == "write" and file == "f"'
both bash -c 'x=$(echo a; echo b >&2); echo $x; for i in 1 2 3; do echo $i; done | while read l; do echo "<$l>"; done; wait; exit 6'
check_sound

case_begin "env -i: the children run without capture"
unrecorded=1
both env -i /bin/sh -c 'echo bare; echo x >g; exit 7'
check_rows 0 'file == "g"'

case_begin "the program clears its environment"
unrecorded=1
both "$prog/limits" no_env
check_sound
check_rows 1 'function == "write" and file == "file"'
check_rows 1 'function == "write" and file == "child" and p == 1'

case_begin "a static program: a warning comes first, it runs, and its exit code is kept"
bare "$prog/static" hello
captured "$prog/static" hello
same_code
same_out
same_files
check_has "$(cat captured.err)" "statically linked" "stderr"
check_rows 0 True
run_options=--quiet captured "$prog/static" hello
same_err

case_begin "the program is missing, or is not executable"
check_rc 127 "$sluice" run -o "$work/none" -- nonexistent-program
check_words "$(cat err)" nonexistent-program "not found"
check_rc 126 "$sluice" run -o "$work/none" -- /etc/passwd
check_words "$(cat err)" /etc/passwd
[ ! -e none ] || wrong "there is a trace"
printf 'echo from a script without a first line\nexit 9\n' >script
chmod 755 script
check_rc 9 "$sluice" run -o "$work/none" -- ./script
check_eq "$(cat out)" "from a script without a first line" "stdout"
spools_gone

case_begin "calls by a linker's name are shown by the name in the program's source"
imports=$(nm -D --undefined-only "$prog/fortified")
both "$prog/fortified"
check_sound
for name in read pread fread fgets readlink recv fscanf fprintf; do
	grep -qE " __(${name}_chk|isoc[0-9]+_$name)" <<<"$imports" || wrong "does not import a variant of $name: $imports"
	check_least 1 "function == '$name' and error == 0"
done
grep -qE " __open(64)?_2" <<<"$imports" || wrong "does not import __open_2: $imports"
check_rows 2 'function in ("open", "open64") and file == "file"'
check_rows 0 'function.startswith("_")'

case_begin "an overflow that the fortified program detects is still detected"
both "$prog/fortified" overflow
check_eq "$captured_rc" 134 "exit code"

case_begin "sluice run within sluice run"
captured "$sluice" run -o "$work/inner" -- "$prog/plain"
check_eq "$captured_rc" 23 "exit code"
check_least 1 'True'
mv "$work/inner" "$work/trace"
trace_read
check_rows 1 'function == "write" and file == "plain.file"'
