# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers of the torture tests and of the tests with real programs; sources libtest.sh.
# Every run has a spool directory of its own, so that a test can see whether it leaves files behind.
. "$(dirname "${BASH_SOURCE[0]}")/libtest.sh"

python=/usr/bin/python3
[ -x "$python" ] || python=python3
shm=/dev/shm
[ -w "$shm" ] || shm=${TMPDIR:-/tmp}
spools=$(mktemp -d "$shm/sluice-torture.XXXXXX")
at_exit 'rm -rf "$spools"'
export SLUICE_SPOOL_DIR=$spools
case=start
unrecorded=

# case_begin TEXT: names the case, for messages
case_begin() {
	case=$*
	unrecorded=
}

# case_on_hardware TEXT: begins a case that emulators do not support. Under one (tests/amd64) it fails, and the case
# counts as skipped.
case_on_hardware() {
	case_begin "$@"
	[ -n "${EMULATED:-}" ] || return 0
	skip_case hardware "$case"
	return 1
}

wrong() {
	echo "${BASH_SOURCE[-1]}: case \"$case\": $*" >&2
	exit 1
}

# spools_gone: no run has left a spool directory
spools_gone() {
	local left
	left=$(ls "$spools")
	[ -z "$left" ] || wrong "left behind in $spools: $left"
}

# trace_read: writes the rows of the trace to rows.csv and its report to report.json
trace_read() {
	"$sluice" print --csv "$work/trace" >"$work/rows.csv" 2>"$work/print.err" ||
		wrong "cannot read the trace: $(cat "$work/print.err")"
	"$sluice" report --json "$work/trace" >"$work/report.json" 2>/dev/null ||
		wrong "sluice report fails"
}

# Runs without and with capture both happen in $work/here, so that paths are the same. Their files are moved to
# $work/bare and $work/captured. run_as is a command that runs its arguments, for example as the user who owns $work.
run_as=()
# bare COMMAND...: runs the command without capture
bare() {
	rm -rf "$work/bare"
	mkdir "$work/here"
	chown --reference="$work" "$work/here"
	bare_rc=0
	(cd "$work/here" && exec timeout -k 5 "$limit" "${run_as[@]}" "$@") \
		</dev/null >"$work/bare.out" 2>"$work/bare.err" || bare_rc=$?
	mv "$work/here" "$work/bare"
	[ "$bare_rc" != 124 ] || wrong "\"$*\" hangs even without capture"
}

# captured COMMAND...: runs the command under `sluice run` with $run_options, and reads the trace
run_options=
captured() {
	# shellcheck disable=SC2086
	observed "$sluice" run $run_options -o "$work/trace" -- "$@"
}

# observed COMMAND...: the same, for a command that calls `sluice run -o $work/trace` itself
observed() {
	rm -rf "$work/captured" "$work/trace"
	mkdir "$work/here"
	chown --reference="$work" "$work/here"
	captured_rc=0
	(cd "$work/here" && exec timeout -k 5 "$limit" "${run_as[@]}" "$@") \
		</dev/null >"$work/captured.out" 2>"$work/captured.err" || captured_rc=$?
	mv "$work/here" "$work/captured"
	[ "$captured_rc" != 124 ] || wrong "\"$*\" hangs under capture"
	spools_gone
	trace_read
}

# same_code, same_out, same_err, same_files: the two runs do not differ
same_code() {
	[ "$bare_rc" = "$captured_rc" ] || wrong "exit code is $captured_rc, without capture $bare_rc"
}
same_out() {
	diff "$work/bare.out" "$work/captured.out" >"$work/diff" || wrong "stdout differs: $(head -20 "$work/diff")"
}
# The warning about processes that could not be recorded is expected if unrecorded is set to their number.
same_err() {
	# From the emulator, also for timeout, which ends by the signal of its command.
	[ -z "${EMULATED:-}" ] || sed -i '/^qemu: uncaught target signal/d' "$work/bare.err" "$work/captured.err"
	if [ -n "$unrecorded" ]; then
		grep -q "^sluice run: warning: $unrecorded process.* could not be recorded" "$work/captured.err" ||
			wrong "no warning of $unrecorded unrecorded processes: $(cat "$work/captured.err")"
		sed -i '/^sluice run: warning: .* could not be recorded/d' "$work/captured.err"
	fi
	diff "$work/bare.err" "$work/captured.err" >"$work/diff" || wrong "stderr differs: $(head -20 "$work/diff")"
}
same_files() {
	diff -r --no-dereference "$work/bare" "$work/captured" >"$work/diff" || wrong "files differ: $(head -20 "$work/diff")"
}

# both COMMAND...: runs the command without and with capture; the runs do not differ
both() {
	bare "$@"
	captured "$@"
	same_code
	same_out
	same_err
	same_files
}

# rows EXPRESSION: the number of rows of the trace for which the expression is true. Names are columns; file is relative
# to the directory of the run; p, t and n are the parts of the id; of(relation) is the row that a relation names.
rows() {
	python3 "$work/rows.py" "$work" count "$1"
}

# check_rows NUMBER EXPRESSION
check_rows() {
	local n
	n=$(rows "$2")
	[ "$n" = "$1" ] || wrong "$n rows with $2, expected $1:
$(cut -d, -f3,5,6,8,10- "$work/rows.csv" | head -15)"
}

# check_least NUMBER EXPRESSION: at least NUMBER rows
check_least() {
	local n
	n=$(rows "$2")
	[ "$n" -ge "$1" ] || wrong "$n rows with $2, expected $1 or more"
}

# lost: the number of lost activities
lost() {
	json_get "$work/report.json" '["losses"]["activities"]'
}

# check_sound [MISSING]: every id is unique, no number is missing in any thread, and every reference leads to a row.
# Numbers of a forked process may start anywhere, and MISSING numbers may be missing.
check_sound() {
	local n
	n=$(lost)
	[ "$n" = 0 ] || wrong "$n activities were lost"
	python3 "$work/rows.py" "$work" sound "$@" >"$work/sound" 2>&1 || wrong "$(cat "$work/sound")"
}

# need_root: skips the rest of the test unless root runs it
need_root() {
	[ "$(id -u)" = 0 ] || skip root "$case"
}

cat >"$work/rows.py" <<'PYTHON'
import csv, functools, re, sys

@functools.lru_cache(1 << 16)
def parse(text):
    m = re.fullmatch(r"ID(?:(\d+):)?(?:(\d+)\.)?(\d+)", text)
    return (int(m[1] or 0), int(m[2] or 0), int(m[3]))

NUMBERS = ("start_ns", "duration_ns", "process", "thread", "error", "result", "size", "offset", "handle", "flags",
           "mode")

def read(work, wanted=NUMBERS):
    here = (work + "/captured/", work + "/here/")
    wanted = [key for key in NUMBERS if key in wanted]
    for row in csv.DictReader(open(work + "/rows.csv", errors="surrogateescape")):
        for key in wanted:
            row[key] = int(row[key]) if row[key] else None
        for key in ("file", "file2"):
            for prefix in here:
                if row[key].startswith(prefix):
                    row[key] = row[key][len(prefix):]
        row["p"], row["t"], row["n"] = parse(row["id"])
        yield row

def count(work, expression):
    code = compile(expression, "expression", "eval")
    wanted = re.findall(r"\w+", expression)
    rows = list(read(work, wanted)) if "of(" in expression else read(work, wanted)
    table = {r["id"]: r for r in rows} if "of(" in expression else {}
    print(sum(bool(eval(code, {"of": lambda i: table.get(i, {})}, row)) for row in rows))

def sound(work, missing=0):
    seen, threads, forked = set(), {}, set()
    bad = []
    rows = list(read(work, ("start_ns", "duration_ns")))
    for row in rows:
        key = (row["p"], row["t"], row["n"])
        if key in seen:
            bad.append("%s is there twice" % row["id"])
        seen.add(key)
        threads.setdefault(key[:2], []).append(key[2])
    for row in rows:
        for column in ("cause", "relation", "relation2"):
            if row[column] and parse(row[column]) not in seen and not int(missing):
                bad.append("%s of %s is not there: %s" % (column, row["id"], row[column]))
        if row["duration_ns"] < 0 or row["start_ns"] < 0 or row["duration_ns"] > 600e9:
            bad.append("%s: time %d+%d" % (row["id"], row["start_ns"], row["duration_ns"]))
    gaps = 0
    for (process, thread), numbers in threads.items():
        gaps += max(numbers) - min(numbers) + 1 - len(numbers)
        if process == 0:
            gaps += min(numbers) - 1
    if gaps > int(missing):
        bad.append("%d numbers are missing" % gaps)
    for line in bad[:20]:
        print(line)
    return len(bad) > 0

if sys.argv[2] == "count":
    count(sys.argv[1], sys.argv[3])
else:
    sys.exit(sound(sys.argv[1], *sys.argv[3:]))
PYTHON

# tree_list DIRECTORY: types, modes, sizes and link targets of a tree; same_files compares contents
tree_list() {
	(cd "$1" && find . \( -type f -printf '%P %y %m %s %n\n' \) -o -printf '%P %y %m %l\n' | LC_ALL=C sort)
}

# program NAME ROWS SCRIPT...: runs a shell script without and with capture. The runs do not differ, and the trace has at
# least ROWS rows and no losses.
program() {
	local least=$2 n
	case_begin "$1"
	shift 2
	printf '%s\n' "$@" >script.sh
	bare sh -eu "$work/script.sh"
	captured sh -eu "$work/script.sh"
	[ "$bare_rc" = 0 ] || wrong "the script fails even without capture: $(head -20 bare.err)"
	same_code
	same_out
	same_err
	same_files
	tree_list bare >bare.tree
	tree_list captured >captured.tree
	diff bare.tree captured.tree >diff || wrong "trees differ: $(head -20 diff)"
	check_eq "$(lost)" 0 "lost"
	n=$(($(wc -l <rows.csv) - 1))
	[ "$n" -ge "$least" ] || wrong "only $n activities, expected $least or more"
	check_eq "$n" "$(json_get report.json '["run"]["activities"]')" "rows that print shows"
	check_eq "$(json_get report.json '["complete"]')" True "complete"
}
