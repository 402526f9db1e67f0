#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `sluice run --place adaptive` notices of a program: steps that it marks by sluice_step(), files that it closes in
# bulk or keeps open as duplicates, and that it was killed.
# Papers: WAN-39.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_FORECAST_MODEL=$work/model SLUICE_PROBE_SITE=$work/site.ini SLUICE_SPOOL_DIR=$work/spool
mkfifo ready go
{
	echo "[targets]"
	for i in 1 2 3 4; do echo "t$i = $work/t$i"; done
	echo "[placement]"
} >site.ini

# start: a new backlog, and targets without files
start() {
	rm -rf spool data t1 t2 t3 t4
	mkdir spool data t1 t2 t3 t4
}

# held NAME: prints the number of files on each target whose name starts with NAME
held() {
	local i
	for i in 1 2 3 4; do find "t$i" -type f -name "$1*.sluice.*" | wc -l; done | paste -sd ' '
}

# place [ARGUMENT]...: runs a program with placement
place() {
	check_rc 0 timeout "$limit" "$sluice" run --place adaptive "$@"
}

# steps: the steps that the run has counted
steps() {
	sed -n 's/.* new files in \([0-9]*\) steps*:.*/\1/p' err
}

# A mark begins a step, once for all processes of the run. Pauses add steps where the machine is slow.
start
place -o marked -- "$prog/placed" steps data/a 40 1
check_words "$(cat err)" "placed 80 new files"
[ "$(steps)" -ge 40 ] && [ "$(steps)" -lt 80 ] || fail "steps where two processes mark 40: $(steps)"
place -o unmarked -- "$prog/placed" steps data/b 40 0
check_words "$(cat err)" "placed 80 new files"
[ "$(steps)" -lt 40 ] || fail "steps of a program that marks none: $(steps)"

# looks CASE: prints where a program puts its file while another has used three of four targets in this way
looks() {
	start
	timeout "$limit" "$sluice" run --place adaptive -q -o first -- "$prog/placed" "$1" data/first 3 &
	first=$!
	timeout "$limit" cat ready
	place -q -- touch data/second
	: >go
	wait "$first" || fail "the program fails"
	check_eq "$(held first)" "1 1 1 0" "files of the first program"
	held second
}
check_eq "$(looks keep)" "0 0 0 1" "files that are open"
check_eq "$(looks duplicated)" "0 0 0 1" "files with a duplicate that is open"
check_eq "$(looks range)" "1 0 0 0" "files that close_range() has closed"
check_eq "$(looks from)" "1 0 0 0" "files that closefrom() has closed"
check_eq "$(looks reopened)" "1 0 0 0" "files that freopen() has closed"

# Files of a killed program do not count any more when the next one has noticed.
start
check_rc 137 timeout "$limit" "$sluice" run --place adaptive -q -- "$prog/placed" killed data/killed 3
check_eq "$(held killed)" "1 1 1 0" "files of the killed program"
for i in $(seq $polls); do
	place -q -- touch "data/next$i"
	[ "$(held "next$i")" = "0 0 0 1" ] || break
	sleep 0.1
done
[ "$(held "next$i")" != "0 0 0 1" ] || fail "the targets of the killed program are not used again"

# Equal shares need no forecast.
start
check_rc 0 timeout "$limit" "$sluice" run --place equal -o equal -- "$prog/placed" steps data/equal 2 0
check_eq "$(cat err)" "" "stderr"
check_eq "$(held equal)" "1 1 1 1" "files with equal shares"

# A backlog of another version is replaced.
start
place -q -- touch data/one
printf 'other version' | dd of=spool/backlog conv=notrunc 2>dd.err || fail "$(cat dd.err)"
place -- touch data/two
check_words "$(cat err)" "placed 1 new file"
check_eq "$(head -c 7 spool/backlog)" SLBCKLG "begin of the new backlog"
