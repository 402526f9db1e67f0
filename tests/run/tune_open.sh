#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Environment variables, settings of Open MPI and UCX, and arguments of the program as dimensions of a search space:
# trials get them, the knowledge base holds them, and `sluice run` applies variables but never changes arguments.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_TUNE_PLATFORM=testbed

# The program fails if it does not get the values that belong together, so the states of trials show what they got.
cat >app <<'END'
#!/bin/sh
# app --block BYTES FILE
[ "$2" != 4096 ] || [ "${APP_MODE-}" = "fast lane" ] || exit 3
[ "$2" != 8192 ] || [ "${OMPI_MCA_io-}" = ompio ] || exit 4
[ "$2" = 65536 ] || sleep "${APP_SLEEP-0}"
dd if=/dev/zero of="$3" bs="$2" count=$((65536 / $2)) status=none
echo "$2 ${APP_MODE-unset} ${OMPI_MCA_io-unset} ${UCX_TLS-unset}"
END
chmod +x app

# Errors are found before anything runs.
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "{block}", "values": [1, 2]}]}' >space.json
check_rc 1 "$sluice" tune --space space.json -- ./app --block 1 never.dat
check_words "$(cat err)" "{block}"
for dimension in '"name": "{block}", "values": [null, 1]' '"name": "env:LD_PRELOAD=", "values": ["x"]' \
	'"name": "{block}", "range": {"from": 1, "to": 8}' '"name": "mca:io", "values": ["a"], "object": "x"'; do
	echo "{\"schema\": \"sluice.space/1\", \"dimensions\": [{$dimension}]}" >wrong.json
	check_rc 1 "$sluice" tune --space wrong.json -- ./app --block "{block}" never.dat
	check_has "$(cat err)" "wrong.json:1"
done
[ ! -e never.dat ] || fail "a wrong space has run the program"

# Trials get the values: a list of every run says which combinations have failed.
cat >space.json <<'END'
{"schema": "sluice.space/1", "dimensions": [
 {"name": "{block}", "values": [4096, 8192], "range": {"from": "16K", "to": "64K", "factor": 4}, "default": 16384},
 {"name": "env:APP_MODE", "values": [null, "fast lane"]},
 {"name": "env:OMPI_MCA_io", "values": [null, "ompio"]}]}
END
check_rc 0 "$sluice" tune --dry-run --space space.json -- ./app --block "{block}" f.dat
check_has "$(cat out)" "16 points"
check_has "$(cat out)" "mca:io"
# A run that the machine delays must not be aborted as slow.
check_rc 0 env APP_SLEEP=0.3 "$sluice" tune --space space.json --search exhaustive --objective run --runs 18 --repeat 1 \
	--pairs 4 --no-ablation --timeout-factor 1000 --json -o best -- ./app --block "{block}" f.dat
cp out result
check_rc 0 "$sluice" kb tunings 1 --json
python3 - out <<'END' || fail "trials did not get the values: $(cat out)"
import json, sys
seen = set()
for run in json.load(open(sys.argv[1]))["runs"]:
    if run["phase"] != "search":
        continue
    given = run["parameters"]
    given = given if isinstance(given, str) else json.dumps(given)
    fails = "4096" in given and "fast lane" not in given or "8192" in given and "ompio" not in given
    seen.add(fails)
    if (run["state"] != "good") != fails:
        sys.exit(print(run))
sys.exit(seen != {True, False})
END
# Files that a trial creates are removed, whatever its arguments are.
[ ! -e f.dat ] || fail "f.dat is left"

# The winner. The times of a loaded machine may hide a gain.
if [ "$(json_get result '["proof"]["holds"]')" = True ]; then
	grep -q '"command"' best.json || fail "best.json lacks the command"
	check_rc 0 "$sluice" kb list
	check_has "$(cat out)" "{block}="
fi

# What `sluice run` does with such parameters.
cat >params.json <<'END'
{"schema": "sluice.params/1", "command": "./app --block 65536 f.dat", "parameters": [
 {"name": "{block}", "value": "65536"}, {"name": "env:APP_MODE", "value": "fast lane"},
 {"name": "ucx:TLS", "value": "tcp,self"}]}
END
check_rc 0 "$sluice" run --params params.json -o trace -- ./app --block 16384 f.dat
check_eq "$(cat out)" "16384 fast lane unset tcp,self" "values that the program got"
check_words "$(cat err)" arguments "./app --block 65536 f.dat"
check_rc 0 "$sluice" run --params params.json -o trace -- ./app --block 65536 f.dat
check_eq "$(cat out)" "65536 fast lane unset tcp,self" "values that the program got"
check_eq "$(cat err)" "" "messages if the arguments are the same"
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"][0]["value"]')" "env:APP_MODE=fast lane ucx:TLS=tcp,self" "applied"
check_rc 0 "$sluice" --set params.allow=safe run --params params.json -o trace -- ./app --block 65536 f.dat
check_eq "$(cat out)" "65536 unset unset unset" "values without permission"
check_rc 0 "$sluice" --set params.forbid=env:APP_MODE run --params params.json -o trace -- ./app --block 65536 f.dat
check_eq "$(cat out)" "65536 unset unset tcp,self" "values without a forbidden one"
# Variables that Sluice needs, or that make OMPIO lose data, are refused.
cat >danger.json <<'END'
{"schema": "sluice.params/1", "parameters": [{"name": "env:SLUICE_DISABLE", "value": "1"},
 {"name": "mca:io_ompio_num_aggregators", "value": "4"}]}
END
check_rc 0 "$sluice" --set params.allow=semantics run --params danger.json -o trace -- env
! grep -q "SLUICE_DISABLE\|num_aggregators" out || fail "a dangerous variable was set"
check_has "$(cat err)" refused
# A rank that another launcher has started gets none, because other ranks would not.
if command -v mpiexec.mpich >/dev/null; then
	check_rc 0 mpiexec.mpich -n 2 "$sluice" run --params params.json -o job.trace -- ./app --block 65536 f.dat
	check_eq "$(sort -u out)" "65536 unset unset unset" "values that ranks got"
	check_words "$(cat err)" "environment variables" "sluice run -- mpiexec"
	check_rc 0 "$sluice" run --params params.json -o trace -- mpiexec.mpich -n 2 ./app --block 65536 f.dat
	check_eq "$(sort -u out)" "65536 fast lane unset tcp,self" "values that ranks got"
else
	skip_case mpich
fi

# Other formats say what they cannot hold.
for form in xml hints shell; do
	check_rc 0 "$sluice" kb params convert params.json --format $form
	check_has "$(cat out)" APP_MODE
done
check_rc 0 "$sluice" kb params check params.json
check_has "$(cat out)" "env:APP_MODE"
