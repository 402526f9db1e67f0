#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What programs write under `sluice run --place adaptive` becomes training data of forecasts: rows of their own kind beside
# those of probes, which change the training set, let `sluice forecast watch` see a drift, and can be left out.
# Papers: WAN-39.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_FORECAST_MODEL=$work/model SLUICE_PROBE_SITE=$work/site.ini SLUICE_SPOOL_DIR=$work/spool
mkdir spool data t0 t1 t2 t3
{
	echo "[targets]"
	for i in 0 1 2 3; do echo "t$i = $work/t$i"; done
	printf "[placement]\nmost_extra = 1.1\nleast = 1\n" # each step writes one file to each target
} >site.ini

# Three hours of probes of 64 KiB and reference writes of 1 MiB, which were faster than any real disk. Nothing is busy at the end.
now=$(date +%s)
python3 - "$now" >rows <<'END'
import random, sys
end = int(sys.argv[1])
random.seed(5)
print("System: here")
for time in range(end - 3 * 3600, end + 1, 60):
    print("\nTimestamp: %d\nPerformance:\nOSS id 64KB 1MB" % time)
    for i in range(4):
        busy = time < end - 1800 and random.Random((end - time) // 1200 * 4 + i).random() < 0.4
        print("t%d %.9fs %.9fs" % (i, (5e-6 if busy else 1e-6) * random.lognormvariate(0, 0.1), (6e-5 if busy else 2e-5) * random.lognormvariate(0, 0.1)))
END
check_rc 0 "$sluice" forecast import rows
# train [OPTION]...: trains on probes and their reference writes, and leaves the result in the file "trained"
train() {
	check_rc 0 "$sluice" forecast train --system here --method hidden --json "$@"
	cp out trained
}
train
check_eq "$(json_get trained '["program_rows"]') $(json_get trained '["uses_programs"]')" "0 False" "before any program"
check_eq "$(json_get trained '["sheets"][0]["rows"][0]["rows"]')" 724 "rows of probes"

# writer.py STEPS SYNC: in each step, writes four files of 1 MiB one after the other
cat >writer.py <<'END'
import os, sys, time
data = os.urandom(1 << 20)
for step in range(int(sys.argv[1])):
    for i in range(4):
        fd = os.open("data/%d-%d" % (step, i), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        os.write(fd, data)
        if int(sys.argv[2]):
            os.fsync(fd)
        os.close(fd)
    time.sleep(1.1)
END
# place STEPS SYNC
place() {
	rm -rf data
	mkdir data
	check_rc 0 timeout "$limit" "$sluice" run --place adaptive -o trace -- "$(command -v python3)" writer.py "$@"
	check_words "$(cat err)" "placed $(($1 * 4)) new files in"
}
# programs: prints the number of rows of programs in the store
programs() {
	"$sluice" forecast export --system here | grep -A3 '^Method: program' | grep -c '^t[0-3] - [0-9.e-]*s$'
}

# A program that does not synchronize shows nothing.
place 1 0
! grep -q "are stored" err || fail "rows where there should be none: $(cat err)"
check_eq "$(programs)" 0 "rows of a program that does not synchronize"

# One that does shows its targets.
place 12 1
rows=$(programs)
[ "$rows" -ge 12 ] && [ "$rows" -le 48 ] || fail "rows of 12 steps: $rows; $(cat err)"
check_words "$(cat err)" "$rows of their write times are stored for forecasts of here"

# They survive an export, and do not count as probes.
check_rc 0 "$sluice" forecast export --system here
sed 's/^System: here/System: copy/' out >copy
check_rc 0 "$sluice" forecast import copy
check_eq "$("$sluice" forecast export --system copy | grep -c '^Method: program')" "$("$sluice" forecast export --system here | grep -c '^Method: program')" "after a round trip"
check_rc 0 "$sluice" forecast forget copy
check_rc 0 "$sluice" forecast describe --system here
check_words "$(cat out)" 724

# The forecasts did not expect such times, so the model has drifted. Without the programs it has not.
check_watch() {
	check_rc 0 "$sluice" forecast watch --once --drift-window 12 --retrain 0 --until $((now + 7200)) --json "$@"
	cp out watched
}
check_watch --programs ignore
check_eq "$(json_get watched '["scored"]') $(json_get watched '["reason"]')" "0 none" "without programs"
check_watch --programs use
check_eq "$(json_get watched '["reason"]') $(json_get watched '["is_trained"]') $(json_get watched '["scored"]')" "drift True $rows" "with programs"

# They are part of the training set, unless they are left out.
train --programs use
check_eq "$(json_get trained '["program_rows"]') $(json_get trained '["uses_programs"]')" "$rows True" "in the training"
check_eq "$(json_get trained '["sheets"][0]["rows"][0]["rows"]')" $((724 + rows)) "rows of probes and of programs"
train --programs ignore
check_eq "$(json_get trained '["program_rows"]') $(json_get trained '["uses_programs"]')" "$rows False" "left out"
check_eq "$(json_get trained '["sheets"][0]["rows"][0]["rows"]')" 724 "rows of probes only"
check_rc 0 "$sluice" forecast evaluate --system here --programs use
check_words "$(cat out)" "$rows of them are those of programs"
check_rc 0 "$sluice" forecast evaluate --system here --programs ignore
check_words "$(cat out)" "writes of programs are ignored"
check_rc 2 "$sluice" forecast train --programs maybe

# A system without probe data gets no rows.
rm store.db model
place 1 1
! grep -q "are stored" err || fail "rows where there should be none: $(cat err)"
