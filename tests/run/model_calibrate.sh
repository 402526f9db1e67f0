#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice model calibrate: a model of this machine, before and after it was compared with accesses of the real library;
# what it then says about its accuracy, about held-out accesses, and about an MPI library that is gone.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

mpi_has mpich elemental && mpi_has mpich collective_io || skip libmpich-dev
mkdir dir lib
quick=(--learners linear,neighbors --candidates 2 --folds 3)
access=(-n 2 -s 512K --pattern strided --block 4K)

check_rc 0 timeout "$limit" "$sluice" model measure all -n 2 --mpi mpich --buffers 64K,1M,4M --repeat 2 --cache use --dir dir \
	--max-time 2s --platform here
(cd dir && check_rc 0 timeout "$limit" "$sluice" model fit --platform here "${quick[@]}" -o "$work/here.model")

# Not calibrated: no coverage, and nothing to compare the environment with.
check_rc 0 "$sluice" model predict -m here.model "${access[@]}" --json
check_json out sluice.model/1
check_eq "$(json_get out '["calibrated"]')" False
check_has "$(cat err)" "not calibrated"
cp here.model before.model
cp here.model plain.model

# The MPI library is a copy, which is removed later.
library=$(ldd "$BUILD/mpi/mpich/collective_io" | awk '/libmpi/ { print $3; exit }')
cp -L "$library" "lib/$(basename "$library")"

# calibrate WORD...: runs few accesses with the copy
calibrate() {
	LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout "$limit" "$sluice" model calibrate -m here.model \
		-n 2 --mpi mpich --dir dir --accesses 6 --repeat 1 "$@"
}
check_rc 0 calibrate --json
check_json out sluice.model/1
check_eq "$(json_get out '["accesses"]')" 9 "accesses, a third of them held out"
[ "$(json_get out '["cases"]')" -ge 36 ] || fail "too few cases: $(cat out)"
check_eq "$(json_get out '["library"]')" "$work/lib/$(basename "$library")" "the library"
check_has "$(json_get out '["library_version"]')" MPICH
check_eq "$(ls dir)" "" "files that are left behind"
! cmp -s here.model before.model || fail "the model was not changed"

# A calibrated prediction has an interval, and a coverage that is either supported or not mentioned.
check_rc 0 "$sluice" model predict -m here.model "${access[@]}" --json
python3 - <<'PYTHON' || fail "the prediction is not calibrated: $(cat out)"
import json
d = json.load(open("out"))
assert d["calibrated"] is True and d["coverage"] == 0.9 and 0 <= d["measured_coverage"] <= 1, d
assert d["low"] < d["seconds"] < d["high"]
assert abs(d["low"] * d["high"] / d["seconds"] ** 2 - 1) < 1e-6, "the interval of logarithms is symmetric"
assert abs(sum(t["seconds"] for t in d["terms"]) * d["correction"] / d["seconds"] - 1) < 1e-6
open("coverage", "w").write(str(0.85 - 1e-9 <= d["measured_coverage"] <= 0.95 + 1e-9))
PYTHON
check_rc 0 "$sluice" model predict -m here.model "${access[@]}"
if [ "$(cat coverage)" = True ]; then
	check_has "$(cat out)" "90 % prediction interval"
else
	check_words "$(cat out)" "prediction interval that held"
	! grep -q '90 %' out || fail "a coverage is claimed that was not measured: $(cat out)"
fi
# An access with more ranks than were measured is not calibrated.
check_rc 0 "$sluice" model predict -m here.model -n 64 -N 1 -s 512K
check_words "$(cat out)" "not calibrated for such accesses"

# While a program runs, its collective accesses are compared with the predictions.
watched() {
	check_rc 0 timeout "$limit" "$sluice" -c plugins.load=predicted -c model.path="$work/$1" run -q -o t.sluice -- \
		mpiexec.mpich -n 2 "$BUILD/mpi/mpich/collective_io" -s 256K --strided 4K -n 3 -o dir/watched --remove
	check_rc 0 "$sluice" report t.sluice
}
watched here.model
check_has "$(cat out)" "calibrated on 20"
check_has "$(cat out)" "of other forms 0"
# Three accesses. Whether they are as small as those of the calibration is random.
counts=$(grep -oE "(compared|not calibrated) [0-9]+" out | grep -oE "[0-9]+" | paste -sd+)
check_eq "$((counts))" 3 "accesses that were considered: $(cat out)"
watched plain.model
check_has "$(cat out)" "is not calibrated, so nothing was compared"

# Held-out accesses: the model does not change; the recommendation of each is measured.
cp here.model before.model
check_rc 0 calibrate --check --seed 2 --json
check_json out sluice.model/1
cmp here.model before.model || fail "--check changed the model"
python3 - <<'PYTHON' || fail "the comparison is not right: $(cat out)"
import json, statistics
d = json.load(open("out"))
inside = [c["low"] <= c["measured"] <= c["high"] for c in d["of"] if c["calibrated"]]
assert (d["claimed"], d["inside"]) == (len(inside), sum(inside)), d
regrets = []
for group in range(6):
    for direction in "write", "read":
        of = [c for c in d["of"] if c["group"] == group and c["direction"] == direction]
        best = min(c["measured"] for c in of if c["plain"])
        recommended = [c["measured"] for c in of if c["recommended"]]
        assert len(recommended) == 1 and sum(c["default"] for c in of) == 1, of
        regrets.append(recommended[0] / best - 1)
assert abs(statistics.median(regrets) - d["median_regret"]) < 1e-6
assert d["accesses"] == 12
PYTHON
check_rc 0 calibrate --check --writes-only --accesses 3
check_words "$(cat out)" "held-out" "best of default, independent and collective"

# The model says that the library is not the one it was calibrated with.
echo other >>"lib/$(basename "$library")"
rm "lib/$(basename "$library")"
check_rc 0 "$sluice" model recommend -m here.model "${access[@]}"
check_words "$(cat err)" "$(basename "$library")" "no longer exists"
check_rc 0 "$sluice" model recommend -m here.model "${access[@]}" --json
check_has "$(json_get out '["doubts"]')" "no longer exists"

# Errors.
check_rc 3 "$sluice" model calibrate -m nowhere.model
check_rc 2 "$sluice" model calibrate -m here.model --accesses 0
check_rc 1 "$sluice" model calibrate -m here.model --launcher "no-such-launcher -n {ranks}" --dir dir
check_eq "$(ls dir)" "" "files after an error"
