#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice tune` on a simulated platform, where results are exact, and with real ranks.
# Papers: GA-6, GA-11, ATE-1, ATE-2, HYB-1.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

hopper=(--simulate hopper --kernel vpic --ranks 2048)

# Invalid arguments are reported before anything runs.
check_rc 2 "$sluice" tune
check_has "$(cat err)" "missing COMMAND"
check_rc 2 "$sluice" tune --simulate
check_rc 2 "$sluice" tune "${hopper[@]}" -- ls
check_rc 2 "$sluice" tune --pairs 3 -- ls
check_rc 3 "$sluice" kb tunings
check_rc 3 "$sluice" tune --resume
check_words "$(cat err)" unfinished
check_rc 2 "$sluice" tune "${hopper[@]}" --search tea-leaves
check_has "$(cat err)" "tea-leaves"
check_rc 2 "$sluice" tune --search genetic --search-option population=-1 -- "$prog/plain" "$work/never"
check_has "$(cat err)" "population"
check_rc 1 "$sluice" tune --simulate nowhere
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "cb_nods", "values": [1]}]}' >bad.json
check_rc 1 "$sluice" tune --space bad.json -- ls
check_has "$(cat err)" "bad.json"
check_has "$(cat err)" "cb_nods"

# A dry run runs nothing.
check_rc 0 "$sluice" tune --dry-run "${hopper[@]}"
check_has "$(cat out)" "13440 points"
check_rc 0 "$sluice" tune --dry-run -- "$prog/plain" "$work/never"
[ ! -e never ] || fail "--plan has run the program"
check_rc 0 "$sluice" tune --dry-run --json "${hopper[@]}"
check_json out sluice.tune/1

# A simulated platform.
check_rc 1 "$sluice" tune "${hopper[@]}" -o nowhere/best
check_has "$(cat err)" "nowhere/"
check_rc 0 "$sluice" tune "${hopper[@]}" --json -o best
check_json out sluice.tune/1
cp out first.json
check_eq "$(json_get out '["proof"]["holds"]')" True "proof"
check_eq "$(json_get out '["states"]["good"] > 30')" True "good runs"
check_eq "$(json_get out '["proof"]["gain"] > 10')" True "gain on Hopper"
check_eq "$(json_get out '["entry"]')" 1 "entry"
# GA-AC-4, and the ablation of ATE-12: no subset beats the full set.
check_eq "$(json_get out '["best"]["parameters"]["cb_buffer_size"]')" \
	"$(json_get out '["best"]["parameters"]["striping_unit"]')" "tied parameter"
check_eq "$(json_get out '["partial"][-1]["kind"]')" full "last row"
python3 - out <<-'END' || fail "a part is better than the whole"
	import json, sys
	rows = json.load(open(sys.argv[1]))["partial"]
	sys.exit(any((row["factor"] or 0) > rows[-1]["factor"] * 1.0001 for row in rows))
END
for form in xml json hints sh; do
	[ -s "best.$form" ] || fail "best.$form was not written"
done
check_has "$(cat best.xml)" "striping_factor"
check_rc 0 "$sluice" kb show 1
check_has "$(cat out)" "vpic_io"

# The same seed gives the same course, also with another store.
check_rc 0 "$sluice" -c store.path="$work/other.db" tune "${hopper[@]}" --json
check_eq "$(json_get out '["best"]')" "$(json_get first.json '["best"]')" "best of the same seed"
check_rc 0 "$sluice" tune "${hopper[@]}" --seed 2
check_has "$(cat out)" "times faster"
check_words "$(cat out)" contribution
check_has "$(cat out)" "entry 1"

# Useless parameters are removed from the winner: this is reported once and needs no extra runs.
cat >loose.json <<-'END'
	{"schema": "sluice.space/1", "dimensions": [
	 {"name": "striping_factor", "values": [null, 16, 64, 128]}, {"name": "striping_unit", "values": [null, "1M", "8M", "32M"]},
	 {"name": "cb_nodes", "values": [null, 32, 128]}, {"name": "alignment", "values": [null, "4096,4096", "0,1048576"]}]}
END
loose=(-c store.path="$work/loose.db" tune "${hopper[@]}" --space loose.json --seed 4)
check_rc 0 "$sluice" "${loose[@]}" --json
python3 - out <<-'END' || fail "the winner has what brings nothing: $(cat out)"
	import json, sys
	all = json.load(open(sys.argv[1]))
	best, left = all["best"]["parameters"], all["left_out"]
	without = [row["factor"] for row in all["partial"] if row["kind"] == "without"]
	print(best, left, without)
	sys.exit(not left or set(best) & set(left) or "alignment" in best or
	         any(factor * 1.001 >= all["proof"]["gain"] for factor in without))
END
check_rc 0 "$sluice" "${loose[@]}"
check_has "$(cat out)" "dropped"
check_eq "$(grep -c "^  without" out)" 0 "rows that say the same as others"
check_eq "$(grep -c "^  all  " out)" 1 "rows of all"
check_eq "$(grep -c ' $' out || true)" 0 "lines with blanks at their end"
check_rc 0 "$sluice" "${loose[@]}" --dry-run --json
check_eq "$(json_get out '["simplify_most"]')" 4 "runs to simplify"
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "striping_factor", "values": [null, 128]}]}' >one.json
check_rc 0 "$sluice" -c store.path="$work/loose.db" tune "${hopper[@]}" --space one.json
check_has "$(cat out)" "times faster"
! grep -q "contribution\|importance" out || fail "one parameter needs no table"
# It is a valid result that nothing is better.
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "striping_factor", "values": [null, 1]}]}' >one.json
check_rc 0 "$sluice" -c store.path="$work/loose.db" tune "${hopper[@]}" --space one.json
check_words "$(sed -n 1p out)" "no improvement"

# Show earlier tunings.
check_rc 0 "$sluice" kb tunings
check_eq "$(grep -c "simulated:hopper" out)" 2 "tunings"
check_rc 0 "$sluice" kb tunings 1
check_has "$(sed -n 3p out)" "default"
check_has "$(cat out)" "partial"
check_rc 0 "$sluice" kb tunings 1 --json
check_json out sluice.tune/1
check_eq "$(json_get out '["runs"][1]["phase"]')" search "second run"
check_rc 0 "$sluice" kb tunings --json
check_json out sluice.tune/1
check_rc 3 "$sluice" kb tunings 77
check_rc 0 "$sluice" kb tunings --forget 2
check_rc 3 "$sluice" kb tunings 2

# Real programs.
echo '{"schema": "sluice.space/1", "dimensions": [
	{"name": "cb_nodes", "values": [null, 1]}, {"name": "romio_ds_write", "values": [null, "disable"]}]}' >space.json
export TMPDIR=$work

# The program must work without parameters.
check_rc 1 "$sluice" tune --space space.json -- sh -c 'echo no such input >&2; exit 9'
check_has "$(cat err)" "without parameters"
check_has "$(cat err)" "no such input"
check_rc 1 "$sluice" tune --space space.json --verify "exit 1" -- cp "$sluice" copy
check_has "$(cat err)" "wrong"
[ ! -e copy ] || fail "a file of a trial is left"
check_rc 0 "$sluice" kb tunings
check_eq "$(grep -c . out)" 2 "lines, for what never worked is not kept"

# MPI parameters have no effect on cp: every point is tried, and there is no improvement except by chance. A run that the
# machine delays must not be aborted as slow, because it would not be compared.
check_rc 0 "$sluice" tune --space space.json --search exhaustive --repeat 1 --pairs 4 --no-ablation --timeout-factor 1000 --json \
	-- cp "$sluice" copy
check_eq "$(json_get out '["complete"]')" True "complete"
check_eq "$(json_get out '["data"]')" identical "data"
check_eq "$(json_get out '["points_tried"]')" 3 "points tried"
[ ! -e copy ] || fail "a file of a trial is left"
# The knowledge base remembers that nothing was found.
if [ "$(json_get out '["proof"]["holds"]')" = False ]; then
	check_rc 0 "$sluice" run --tune=apply -- cp "$sluice" copy
	check_words "$(cat err)" "no parameters" "nothing better"
	check_rc 0 "$sluice" kb list
	check_words "$(grep "cp " out)" "nothing better"
	rm copy
fi

if mpi_has mpich small_io && command -v mpiexec.mpich >/dev/null; then
	echo '{"schema": "sluice.space/1", "dimensions": [{"name": "transfer", "values": [null, "independent"]}]}' >space.json
	small=(mpiexec.mpich -n 2 "$BUILD/mpi/mpich/small_io" --count 20 --file small.h5)
	check_rc 0 "$sluice" tune --space space.json --repeat 1 --pairs 4 --no-ablation --timeout-factor 1000 --json -- "${small[@]}"
	check_eq "$(json_get out '["complete"]')" True "complete"
	check_eq "$(json_get out '["data"]')" identical "data"
	check_eq "$(json_get out '["points_tried"]')" 1 "points tried"
	id=$(json_get out '["id"]')
	check_rc 0 "$sluice" kb tunings "$id" --json
	check_eq "$(json_get out '["runs"][2]["parameters"]')" transfer=independent "parameters"
	check_has "$(json_get out '["runs"][2]["effective"]')" "mpi=mpich" "effective values"
	[ ! -e small.h5 ] || fail "the file of a trial is still there"
fi
