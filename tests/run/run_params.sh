#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The parameters of a run are read once and are the same for all processes; whatever is wrong with them, the program
# runs.
# Papers: H5T-6.
. "$(dirname "$0")/libtest.sh"
export SLUICE_SPOOL_DIR=$work/spool
mkdir spool

cat >good.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "cb_nodes", "value": 4},
 {"name": "alignment", "value": "0, 65536"},
 {"name": "striping_factor", "value": 4, "file": "sample.h5part"},
 {"name": "striping_factor", "value": 16}]}
END
cat >good.xml <<'END'
<?xml version="1.0"?>
<Parameters>
	<Middleware_Layer><cb_buffer_size> 1048576 </cb_buffer_size></Middleware_Layer>
</Parameters>
END
echo '{"schema": "sluice.params/1", "parameters": []}' >none.json
echo '{"schema": "sluice.params/1", "parameters": [' >broken.json
: >empty.xml
cat >partly.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "cb_nodes", "value": 2},
 {"name": "romio_cb_pfr", "value": "enable"},
 {"name": "fill_time", "value": "never"},
 {"name": "no_such_thing", "value": 1}]}
END

# The program prints what a process finds in the control page: a text of contract/parameters.h that ends with a zero.
cat >look.py <<'END'
import os
page = open(os.environ["SLUICE_SPOOL"] + "/control", "rb").read()
at = page.find(b"sluice-parameters 1 ")
print(page[at:page.index(b"\0", at)].decode() if at >= 0 else "nothing", end="")
END
python=/usr/bin/python3
[ -x $python ] || python=python3
look=(env SLUICE_DISABLE=1 $python look.py)

# given ARGUMENTS...: runs `sluice run ARGUMENTS`; the parameters that the program gets are in out
given() {
	check_rc 0 "$sluice" run -o trace "$@" -- "${look[@]}"
}

# The program uses neither MPI nor HDF5, which Sluice reports at the end of the run.
warnings() {
	check_eq "$(grep -vc ' not applied: the program' err || true)" "$1" "warnings of: $(cat err)"
}

# Valid parameters are passed to the program, specific ones before general ones.
given --params good.json
warnings 0
check_eq "$(head -n 1 out)" "sluice-parameters 1 parameters"
check_has "$(cat out)" "hint	*	*	cb_nodes	4"
check_has "$(cat out)" "access	*	*	alignment	0,65536"
check_eq "$(grep -c '^hint.*striping_factor' out)" 2
check_eq "$(grep '^hint.*striping_factor' out | head -n 1 | cut -f 2)" sample.h5part
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"][0]["source"]')" parameters
check_eq "$(json_get report '["applied"][0]["name"]')" given
check_eq "$(json_get report '["applied"][1]["value"]')" good.json
check_has "$(json_get report '["applied"][0]["value"]')" "striping_factor=4@sample.h5part"
check_eq "$(json_get report '["parameters"]')" "[]"
"$sluice" report trace >report
check_has "$(cat report)" "[parameters] given cb_nodes=4 alignment=0,65536"
given -p good.xml
check_has "$(cat out)" "hint	*	*	cb_buffer_size	1048576"

# A setting works as well; the option takes precedence.
SLUICE_PARAMS_FILE=$work/good.xml given
check_has "$(cat out)" "cb_buffer_size	1048576"
SLUICE_PARAMS_FILE=$work/good.xml given --params good.json
check_eq "$(grep -c cb_buffer_size out || true)" 0
check_has "$(cat out)" "cb_nodes"

# Precedence between the program and the parameters: the file of the site does not override the program.
printf '[params]\nfile = %s\n' "$work/good.json" >etc.conf
given
check_eq "$(head -n 1 out)" "sluice-parameters 1 application"
given --params good.json
check_eq "$(head -n 1 out)" "sluice-parameters 1 parameters"
rm etc.conf
SLUICE_PARAMS_AUTHORITY=application given --params good.json
check_eq "$(head -n 1 out)" "sluice-parameters 1 application"

# An empty parameter file requests only that values are recorded.
given --params none.json
warnings 0
check_eq "$(cat out)" "sluice-parameters 1 parameters"
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"]')" "[]"

# A setting that names an invalid file causes one warning, and the program runs. The same file in --params is an error,
# because the user has asked for it: the program does not start.
for file in missing.xml empty.xml broken.json /dev/null "$work"; do
	SLUICE_PARAMS_FILE=$file given
	check_eq "$(cat out)" nothing "given by $file"
	warnings 1
	check_has "$(cat err)" "$file"
	check_words "$(cat err)" parameters applied
	check_rc 2 "$sluice" run -o trace --params "$file" -- touch started
	[ ! -e started ] || fail "the program was started without $file"
	check_has "$(cat err)" "$file"
done
check_rc 2 "$sluice" run --params broken.json -- true
check_has "$(cat err)" "broken.json:2:"
SLUICE_PARAMS_FILE=missing.xml given -q
warnings 0
given --params partly.json
warnings 1
check_has "$(cat err)" "partly.json:"
check_words "$(cat err)" "2 more"
check_eq "$(tail -n +2 out)" "hint	*	*	cb_nodes	2"

# Parameters beyond params.allow are not applied.
check_eq "$(grep -c fill_time out || true)" 0
SLUICE_PARAMS_ALLOW=semantics given --params partly.json
check_has "$(cat out)" "fill_time	never"
check_words "$(cat err)" "1 more"
SLUICE_PARAMS_ALLOW=safe given --params good.json
check_eq "$(grep -c striping_factor out || true)" 0
check_words "$(cat err)" good.json:3: alignment=0,65536 "not applied"
check_rc 2 "$sluice" --set params.allow=everything run --params good.json -- true
check_rc 2 "$sluice" run --tune=always -- true

# params.forbid: the user cannot undo the setting of the site.
SLUICE_PARAMS_FORBID="alignment, cb_nodes" given --params good.json
check_eq "$(grep -c 'alignment\|cb_nodes' out || true)" 0
check_has "$(cat out)" striping_factor
warnings 1
check_words "$(cat err)" good.json:2: cb_nodes params.forbid
printf '[params]\nforbid = cb_nodes\n' >etc.conf
SLUICE_PARAMS_FORBID=alignment given --params good.json
check_eq "$(grep -c 'alignment\|cb_nodes' out || true)" 0
rm etc.conf

# With recording off, parameters still work.
given --mode off --params good.json
check_has "$(cat out)" "cb_nodes	4"
warnings 0
given
check_eq "$(cat out)" nothing

# A program without MPI and HDF5 is not affected.
for mode in trace counters off; do
	rm -rf plain with
	mkdir plain with
	(cd plain && "$prog/plain" x >../plain.out 2>../plain.err) || true
	check_rc 23 env -C with "$sluice" run -o "$work/t" --mode $mode --params "$work/good.json" -- "$prog/plain" x
	cmp out plain.out || fail "the output is another in mode $mode"
	grep -v ' not applied: ' err | cmp - plain.err || fail "there is more on stderr in mode $mode"
	check_words "$(grep ' not applied' err)" cb_nodes=4 alignment=0,65536 striping_factor=4@sample.h5part
	diff -r plain with || fail "the files are others in mode $mode"
done
check_rc 3 "$sluice" run -q --params good.json -- sh -c 'exit 3'

# The brief report lists the applied parameters.
given --summary --params good.json
check_words "$(cat err)" "cb_nodes=4 alignment=0,65536"

# A rank inside a run gets the parameters of that run.
check_rc 0 "$sluice" run -o trace --params good.json -- env PMI_RANK=0 PMI_SIZE=1 "$sluice" run --params good.xml -- "${look[@]}"
check_has "$(cat out)" "cb_nodes"
check_words "$(cat err)" --params

[ -z "$(ls spool)" ] || fail "spools are left: $(ls spool)"
