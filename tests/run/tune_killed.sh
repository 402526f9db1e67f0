#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The user's files after a tuning was killed or interrupted, and two tunings at once.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libpreserve.sh"

# next: the next tuning, of a program that fails at once
next() {
	timeout "$limit" "$sluice" tune --resume -- "$prog/changes" nothing >"$work/out" 2>"$work/err" || true
}

# A tuning that is killed: others of the same output or plan are refused, and the next one restores the files.
fresh
"${tune[@]}" -- "$prog/changes" hold >"$work/log" 2>&1 &
pid=$!
wait_for_file holding $pid
check_rc 1 timeout "$limit" "${tune[@]}" -- "$prog/changes" hold
check_words "$(cat "$work/err")" running $pid
check_rc 1 timeout "$limit" "${tune[@]}" -- "$prog/changes" append
check_words "$(cat "$work/err")" "$work/files/data" $pid
check_rc 1 timeout "$limit" "${tune[@]}" --restore true -- "$prog/changes" append
check_words "$(cat "$work/err")" "$work/files/data" $pid
kill -9 $pid
wait $pid 2>/dev/null || true
next
check_same "kill -9"
check_forgotten

# A file that the user creates after the tuning was killed is not removed.
"${tune[@]}" -- "$prog/changes" hold >"$work/log" 2>&1 &
pid=$!
wait_for_file holding $pid
kill -9 $pid
wait $pid 2>/dev/null || true
for i in $(seq $polls); do
	[ -n "$(find "$state/journals" -name '*.lock' -perm 600)" ] && break
	sleep 0.05
done
rm -f out
sleep 0.5
echo mine >out
next
check_eq "$(cat out)" mine "a file of the user"
rm out
check_same "kill -9, and a new file"

# `kb tunings` restores the files as well.
"${tune[@]}" -- "$prog/changes" hold >"$work/log" 2>&1 &
pid=$!
wait_for_file holding $pid
kill -9 $pid
wait $pid 2>/dev/null || true
timeout "$limit" "$sluice" kb tunings >"$work/out" 2>"$work/err" || true
check_words "$(cat "$work/err")" restored killed
check_same "kill -9, and kb tunings"

# Ctrl-C.
"${tune[@]}" -- "$prog/changes" hold >"$work/log" 2>&1 &
pid=$!
wait_for_file holding $pid
kill -TERM $pid
rc=0
wait $pid || rc=$?
check_eq $rc 143 "exit code"
check_same "SIGTERM"
check_forgotten

# Killed at any moment.
for round in 1 2 3 4; do
	setsid "${tune[@]}" -- "$prog/changes" rotate >"$work/log" 2>&1 &
	pid=$!
	sleep "$round.$((RANDOM % 10))"
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	next
	check_same "kill -9 in round $round ($(cat "$work/err"))"
done
check_forgotten
