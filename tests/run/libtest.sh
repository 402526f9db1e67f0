# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of the real command; to be sourced first. BUILD names the build tree.
# Each test gets a directory of its own, $work, which is the current directory, receives the traces and is removed at
# the end. Settings of the user and of the machine do not affect the test.
set -eu
# In the background, shells and nohup start commands with some signals ignored, and bash cannot undo that.
if ((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status) & 7)); then
	exec env --default-signal=HUP,INT,QUIT "$BASH" "$0" "$@"
fi
: "${BUILD:?names the build tree}"
sluice=$BUILD/sluice
prog=$BUILD/prog
# Time limits only catch commands that hang: a loaded machine may be many times slower than a quiet one. limit is in
# seconds; polls is the number of rounds of a loop that waits for something and sleeps 0.05 s in each round.
limit=${TEST_LIMIT:-600}
polls=$((limit * 10))
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-test.XXXXXX")
cd "$work"
. "$(dirname "${BASH_SOURCE[0]}")/../libskip.sh"

# at_exit COMMAND: runs the command when the test ends, before the commands of earlier calls
exit_commands='rm -rf "$work"'
at_exit() {
	exit_commands="$1; $exit_commands"
}

# What helps to explain a failure; a test may define it.
state() {
	:
}

# A test that has skipped a case is reported as skipped, not as passed.
finish() {
	local code=$?
	set +e
	cd /
	[ $code = 0 ] || [ $code = 77 ] || state >&2
	if [ -e "$work/.skipped" ]; then
		sort -u "$work/.skipped"
		[ $code != 0 ] || code=77
	fi
	eval "$exit_commands"
	exit $code
}
trap finish EXIT

# Set by `make check-long`: a test that can do more does it.
long=${SLUICE_LONG:-}
for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
unset LD_PRELOAD NO_COLOR COLUMNS
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_DATA_HOME=$work/home/.local/share
export SLUICE_ETC=$work/etc.conf SLUICE_TRACE_DIR=$work/runs LC_ALL=C
# The records of a test must not depend on the load of the machine.
export SLUICE_OVERHEAD_BUDGET=0
# Standard error has only what the program and `sluice run` complain about, not the path of the trace.
export SLUICE_RUN_SUMMARY=no
mkdir -p "$HOME" "$XDG_CONFIG_HOME/sluice"

# fail TEXT: prints what failed and where, and ends the test
fail() {
	echo "${BASH_SOURCE[-1]}:${BASH_LINENO[-2]}: $*" >&2
	exit 1
}

# wait_for WHAT COMMAND...: waits until the command succeeds
wait_for() {
	local what=$1 try
	shift
	for try in $(seq $polls); do
		"$@" && return
		sleep 0.05
	done
	fail "no $what"
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

# check_words TEXT WORD...: the text contains each of the key words, in any order, and not as parts of longer words. This
# checks a message without fixing its wording.
check_words() {
	local text=$1 word left right
	shift
	for word; do
		left='[!A-Za-z0-9_]' right=$left
		[[ $word == [A-Za-z0-9_]* ]] || left=
		[[ $word == *[A-Za-z0-9_] ]] || right=
		case " $text " in
		*$left"$word"$right*) ;;
		*) fail "key word \"$word\" is missing: $text" ;;
		esac
	done
}

# check_line FILE WORD...: one line of the file contains each of the key words, as in check_words
check_line() {
	local file=$1 line
	shift
	while IFS= read -r line; do
		(check_words "$line" "$@") 2>/dev/null && return
	done <"$file"
	fail "no line has the key words \"$*\": $(cat "$file")"
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

# recorder_of PID: waits for the recorder of a `sluice run` and prints its pid; prints nothing if the run has ended
recorder_of() {
	local try pid
	for try in $(seq $polls); do
		pid=$(pgrep -P "$1" -x sluice-recorder) && echo "$pid" && return
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
}

# skip_case NEED [CASE]: notes that one case of the test cannot run here, and continues; also works in a subshell. NEED is
# that of libskip.sh.
skip_case() {
	skip_note "$@" >>"$work/.skipped"
}
