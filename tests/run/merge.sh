#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice trace merge: merges parts that were left behind, and reports files that are not parts.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

# node NUMBER [ARGUMENTS...]: starts two of four ranks, as if on their own node
node() {
	local number=$1 rank
	shift
	mkdir -p "node-$number"
	for rank in $((number * 2)) $((number * 2 + 1)); do
		env PMI_RANK=$rank PMI_SIZE=4 MPI_LOCALNRANKS=2 SLUICE_JOB="${job_name:-nodes}" \
			SLUICE_SPOOL_DIR="$work/node-$number" "$sluice" run "$@" -- sh -c 'cat /etc/hostname >/dev/null; sleep 0.2' &
	done
	wait
}

# opens TRACE: prints the number of opens of the file that every rank reads
opens() {
	"$sluice" print --file /etc/hostname "$1" | grep -c open
}

case_is "the node that completes the set merges"
node 0
check_eq "$(ls runs)" "job-nodes-sh.sluice.parts" "$this: after the first"
check_has "$("$sluice" ls)" "unmerged" "$this"
check_words "$("$sluice" ls)" "1 parts" "2 ranks" "sluice trace merge $work/runs/job-nodes-sh.sluice.parts"
"$sluice" ls --json >ls.json
check_eq "$(json_get ls.json '["unmerged"][0]["ranks"]')" 2 "$this: ranks"
node 1
check_eq "$(ls runs)" "job-nodes-sh.sluice" "$this: after the second"
check_eq "$(opens runs/job-nodes-sh.sluice)" 4 "$this: opens"
"$sluice" ls --json >ls.json
check_eq "$(json_get ls.json '["unmerged"]')" "[]" "$this: unmerged"

case_is "another job of the same name gets another file"
node 0
node 1
check_eq "$(ls runs | sort | tr '\n' ' ')" "job-nodes-sh-2.sluice job-nodes-sh.sluice " "$this"

case_is "both nodes end at the same time"
rm -rf runs
(node 0) &
(node 1) &
wait
check_eq "$(ls runs)" "job-nodes-sh.sluice" "$this"
check_eq "$(opens runs/job-nodes-sh.sluice)" 4 "$this: opens"

case_is "a node is lost, and merge completes the trace"
node 0 -o lost.sluice
[ ! -e lost.sluice ] || wrong "half of the job passes for the whole"
check_rc 0 "$sluice" trace merge --json lost.sluice.parts
check_json out sluice.merge/1
check_eq "$(json_get out '["parts"]')" 1 "$this: parts"
check_eq "$(opens lost.sluice)" 2 "$this: opens"
[ ! -e lost.sluice.parts ] || wrong "the parts are still there"

case_is "parts that an earlier job left under the same name are ignored"
job_name=earlier node 0 -o again.sluice
job_name=later node 0 -o again.sluice
[ ! -e again.sluice ] || wrong "parts of two jobs were taken for one"
job_name=later node 1 -o again.sluice
check_eq "$(opens again.sluice)" 4 "$this: opens"
check_eq "$(ls again.sluice.parts | wc -l)" 1 "$this: parts left"

case_is "parts can be merged with the command"
job_name=hand node 0 -o hand.sluice
mv hand.sluice.parts/*.sluice a.sluice
job_name=hand node 1 -o hand.sluice
mv hand.sluice.parts/*.sluice b.sluice
for form in container text sqlite; do
	check_rc 0 "$sluice" trace merge -f $form -o merged.$form a.sluice b.sluice
	check_eq "$(opens merged.$form)" 4 "$this: opens in $form"
	check_has "$(cat out)" "from 2 parts" "$this"
done
check_rc 0 "$sluice" trace merge -o merged.txt a.sluice b.sluice
check_eq "$("$sluice" print merged.txt)" "$("$sluice" print merged.container)" "$this: by suffix"
[ -f a.sluice ] || wrong "a part was removed"

case_is "invalid arguments are errors"
check_rc 2 "$sluice" trace merge
check_rc 2 "$sluice" trace merge a.sluice b.sluice
check_has "$(cat err)" "--output" "$this"
check_rc 2 "$sluice" trace merge -o x -f nonsense a.sluice
check_has "$(cat err)" nonsense "$this"
mkdir empty.parts
check_rc 1 "$sluice" trace merge empty.parts
check_has "$(cat err)" "empty.parts:" "$this"
check_rc 1 "$sluice" trace merge -o x a.sluice missing.sluice
check_has "$(cat err)" missing.sluice "$this"
echo nonsense >garbage.sluice
check_rc 1 "$sluice" trace merge -o x a.sluice garbage.sluice
check_has "$(cat err)" garbage.sluice "$this"
check_rc 1 "$sluice" trace merge -o x a.sluice b.sluice a.sluice
check_has "$(cat err)" a.sluice "$this"
check_rc 1 "$sluice" trace merge -o /nonexistent/x a.sluice b.sluice
check_has "$(cat err)" "/nonexistent/x" "$this"
"$sluice" run -o stranger.sluice -- true
check_rc 1 "$sluice" trace merge -o x a.sluice stranger.sluice
check_has "$(cat err)" --force "$this"
[ ! -e x ] || wrong "a refused merge has left a file"
check_rc 0 "$sluice" trace merge --force -o x a.sluice stranger.sluice

case_is "a truncated part is merged"
head -c $(($(stat -c %s b.sluice) - 100)) b.sluice >cut.sluice
check_rc 0 "$sluice" trace merge -o x a.sluice cut.sluice
check_has "$(cat err)" truncated "$this"
mkdir kept.sluice.parts
cp cut.sluice a.sluice kept.sluice.parts
check_rc 0 "$sluice" trace merge kept.sluice.parts
check_eq "$(ls kept.sluice.parts | wc -l)" 2 "$this: parts that are kept"
check_has "$("$sluice" ls . 2>&1)" truncated "$this"
