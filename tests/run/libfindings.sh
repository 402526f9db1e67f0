# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of findings; to be sourced after libtest.sh and libmpi.sh.
#
# Rules that depend on times must not fire on a loaded machine unless the test forces them, so the minimum time is an
# hour. A machine with few processors has the finding "oversubscribed" in parallel runs; it is ignored unless asked for.
export SLUICE_FINDINGS_MIN_TIME=1h
ignored=oversubscribed

# codes [RUN]: the codes of the findings, sorted, in one line
codes() {
	"$sluice" report --json "${1:-trace}" >report.json || fail "the report fails"
	python3 -c 'import json, sys
print(*sorted(f["code"] for f in json.load(open("report.json"))["findings"] if f["code"] != sys.argv[1]))' "$ignored"
}

# expect CODES COMMAND...: records the command and compares the codes of its findings
expect() {
	local expected=$1 found
	shift
	rm -rf data trace && mkdir data
	timeout "$limit" "$sluice" run -o trace -- "$@" >out 2>err || fail "\"$*\" fails: $(tail -3 err)"
	found=$(codes)
	[ "$found" = "$expected" ] || {
		"$sluice" report --findings trace >&2
		fail "findings of \"$*\" are \"$found\", expected \"$expected\""
	}
	checked=$((${checked:-0} + 1))
}

# fixed CODE KIND: runs the commands of this kind that the finding of the last report offers. Each must be accepted, and the
# finding must disappear.
fixed() {
	local code=$1 fix
	python3 - "$code" >fixes <<'END'
import json, sys
for f in json.load(open("report.json"))["findings"]:
    if f["code"] == sys.argv[1]:
        for x in f["fixes"]:
            if x["kind"] == "sluice":
                print(x["text"])
END
	[ -s fixes ] || fail "$code offers no command"
	while IFS= read -r fix; do
		rm -rf data && mkdir data
		PATH=$BUILD:$PATH timeout "$limit" bash -c "${fix/ run / run -o fixed }" >out 2>err </dev/null ||
			fail "$fix: exit code $?: $(tail -3 err)"
		! grep -q "not applied" err || fail "$fix: $(cat err)"
		case " $(codes fixed) " in
		*" $code "*) fail "$code is still there after $fix: $("$sluice" report --findings fixed)" ;;
		esac
	done <fixes
}
