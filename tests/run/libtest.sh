# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests that drive the real command; to be sourced first. BUILD names the build tree.
# Each test gets a directory of its own as $work and current directory, where traces go as well, and which
# is removed at the end; the settings of the user and the machine do not reach it.
set -eu
: "${BUILD:?names the build tree}"
sluice=$BUILD/sluice
prog=$BUILD/prog
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-test.XXXXXX")
trap 'cd /; rm -rf "$work"' EXIT
cd "$work"

for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
unset LD_PRELOAD NO_COLOR
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_DATA_HOME=$work/home/.local/share
export SLUICE_ETC=$work/etc.conf SLUICE_TRACE_DIR=$work/runs LC_ALL=C
# What a test records must not depend on how busy the machine is.
export SLUICE_OVERHEAD_BUDGET=0
mkdir -p "$HOME" "$XDG_CONFIG_HOME/sluice"

# Tells what failed and where, and ends the test.
fail() {
	echo "${BASH_SOURCE[-1]}:${BASH_LINENO[-2]}: $*" >&2
	exit 1
}

# check_eq ACTUAL EXPECTED [WHAT]
check_eq() {
	[ "$1" = "$2" ] || fail "${3:-value} is \"$1\", expected \"$2\""
}

# check_has TEXT PART [WHAT]
check_has() {
	case $1 in
	*"$2"*) ;;
	*) fail "${3:-text} lacks \"$2\": $1" ;;
	esac
}

# check_rc EXPECTED COMMAND...: output goes to $work/out and $work/err
check_rc() {
	local expected=$1 rc=0
	shift
	"$@" >"$work/out" 2>"$work/err" || rc=$?
	[ "$rc" = "$expected" ] || fail "exit code of \"$*\" is $rc, expected $expected: $(cat "$work/err")"
}

# check_json FILE SCHEMA
check_json() {
	python3 -m json.tool "$1" >/dev/null || fail "$1 is not valid JSON"
	check_eq "$(json_get "$1" '["schema"]')" "$2" "schema of $1"
}

# json_get FILE EXPRESSION: json_get x '["runs"][0]["path"]'
json_get() {
	python3 -c 'import json, sys
print(eval("d" + sys.argv[2], {"d": json.load(open(sys.argv[1])), "len": len}))' "$1" "$2"
}

# skip REASON: ends the test as passed, saying why
skip() {
	echo "skipped: $*"
	exit 0
}
