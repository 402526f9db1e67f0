#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files of a later version are refused: the message names the file, its version, the version that is known, and the
# remedy, and the file stays as it is. The files are those of this version with another version number.
. "$(dirname "$0")/libtest.sh"

# refused FILE LATER KNOWN COMMAND...: the command fails because the file has version LATER
refused() {
	local file=$1 later=$2 known=$3 before rc=0
	shift 3
	before=$(sha256sum "$file")
	"$@" >out 2>err || rc=$?
	[ $rc -ge 1 ] && [ $rc -le 3 ] || fail "exit code of \"$*\" is $rc: $(cat err)"
	check_words "$(cat err)" "$(basename "$file")" "$later" "$known" "update Sluice"
	check_eq "$(sha256sum "$file")" "$before" "$file after $*"
}

# raise FILE FROM TO: replaces a text in a copy of the file, which has to be there once
raise() {
	python3 - "$@" <<'PYTHON'
import sys
file, old, new = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
data = open(file, "rb").read()
assert data.count(old) >= 1, (file, old)
open(file, "wb").write(data.replace(old, new, 1))
PYTHON
}
# number FILE: the version of an SQLite file; set_number FILE VERSION changes it
number() {
	python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version").fetchone()[0])' "$1"
}
set_number() {
	python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA user_version = " + sys.argv[2]); c.commit()' \
		"$1" "$2"
}

# Traces. Before its version is changed, each file can be read.
"$sluice" run -o plain.sluice -- cat /etc/hostname >/dev/null
for form in text sqlite; do
	"$sluice" trace convert --format $form plain.sluice plain.$form >/dev/null
done
cp plain.sluice later.sluice
check_rc 0 "$sluice" report later.sluice
printf '\x02' | dd of=later.sluice bs=1 seek=8 conv=notrunc status=none
for command in report print "trace path" ls; do
	# shellcheck disable=SC2086
	[ "$command" = ls ] || [ "$command" = "trace path" ] || refused later.sluice 2 1 "$sluice" $command ./later.sluice
done
refused later.sluice 2 1 "$sluice" trace convert --format text later.sluice never.text
[ ! -e never.text ] || fail "a trace was converted that could not be read"
version=$(head -n 1 plain.text | cut -f 2)
cp plain.text later.text
sed -i "1s/$version\$/$((version + 1))/" later.text
refused later.text $((version + 1)) "$version" "$sluice" report ./later.text
check_eq "$(number plain.sqlite)" "$version" "version of a trace in SQLite"
cp plain.sqlite later.sqlite
set_number later.sqlite $((version + 1))
refused later.sqlite $((version + 1)) "$version" "$sluice" report ./later.sqlite

# The store and the database of a site have the same tables. No command creates or changes anything in a later one.
store=$XDG_DATA_HOME/sluice/store.db
"$sluice" tune --simulate hopper --kernel vpic --ranks 2048 --runs 8 -o best >/dev/null 2>err || fail "$(cat err)"
"$sluice" kb export >kb.json
known=$(number "$store")
cp "$store" store.copy
check_rc 0 "$sluice" kb list
set_number "$store" $((known + 1))
for command in "kb list" "kb tunings" "kb export" "config store" "forecast systems" "model data list" "kb import kb.json"; do
	# shellcheck disable=SC2086
	refused "$store" $((known + 1)) "$known" "$sluice" $command
done
# A program runs and is recorded all the same.
check_rc 0 "$sluice" run -o during.sluice -- cat /etc/hostname
check_rc 0 "$sluice" report during.sluice
cp store.copy "$store"
"$sluice" site init --database site.db >/dev/null
"$sluice" site import --database site.db plain.sluice >/dev/null
check_rc 0 "$sluice" site status --database site.db
set_number site.db $((known + 1))
for command in status "import plain.sluice" migrate init; do
	# shellcheck disable=SC2086
	refused site.db $((known + 1)) "$known" "$sluice" site ${command%% *} --database site.db ${command#"${command%% *}"}
done

# Files of JSON.
raise kb.json sluice.kb/1 sluice.kb/2
refused kb.json sluice.kb/2 sluice.kb/1 "$sluice" kb import kb.json
check_rc 0 "$sluice" kb params check best.json
raise best.json sluice.params/1 sluice.params/2
refused best.json sluice.params/2 sluice.params/1 "$sluice" kb params check best.json
refused best.json sluice.params/2 sluice.params/1 "$sluice" run --params best.json -- true
echo '{"schema": "sluice.space/2", "dimensions": [{"name": "cb_nodes", "values": [1]}]}' >space.json
refused space.json sluice.space/2 sluice.space/1 "$sluice" tune --dry-run --space space.json -- true

# Models. The version is checked before the checksum.
python3 "$SOURCE/tests/archive/rows.py"
mkdir machines
export SLUICE_MACHINES=$work/machines
printf '[machine]\nname = testbed\ntitle = Testbed\nromio = lustre\n[nodes]\ncores = 16\n[storage]\nblock = 4K\n' >machines/testbed.ini
check_rc 0 "$sluice" model fit --rows costs.csv --learners linear --candidates 2 --folds 3 -o costs.model
check_rc 0 "$sluice" model show costs.model
raise costs.model sluice.hybrid/2 sluice.hybrid/3
refused costs.model 3 2 "$sluice" model show costs.model
check_rc 0 "$sluice" forecast import probes.txt
check_rc 0 "$sluice" forecast train --method logistic --history 20m --folds 3 -o forecast.model
check_rc 0 "$sluice" forecast now -m forecast.model --until $((1520700000 + 399 * 60))
raise forecast.model sluice.forecaster/5 sluice.forecaster/6
refused forecast.model 6 5 "$sluice" forecast now -m forecast.model --until $((1520700000 + 399 * 60))

# The spools of a run that was killed: they are kept, and with their version they can be recovered.
mkfifo hold
"$sluice" run --spool-dir "$work" -o killed.sluice -- sh -c 'cat /etc/hostname >copy; echo "$SLUICE_SPOOL" >spool; read -r x <hold' &
run=$!
wait_for "program" test -s spool
recorder=$(recorder_of $run)
spool=$(cat spool)
kill -STOP $run "$recorder"
program=$(pgrep -P $run -x sh || pgrep -P "$recorder" -x sh)
kill -9 "$program" $run "$recorder"
wait $run 2>/dev/null || true
[ -e "$spool/control" ] || fail "no control page in $spool"
cp -a "$spool" spool.copy
version=$(od -A n -t u4 -j 8 -N 4 "$spool/control" | tr -d ' ')
for later in $((version + 1)) $((version - 1)); do
	printf "\\x$(printf %02x $later)" | dd of="$spool/control" bs=1 seek=8 conv=notrunc status=none
	before=$(cd "$spool" && sha256sum -- *)
	check_rc 1 "$sluice" trace recover "$spool"
	check_words "$(cat err)" "$(basename "$spool")" $later "$version"
	[ $later -lt "$version" ] || check_words "$(cat err)" "update Sluice"
	# Neither the other runs of the user nor a search for such runs touch them.
	"$sluice" trace recover >/dev/null 2>&1 || true
	"$sluice" run -q --spool-dir "$work" -o other.sluice -- true
	check_eq "$(cd "$spool" && sha256sum -- *)" "$before" "spools of version $later"
done
cp spool.copy/control "$spool/control"
# The same version with another table of calls: the number of a call means another call. A process that finds such a page
# is not recorded.
calls=1092
digest=$(od -A n -t x4 -j $calls -N 4 "$spool/control" | tr -d ' ')
check_eq "$("$sluice" run -q -o other.sluice -- sh -c "od -A n -t x4 -j $calls -N 4 \"\$SLUICE_SPOOL/control\"" | tr -d ' ')" "$digest" \
	"digest of the table of calls"
[ "$digest" != 00000000 ] || fail "there is no digest of the table of calls"
printf '\x00\x00\x00\x01' | dd of="$spool/control" bs=1 seek=$calls conv=notrunc status=none
before=$(cd "$spool" && sha256sum -- *)
check_rc 1 "$sluice" trace recover "$spool"
check_words "$(cat err)" "$(basename "$spool")" "another build" recover
check_eq "$(cd "$spool" && sha256sum -- *)" "$before" "spools of another build"
check_rc 0 "$sluice" run -o mixed.sluice -- sh -c "cat /etc/hostname >first
	printf '\\000\\000\\000\\001' | dd of=\"\$SLUICE_SPOOL/control\" bs=1 seek=$calls conv=notrunc status=none
	cat /etc/hostname >second"
cmp first second || fail "the program in a mixed run"
"$sluice" report --top 100000 --json mixed.sluice >report.json 2>/dev/null
python3 - <<'PYTHON' || fail "processes with another table of calls"
import json
files = {file["file"].rsplit("/", 1)[-1]: file["bytes_written"] for file in json.load(open("report.json"))["files"]}
assert files["first"] > 0 and not files.get("second"), files
PYTHON
cp spool.copy/control "$spool/control"
check_rc 0 "$sluice" trace recover "$spool"
check_rc 0 "$sluice" report killed.sluice
