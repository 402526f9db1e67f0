#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Trials of `sluice tune` do not change the user's files, whatever the program does to them.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libpreserve.sh"

# Whatever the program does, it succeeds in every run, because each run starts from the same state.
for case in append update replace rotate delete cut fork chdir two; do
	fresh
	check_rc 0 timeout "$limit" "${tune[@]}" -- "$prog/changes" $case
	check_same "$case"
done
check_forgotten

# What cannot be preserved is not changed, and the tuning says which file and what to do.
fresh
check_rc 1 timeout "$limit" "${tune[@]}" -- "$prog/changes" move
check_words "$(cat "$work/err")" "$work/files/folder" --workdir --restore
check_same move
check_rc 1 timeout "$limit" "$sluice" -c tune.copy_limit=4 "${tune[@]:1}" -- "$prog/changes" append
check_words "$(cat "$work/err")" "$work/files/data" copy_limit
check_same "a file above the limit"

# --workdir: each trial has a copy.
check_rc 0 timeout "$limit" "${tune[@]}" --workdir . -- "$prog/changes" move
check_same "--workdir"
check_eq "$(ls "$work" | grep -c '^files')" 1 "copies of the directory"

# --restore: the user's command does what Sluice cannot do.
check_rc 0 timeout "$limit" "${tune[@]}" --restore 'if [ -e moved ]; then mv moved folder; fi; echo >>../restored' -- \
	"$prog/changes" move
check_same "--restore"
[ "$(wc -l <"$work/restored")" -ge 5 ] || fail "--restore ran only $(wc -l <"$work/restored") times"
check_rc 1 timeout "$limit" "${tune[@]}" --restore 'echo no; false' -- "$prog/changes" append
check_words "$(cat "$work/err")" --restore no
# A failure after the last run is reported. This program fails in its first run, which ends the tuning.
check_rc 1 timeout "$limit" "${tune[@]}" --restore 'test ! -e ../ran && : >../ran' -- "$prog/changes" nothing
check_words "$(cat "$work/err")" "--restore command at the end" "may not be as they were"

# Two programs of one job.
fresh
for mpi in $(mpi_list); do
	mpi_mixes "$mpi" || { skip_case mixed-jobs "$mpi" && continue; }
	check_rc 0 timeout "$limit" "${tune[@]}" -- "mpiexec.$mpi" -n 1 "$prog/changes" update : -n 1 "$prog/changes" two
	check_same "MPMD with $mpi"
done
check_forgotten
