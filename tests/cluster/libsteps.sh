# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with libtest.sh and the tests
# Helpers for tests of the tasks of Slurm; to be sourced after libcluster.sh. Hosts share the directory of the test.

# A task writes one line per call to data.NAME and waits for nobody. Its first argument is the number of lines; 0: it goes on
# until the file "stop" exists. NAME is the second argument, by default the number of the task.
cat >task <<'END'
#!/bin/sh
name=${2:-$SLURM_PROCID}
n=0
while [ "$1" = 0 ] || [ $n != "$1" ]; do
	[ ! -e stop ] || break
	n=$((n + 1))
	echo $n
	[ $n != 100 ] || : >"ready.$name"
done >"data.$name"
END
chmod +x task

# What helps to explain a failure.
state() {
	cat "$work/err"
	ls -R "$work/runs"
}

# tasks_run N: N tasks have written a part of their lines
tasks_run() {
	[ "$(find . -name 'ready.*' | wc -l)" = "$1" ]
}

# begin_case: removes what an earlier case has left
begin_case() {
	rm -rf data.* ready.* stop runs
}

# count_traces: the number of entries of trace.dir
count_traces() {
	find runs -mindepth 1 -maxdepth 1 | wc -l
}

# missing_lines TRACE NAME: the number of written lines whose calls are not in the trace
missing_lines() {
	local calls
	calls=$("$sluice" print --file "data.$2" "$1" 2>/dev/null | grep -c ' write(') || true
	echo $(($(wc -l <"data.$2") - calls))
}
