#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Logs of Darshan are accepted wherever a run is: report, print, convert. driver/darshan_log.c writes the logs.
. "$(dirname "$0")/libtest.sh"

for kind in dxt counters old heat; do
	"$prog/darshan_log" $kind $kind.darshan
done

# DXT segments are calls of ranks, in order, with the layers nested; counters are not added to them again.
check_rc 0 "$sluice" report dxt.darshan
check_words "$(head -n 1 out)" "4 ranks" "32.0 MiB" mpiio_write
check_line out /scratch/shared "MPI,POSIX"
check_line out /scratch/input.3
check_rc 0 "$sluice" report --json dxt.darshan
check_json out sluice.report/1
check_eq "$(json_get out '["run"]["command"]')" "/opt/app --size 3"
check_rc 0 "$sluice" print dxt.darshan
check_eq "$(wc -l <out)" 96 "segments"
check_eq "$(grep -c ' MPI mpiio_write' out)" 32
check_rc 0 "$sluice" print --rank 2 --layer MPI dxt.darshan
check_eq "$(wc -l <out)" 8 "segments of a rank"

# A converted log says the same.
"$sluice" report dxt.darshan >expected 2>/dev/null
for form in sluice txt db; do
	check_rc 0 "$sluice" trace convert dxt.darshan copy.$form
	check_rc 0 "$sluice" report copy.$form
	cmp -s expected out || fail "the report of copy.$form differs: $(diff expected out | head -5)"
done
check_rc 0 "$sluice" trace convert heat.darshan heat.txt
check_eq "$(grep -c '^#flow' heat.txt)" 8 "flows"
check_eq "$(grep -c '^#usage' heat.txt)" 6 "usages"

# What a log cannot tell is said.
check_rc 0 "$sluice" report counters.darshan
check_line out DXT timeline
check_line out "all ranks"
check_rc 0 "$sluice" report heat.darshan
check_line out DXT "heat maps"
check_rc 0 "$sluice" report --html heat.html heat.darshan
! grep -q 'on 0 host' heat.html || fail "an unknown number of hosts is shown as 0"
check_has "$(cat heat.html)" "not known by rank"
check_rc 0 "$sluice" report dxt.darshan
check_line out ranks: average "known by rank"
check_rc 0 "$sluice" print counters.darshan
check_eq "$(cat out)" "" "calls of a log without DXT"

# Another byte order and an old version; another compression.
check_rc 0 "$sluice" report old.darshan
check_line out posix_write POSIX "4.00 KiB"
if "$prog/darshan_log" bzip2 bzip2.darshan; then
	check_rc 0 "$sluice" report bzip2.darshan
	cmp -s expected out || fail "the report of bzip2.darshan differs"
else
	skip_case libbz2-1.0 "logs compressed with bzip2"
fi

# Logs are not written, and damaged logs are refused.
check_rc 2 "$sluice" trace convert dxt.darshan other.darshan
head -c 2000 dxt.darshan >cut.darshan
check_rc 1 "$sluice" report cut.darshan
check_words "$(cat err)" cut.darshan damaged
printf '2.06\0\0\0\0' | cat - <(tail -c +9 dxt.darshan) >two.darshan
check_rc 1 "$sluice" report two.darshan
check_words "$(cat err)" "not supported" "Darshan 3.1"

# Findings of a log: the layout of a file on Lustre is known; flushing standard output forces nothing to storage.
"$prog/darshan_log" stripes stripes.darshan
check_rc 0 "$sluice" --set findings.stripe_bytes=16M report --json stripes.darshan
check_eq "$(json_get out '["findings"][0]["code"]')" stripe-count
check_has "$(json_get out '["findings"][0]["fixes"]')" "lfs setstripe -c 4 /scratch"
check_rc 0 "$sluice" report --findings stripes.darshan
! grep -q sync-storm out || fail "fflush of standard output is reported as sync-storm"
