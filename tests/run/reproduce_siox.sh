#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice lab reproduce siox --quick: every table has the numbers of the paper and measured ones beside them, the report of
# Figure 7 has exactly the counts that follow from the pattern, plots are XML, and a reproduction that was interrupted is
# continued and leaves nothing behind. Speeds are not checked.
# Papers: SIOX-54, SIOX-57, SIOX-59 to SIOX-61, SIOX-63, SIOX-AC-4.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpis=$(mpi_list)
mpi=${mpis%%[[:space:]]*}
mkdir data
reproduce=("$sluice" lab reproduce siox --quick --dir data)

# While it runs, it is interrupted: the runs that have ended are kept, and nothing else is left.
"${reproduce[@]}" figure8 --results kept --repeat 100 >interrupted.out 2>interrupted.err &
pid=$!
first_result() {
	[ -e kept/figure8-bare-1-1000-1 ] || ! kill -0 $pid 2>/dev/null
}
wait_for "result" first_result
kill -TERM $pid
rc=0
wait $pid || rc=$?
[ $rc != 0 ] || fail "an interrupted reproduction succeeded: $(cat interrupted.err)"
[ -e kept/figure8-bare-1-1000-1 ] || fail "the first run was not kept: $(ls kept; cat interrupted.err)"
check_eq "$(ls data; ls kept | grep 'part$')" "" "what an interrupted reproduction leaves behind"

# It continues: the run that was kept is not repeated.
sed -i 's/^call_ns .*/call_ns 123456.0/' kept/figure8-bare-1-1000-1
check_rc 0 "${reproduce[@]}" --results kept --plots figures --json
mv out first
check_json first sluice.reproduce/1
check_eq "$(json_get first '["modelled"]')" False "mark of modelled results"
check_eq "$(ls data)" "" "files left behind"
for name in table1 figure8 figure9-write figure9-read application; do
	python3 -c 'import sys, xml.etree.ElementTree as t
root = t.parse(sys.argv[1]).getroot()
assert root.tag.endswith("svg"), root.tag
assert len(root) > 10, len(root)' "figures/siox-$name.svg" || fail "siox-$name.svg is not a picture"
done
slow=$(grep -c '"table1_slow"' first || :)
if [ "$slow" = 0 ]; then
	[ "$(id -u)" != 0 ] && skip_case root "reads from a slow disk" || skip_case mounts "reads from a slow disk"
fi

python3 - first "$mpi" "$slow" <<'PYTHON'
import json, sys

mpi, slow = sys.argv[2], sys.argv[3] != "0"
document = json.load(open(sys.argv[1]))
sheets = {s["name"]: s["rows"] for s in document["sheets"]}
assert list(sheets) == ["table1_slow"] * slow + ["table1_disk", "figure7", "activities", "figure8", "figure9",
                                               "application", "checks"], list(sheets)
assert [s["name"] for s in document["sheets"] if s.get("modelled")] == ["table1_slow"] * slow
for name in ["table1_disk"] + ["table1_slow"] * slow:
    rows = sheets[name]
    assert [(r["paper_20k_us"], r["paper_1000k_us"]) for r in rows] == [(97.1, 7855.7), (38.7, 45.1), (52.1, 95.4)]
    for r in rows:
        assert r["here_20k_us"] > 0 and r["here_1000k_us"] > 0 and r["gain_20k"] > 0, r
    assert rows[0]["gain_20k"] == rows[0]["gain_1000k"] == 1
# The slow disk cannot be faster than it is said to be, whatever the load: a regular read goes to another place.
if slow:
    assert sheets["table1_slow"][0]["here_1000k_us"] >= 7800
eighth = sheets["figure8"]
assert [(r["threads"], r["paper_plain_ns"], r["paper_all_ns"]) for r in eighth] == [(1, 750, 6000), (2, 1500, 12000)]
assert eighth[0]["bare_ns"] == 123456, "the kept run was repeated"
assert 0 < eighth[1]["bare_ns"] and all(eighth[1][k] is not None for k in ("plain_ns", "default_ns", "all_ns"))
seventh = sheets["figure7"]
assert len(seventh) == 13 and [seventh[1]["paper_" + k] for k in ("average", "minimum", "maximum")] == [20481.8, 20480, 20482]
levels = sheets["figure9"]
assert len(levels) == 8 and [r["paper_hints"] for r in levels] == [None] * 3 + [200] + [None] * 4
runs = sheets["application"]
assert [(r["length"], r["layers"]) for r in runs] == [(n, l) for n in (1, 2) for l in ("POSIX", "MPI", "POSIX and MPI")]
assert [r["paper_base_s"] for r in runs] == [100.7] * 3 + [193.3] * 3
checks = {r["check"]: r for r in sheets["checks"]}
assert all(r["verdict"] in ("holds", "does not hold") for r in checks.values())
assert list(checks) == ["SIOX-AC-14"] * slow + ["SIOX-AC-4"] * bool(mpi) + ["SIOX-AC-11"] + \
    ["SIOX-AC-15", "SIOX-AC-13"] * bool(mpi), list(checks)
if mpi:
    # The counts and bytes of 2 processes with 4 blocks.
    assert [seventh[0][k] for k in ("average", "minimum", "maximum")] == [20] * 3, seventh[0]
    for r in seventh[:8]:
        for k in ("average", "minimum", "maximum"):
            assert abs(r[k] - r["expected_" + k]) <= 1e-5 * r["expected_" + k], r
    assert checks["SIOX-AC-4"]["verdict"] == "holds", checks["SIOX-AC-4"]
    assert all(r["average"] >= r["minimum"] > 0 and r["maximum"] >= r["average"] for r in seventh[8:]), seventh[8:]
    assert {r["layer"]: r["paper"] for r in sheets["activities"]} == {"MPI": 41000, "POSIX": 60000, "POSIX.Network": 650000}
    assert sheets["activities"][0]["here"] >= 20
    assert all(r[k] is not None for r in levels for k in ("none", "hints", "linked", "preloaded", "read_ahead", "ratio"))
    assert all(r["base_s"] > 0 and r["base_cpu_s"] > 0 and r["cpu_percent"] is not None for r in runs)
PYTHON

# Once more, nothing is run.
stat -c '%n %y' kept/* >before
check_rc 0 "${reproduce[@]}" --results kept --json
stat -c '%n %y' kept/* >after
cmp -s before after || fail "runs were repeated: $(diff before after)"
cmp -s out first || fail "the kept runs give other tables"

# The configurations of Figure 9: linked wrappers record the calls of the program, not those that the library makes.
for name in $mpis; do
	check_rc 0 "$sluice" run --linked -o linked.sluice -- "mpiexec.$name" -n 2 "$BUILD/mpi/$name/levels_linked" -n 2
	"$sluice" report --json linked.sluice >linked.json 2>report.err
	python3 - linked.json <<'PYTHON'
import json, sys

functions = {r["function"]: r for r in json.load(open(sys.argv[1]))["functions"]}
assert functions["MPI_File_write_at"]["calls"] == 4 and functions["MPI_File_read_at_all"]["calls"] == 4, functions.keys()
assert not {"pwrite", "pread"} & set(functions), functions.keys()
PYTHON
done

check_rc 2 "$sluice" lab reproduce siox table2
check_has "$(cat err)" "table1"
check_rc 2 "$sluice" lab reproduce siox --quick --full
check_rc 2 "$sluice" lab reproduce siox --repeat 0
check_rc 2 "$sluice" lab reproduce siox --blocks 10241
check_rc 1 "${reproduce[@]}" --dir /proc/none
check_has "$(cat err)" "/proc/none"
