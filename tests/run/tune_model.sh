#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A model of the machine and a recorded run: recommendations, exports, and a tuning that the model guides and that is
# killed and resumed.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# Without a model.
check_rc 1 "$sluice" tune --search model -- ls
check_has "$(cat err)" "sluice model measure"
check_has "$(cat err)" "sluice model fit"
check_rc 1 "$sluice" tune --model nowhere.model -- ls
check_has "$(cat err)" "nowhere.model"
check_rc 2 "$sluice" tune --search model --simulate hopper
check_words "$(cat err)" model
check_rc 2 "$sluice" tune --search genetic --model nowhere.model -- ls
check_words "$(cat err)" "--search genetic"
check_rc 2 "$sluice" tune --search model --search-option top=0 -- ls
check_rc 3 "$sluice" model export -n 4 -s 1M -o best

# A model in which more aggregators are faster, because each has less to do.
rows() {
	python3 - "$1" <<-'END'
		import sys
		print("platform,operation,nodes,cores,senders,receivers,writers,bytes,placement,round,repetition,seconds")
		def row(op, s=0, r=0, w=0, b=0):
		    t = (1e-7 if op[1:] == "_piece" else 2e-5) + b / (3e8 if w else float(sys.argv[1])) * (1 + 0.3 * w + 0.02 * s)
		    print("here,%s,1,4,%g,%g,%g,%g,%s,0,0,%.9g" % (op, s, r, w, b, "uniform" if w else "", t))
		for b in [4 ** i for i in range(1, 13)]:
		    for op in "ar", "aa", "ag", "bc":
		        row(op, b=b)
		    for s in 1, 4:
		        for r in 1, 2, 4:
		            row("aav", s=s, r=r, b=b)
		    for w in 1, 2, 4:
		        for op in "s_lock", "s_nl_full", "s_nl_partial", "p_write", "s_sieve", "c_piece", "x_piece":
		            row(op, w=w, b=b)
	END
}
fit=(model fit --learners linear --candidates 2 --folds 3)
rows 2e9 >rows.csv
check_rc 0 "$sluice" "${fit[@]}" --rows rows.csv
# If the program makes no access that the model knows, this is reported after the first run.
check_rc 3 "$sluice" tune --search model -- cp "$sluice" copy
check_has "$(cat err)" "no collective"
check_rc 0 "$sluice" run -o serial.sluice -- cp "$sluice" copy
check_rc 3 "$sluice" model recommend --run serial.sluice
check_words "$(cat err)" predict
check_rc 2 "$sluice" model recommend --run serial.sluice -n 4

if ! mpi_has mpich collective_io || ! command -v mpiexec.mpich >/dev/null; then
	skip libmpich-dev
fi
io=(mpiexec.mpich -n 4 "$BUILD/mpi/mpich/collective_io" -s 64K -o "$work/shared.dat")

# The accesses of a run.
check_rc 0 "$sluice" run -o strided.sluice -- "${io[@]}" --strided 4K
check_rc 0 "$sluice" model recommend --run strided.sluice --json
check_json out sluice.model/1
check_eq "$(json_get out '["access"]')" "$("$sluice" model recommend -n 4 -N 1 -s 64K --pattern strided --block 4K \
	--json | python3 -c 'import json, sys; print(json.load(sys.stdin)["access"])')" "access of the run"
check_rc 0 "$sluice" run -o plain.sluice -- "${io[@]}" -H cb_nodes=2
check_rc 0 "$sluice" model predict --run plain.sluice --json
check_eq "$(json_get out '["access"]')" \
	"$("$sluice" model predict -n 4 -N 1 -s 64K --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["access"])')" \
	"access of the contiguous run"
check_has "$(cat out)" cb_nodes

# HDF5 is modeled by its MPI calls: 4 bytes of each particle in each dataset.
if mpi_has mpich vpic_io; then
	check_rc 0 "$sluice" run -o hdf5.sluice -- mpiexec.mpich -n 4 "$BUILD/mpi/mpich/vpic_io" -n 2048 -f "$work/vpic.h5"
	check_rc 0 "$sluice" model predict --run hdf5.sluice --json
	check_eq "$(json_get out '["access"]["rank_bytes"]')" 8192 "bytes of a rank under HDF5"
	check_eq "$(json_get out '["access"]["ranks"]')" 4 "ranks under HDF5"
fi

# Files for run and tune.
check_rc 0 "$sluice" model export --run strided.sluice -o best --top 3 --json
check_json out sluice.model/1
check_eq "$(json_get out '["exported"][0]["predicted"] <= d["exported"][1]["predicted"] < d["predicted_now"]')" True "order"
check_eq "$(json_get out '["exported"][0]["file"]')" best.json
check_rc 0 "$sluice" tune --dry-run --space best.space.json -- ls
check_has "$(cat out)" cb_nodes
for form in json xml hints; do
	check_rc 0 "$sluice" kb params check "best.$form"
	check_has "$(cat out)" cb_nodes
done
check_rc 0 "$sluice" run --params best.json -o best.sluice -- "${io[@]}" --strided 4K
check_rc 0 "$sluice" report best.sluice
check_has "$(cat out)" cb_nodes
check_rc 0 "$sluice" model export -n 4 -N 1 -s 64K -o none --param romio_cb_write=disable --space best.space.json
[ ! -e none.json ] || check_has "$(cat out)" none.json

# A tuning that the model guides.
cat >space.json <<-'END'
	{"schema": "sluice.space/1", "dimensions": [
	 {"name": "cb_buffer_size", "values": [null, "16K", "64K"]}, {"name": "cb_config_list", "values": [null, "*:2", "*:4"]},
	 {"name": "romio_ds_write", "values": [null, "disable"]}]}
END
course() {
	"$sluice" -c store.path="$1" kb tunings 1 --json | python3 -c 'import json, sys
for run in json.load(sys.stdin)["runs"]:
    print(run["number"], run["phase"], run["parameters"])'
}
# A run that the machine delays must not be aborted as slow: it would not be compared.
tune=(tune --search model --search-option top=3 --space space.json --repeat 1 --pairs 4 --no-ablation --timeout-factor 1000)
# The program itself kills the tuning in its fourth run; the file that it writes for this is not part of its data.
cat >app <<-END
	#!/bin/sh
	if [ -e tuner ] && [ "\$(SLUICE_DISABLE=1 sh -c 'echo run >>counted; wc -l <counted')" -ge 4 ]; then
		kill -9 "\$(cat tuner)"
		exit 1
	fi
	exec ${io[@]} --strided 4K
END
chmod +x app
# The first trial would be repeated if it changed an existing file, which must be preserved.
rm -f shared.dat
rc=0
(echo "$BASHPID" >tuner && exec "$sluice" -c store.path="$work/killed.db" "${tune[@]}" -- ./app) >/dev/null 2>&1 || rc=$?
check_eq "$rc" 137 "exit code of the tuning that was killed"
rm tuner
course "$work/killed.db" >before
check_eq "$(wc -l <before)" 3 "runs before the kill"

# Another model would lead to another course.
cp "$XDG_DATA_HOME/sluice/hybrid.model" kept.model
rows 1e8 >rows.csv
check_rc 0 "$sluice" "${fit[@]}" --rows rows.csv
check_rc 1 "$sluice" -c store.path="$work/killed.db" tune --resume
check_words "$(cat err)" changed
cp kept.model "$XDG_DATA_HOME/sluice/hybrid.model"
check_rc 0 "$sluice" -c store.path="$work/killed.db" tune --resume --json
check_json out sluice.tune/1
check_eq "$(json_get out '["complete"]')" True "complete"
check_eq "$(json_get out '["data"]')" identical "data"
course "$work/killed.db" >after
# Points of the simplification phase were not proposed by the model.
check_eq "$(grep ' search ' after | cut -d ' ' -f 3- | sort -u | wc -l)" 3 "points that the search tried"
check_eq "$(head -n "$(wc -l <before)" after)" "$(cat before)" "runs before the kill"
# The best point comes first, without parameters that the model does not know. Improvements over the default are
# proved as usual; on a busy machine there may be none.
check_has "$(grep search after | head -n 1)" 'cb_config_list=*:4'
! grep -q romio_ds_write after || fail "a parameter that the model does not know was tried"
[ "$(json_get out '["best"]')" = "{}" ] || grep -q proof after || fail "the improvement was not proved by runs"

# A tuning whose first points the model chooses.
check_rc 0 "$sluice" -c store.path="$work/prior.db" tune --model kept.model --space space.json --runs 3 --repeat 1 \
	--pairs 4 --no-ablation --json -- "${io[@]}" --strided 4K
check_eq "$(json_get out '["complete"]')" True "complete"
course "$work/prior.db" >prior
check_eq "$(grep search prior | head -n 1 | cut -d ' ' -f 3-)" "$(grep search after | head -n 1 | cut -d ' ' -f 3-)" "first point"
