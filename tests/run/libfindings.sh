# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of findings; to be sourced after libtest.sh and libmpi.sh.
#
# Rules that depend on times must not fire on a loaded machine unless the test forces them, so the minimum time is an
# hour, and what other programs read from the devices of the node is not sampled. A machine with few processors has the
# finding "oversubscribed" in parallel runs; it is ignored unless asked for.
export SLUICE_FINDINGS_MIN_TIME=1h SLUICE_STATS_PERIOD=0
ignored=oversubscribed
# Options of `sluice run` in expect().
run_options=()

# is_disk: is the directory of the test on a block device?
is_disk() {
	[[ $(df --output=source . | tail -n 1) == /dev/* ]]
}

# codes [RUN]: the codes of the findings, sorted, in one line
codes() {
	"$sluice" report --json "${1:-trace}" >report.json || fail "the report fails"
	python3 -c 'import json, sys
print(*sorted(f["code"] for f in json.load(open("report.json"))["findings"] if f["code"] != sys.argv[1]))' "$ignored"
}

# finding CODE FIELD: a field of this finding in the last report
finding() {
	python3 -c 'import json, sys
print(*[f[sys.argv[2]] for f in json.load(open("report.json"))["findings"] if f["code"] == sys.argv[1]])' "$1" "$2"
}

# expect CODES COMMAND...: records the command and compares the codes of its findings
expect() {
	local expected=$1 found
	shift
	rm -rf data trace && mkdir data
	timeout "$limit" "$sluice" run "${run_options[@]}" -o trace -- "$@" >out 2>err || fail "\"$*\" fails: $(tail -60 err)"
	found=$(codes)
	[ "$found" = "$expected" ] || {
		"$sluice" report --findings trace >&2
		fail "findings of \"$*\" are \"$found\", expected \"$expected\""
	}
	checked=$((${checked:-0} + 1))
}

# inspect: executes the commands that the findings of the last report offer to see more
inspect() {
	local command
	python3 -c 'import json
for f in json.load(open("report.json"))["findings"]:
    for x in f["fixes"]:
        if x["kind"] == "inspect":
            print(x["text"])' >commands
	[ -s commands ] || fail "there is no command"
	while IFS= read -r command; do
		PATH=$BUILD:$PATH bash -c "$command" >out 2>err </dev/null || fail "$command: exit code $?: $(tail -60 err)"
		[ -s out ] || fail "$command shows nothing"
	done <commands
}
