#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice kb params` lists the catalog, and checks and converts parameter files.
# Papers: H5T-5.
. "$(dirname "$0")/libtest.sh"

cat >sample.xml <<'XML'
<?xml version="1.0"?>
<Parameters>
  <High_Level_IO_Library>
    <alignment> 0, 65536 </alignment>
  </High_Level_IO_Library>
  <Middleware_Layer>
    <cb_buffer_size> 1048576 </cb_buffer_size>
    <cb_nodes> 32 </cb_nodes>
  </Middleware_Layer>
  <Parallel_File_System>
    <striping_factor FileName="sample_dataset.h5part"> 4 </striping_factor>
    <striping_factor> 16 </striping_factor>
    <striping_unit> 65536 </striping_unit>
  </Parallel_File_System>
</Parameters>
XML

# list
check_rc 0 "$sluice" kb params list
check_has "$(cat out)" "cb_nodes "
check_rc 0 "$sluice" kb params list --json
check_json out sluice.params.list/1
cp out list.json
check_rc 0 "$sluice" kb params list --environment mpich,local --layer storage --json
check_eq "$(json_get out '["parameters"][0]["name"]')" striping_unit "what ROMIO heeds of storage on a local disk"
check_eq "$(json_get out '["parameters"][0]["honoured"]')" "['ROMIO']"
check_rc 0 "$sluice" kb params list --environment ompio --json
check_eq "$(json_get out '["parameters"].__len__()')" \
	"$(python3 -c 'import json
print(len([p for p in json.load(open("list.json"))["parameters"]
 if set(p["honoured"]) & {"HDF5", "OMPIO", "Lustre", "CephFS", "any file system", "C library"}]))')" "parameters that OMPIO applies"
check_rc 2 "$sluice" kb params list --environment irix
check_has "$(cat err)" irix
check_rc 2 "$sluice" kb params frobnicate
check_rc 2 "$sluice" kb params check

# The table in the manual equals that of the program.
python3 - "$SOURCE/docs/reference/parameters.md" <<'PYTHON' || fail "docs/reference/parameters.md differs from 'sluice kb params list'"
import json, re, sys
told = {m[1]: m[2] for m in re.finditer(r"^\| `(\w+)` \| \w+ \|.*\| (\w+) \|$", open(sys.argv[1]).read(), re.M)}
real = {p["name"]: p["safety"] for p in json.load(open("list.json"))["parameters"]}
for name in sorted(told.keys() ^ real.keys()) + [n for n in told if told[n] != real.get(n, told[n])]:
    print(name)
sys.exit(told != real)
PYTHON

# check
check_rc 0 "$sluice" kb params check sample.xml
check_has "$(cat out)" "striping_factor  4        sample_dataset.h5part  *         11  applied"
check_rc 1 "$sluice" kb params check sample.xml --environment ompio
check_has "$(cat out)" "sample.xml:8: cb_nodes=32"
check_rc 0 "$sluice" kb params check sample.xml --environment mpich,lustre --ranks 64 --nodes 4
check_has "$(cat out)" cb_config_list
check_rc 1 "$sluice" kb params check sample.xml --allow safe --json
check_json out sluice.params.check/1
check_eq "$(json_get out '["parameters"][0]["applied"]')" False "alignment where only time may change"
check_eq "$(json_get out '["parameters"][1]["applied"]')" True "a hint"
check_rc 1 env SLUICE_PARAMS_ALLOW=safe "$sluice" kb params check sample.xml

# Malformed input is reported with its line.
sed '9d' sample.xml >broken.xml
check_rc 1 "$sluice" kb params check broken.xml
grep -q '^sluice kb params check: broken.xml:[0-9]*: ' err || fail "no line: $(cat err)"
printf '{"parameters": [\n{"name": }]}' >broken.json
check_rc 1 "$sluice" kb params convert broken.json --format xml
check_has "$(cat err)" "broken.json:2: "
check_eq "$(cat out)" "" "output of what is broken"
: >empty
check_rc 1 "$sluice" kb params check empty
check_has "$(cat err)" "empty:"
head -c 300 "$sluice" >binary
check_rc 1 "$sluice" kb params check binary
check_rc 1 "$sluice" kb params check no-such-file
check_has "$(cat err)" "no-such-file:"

# More parameters than a run can pass to the program: check reports what run does.
for i in $(seq 1000); do echo "<cb_nodes FileName=\"file$i\">4</cb_nodes>"; done >many
{ echo "<Parameters>"; cat many; echo "</Parameters>"; } >many.xml
check_rc 1 "$sluice" kb params check many.xml
check_has "$(cat out)" "many.xml"
! grep -q ' applied$' out || fail "parameters that do not fit are called applied"

# convert: round trips
check_rc 0 "$sluice" kb params convert sample.xml --format json -o sample.json
check_json sample.json sluice.params/1
check_rc 0 "$sluice" kb params convert sample.json --format xml -o again.xml
check_rc 0 "$sluice" kb params convert again.xml --format json -o again.json
cmp sample.json again.json || fail "JSON to XML and back differs"
check_rc 0 "$sluice" kb params convert sample.xml --format hints -o sample.hints
check_eq "$(grep -v '^#' sample.hints)" "cb_buffer_size 1048576
cb_nodes 32
striping_factor 16
striping_unit 65536" "hints"
check_rc 0 "$sluice" kb params convert sample.hints --format json
check_eq "$(json_get out '["parameters"].__len__()')" 4 "hints read back"
check_rc 0 "$sluice" kb params convert sample.xml --format shell -o sample.sh
bash -n sample.sh || fail "no shell would take it"
check_has "$(cat sample.sh)" "lfs setstripe -c 16 -S 65536 '.'"
check_rc 2 "$sluice" kb params convert sample.xml --format yaml
check_rc 1 "$sluice" kb params convert sample.xml --format xml -o /no/such/dir/file
