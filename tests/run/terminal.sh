#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What users see on narrow terminals, without color and in logs, and the exit codes after signals: for all commands.
. "$(dirname "$0")/libtest.sh"

# check_width FILE WHAT: no line is longer than 60 columns. Commands to copy and long words such as paths are not broken.
check_width() {
	local wide
	wide=$(awk 'length > 60 && !/^ *(more +)?sluice / { for (i = 1; i <= NF; i++) if (length($i) > 35) next; print }' "$1")
	check_eq "$wide" "" "lines of more than 60 columns of \"$2\""
}

export SLUICE_STORE_PATH=$work/store.db
head -c 20000 /dev/zero >a-file-with-a-rather-long-name-that-does-not-fit
"$sluice" run -q -o a.sluice -- cp a-file-with-a-rather-long-name-that-does-not-fit another-file-whose-name-is-long-as-well
"$sluice" run -q -- cp a-file-with-a-rather-long-name-that-does-not-fit again
"$sluice" tune --simulate hopper --runs 4 --no-ablation >/dev/null
# A program that runs for some time has node statistics.
echo 'cat a.sluice >slow; sleep 3; cat a.sluice >>slow' >slowly
"$sluice" run -q -o slow.sluice -- sh slowly
"$sluice" report slow.sluice | grep -q "^Node statistics" || fail "no node statistics: $("$sluice" report slow.sluice)"

# The commands, one per line; they end with 0. Groups and commands that print no text of their own are missing: `rm`
# without a run, `internal`, and those that measure the machine.
while read -r words; do
	# shellcheck disable=SC2086 # the words are arguments
	COLUMNS=60 check_rc 0 "$sluice" $words
	check_width out "$words"
	check_width err "$words"
	! grep -q $'\033' out err || fail "\"$words\" uses escape sequences although this is not a terminal"
done <<'COMMANDS'
run --summary -o b.sluice -- cp a.sluice copy
report
report --all
report --by-rank
report slow.sluice
print
print --tree
ls
compare a.sluice b.sluice
trace convert a.sluice a.db
trace merge --force -o merged.sluice a.sluice b.sluice
trace path
tune --simulate hopper --runs 4 --no-ablation
tune --simulate hopper --dry-run
kb list
kb show 1
kb tunings
kb tunings 1
kb params list
config show
config store
doctor
doctor --coverage
model counts -n 4 -s 1M
help
version
lab learn show
COMMANDS

# The help of every command fits, too. Examples are commands to copy.
"$sluice" help --json >help.json
names() {
	python3 - "$@" <<'PYTHON'
import json
def walk(commands, prefix):
    for c in commands:
        print((prefix + " " + c["name"]).strip())
        walk(c.get("subcommands") or c.get("commands") or [], (prefix + " " + c["name"]).strip())
walk(json.load(open("help.json"))["commands"], "")
PYTHON
}
names >commands
[ "$(wc -l <commands)" -ge 20 ] || fail "commands are missing: $(cat commands)"
while read -r words; do
	# shellcheck disable=SC2086
	COLUMNS=60 check_rc 0 "$sluice" $words --help
	sed '/^  sluice/d; /^  [a-z.]*.*sluice/d; /^  [^-].*[^.]$/d' out >shown
	check_width shown "$words --help"
done <commands

# on_terminal COMMAND: runs a shell command on a terminal
on_terminal() {
	TERM=xterm script -qec "$1" /dev/null </dev/null | tr -d '\r' >tty
}
on_terminal "'$sluice' report a.sluice"
grep -q $'\033' tty || fail "a terminal gets no color: $(cat tty)"
for words in "report a.sluice" "compare a.sluice b.sluice" ls "kb list" "--color never report a.sluice"; do
	on_terminal "NO_COLOR=1 '$sluice' $words"
	! grep -q $'\033' tty || fail "\"$words\" ignores NO_COLOR: $(cat tty)"
done
on_terminal "stty cols 60; NO_COLOR=1 '$sluice' report a.sluice"
check_width tty "report on a terminal of 60 columns"

# Where there is no terminal, the path of the trace is printed.
SLUICE_RUN_SUMMARY=auto check_rc 0 "$sluice" run -- true
[ -f "$(sed -n 's/^sluice: trace //p' err)" ] || fail "no path of the trace: $(cat err)"
SLUICE_RUN_SUMMARY=auto check_rc 0 "$sluice" run -q -- true
check_eq "$(cat err)" ""

# Programs that are missing or cannot be executed
while read -r words; do
	# shellcheck disable=SC2086
	check_rc 127 "$sluice" $words ./missing
	# shellcheck disable=SC2086
	check_rc 127 "$sluice" $words no-such-program-anywhere
	# shellcheck disable=SC2086
	check_rc 126 "$sluice" $words /etc/passwd
done <<'COMMANDS'
run --
tune --
compare --runs 1 -- true --versus
compare --no-record --runs 1 -- true --versus
forecast probe --while --target . --
COMMANDS

# Signals: the exit code is 128 plus the number of the signal, also if the command has shown what it had.
echo 'touch up; exec sleep 1000' >waits
while read -r signal words; do
	rm -f up
	# shellcheck disable=SC2086
	env --default-signal=INT,TERM "$sluice" $words >out 2>err &
	for try in $(seq $polls); do
		[ ! -e up ] || break
		kill -0 $! 2>/dev/null || break
		sleep 0.05
	done
	kill -$signal $! 2>/dev/null || fail "\"$words\" has ended: $(cat out err)"
	rc=0
	wait $! || rc=$?
	check_eq $rc $((128 + $(kill -l $signal))) "exit code of \"$words\" after SIG$signal"
done <<'COMMANDS'
INT run -- sh waits
TERM run -- sh waits
INT compare --runs 2 -- sh waits --versus true
TERM compare --no-record --runs 2 -- true --versus sh waits
INT tune -- sh waits
TERM tune -- sh waits
COMMANDS
