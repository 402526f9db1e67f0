#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# No command blocks on, or reads, a FIFO, socket, device or directory where it expects a file. A database that computes
# instead of holding data, or that has no end, is rejected.
. "$(dirname "$0")/libtest.sh"

printf 'a,b\n1,2\n' >table.csv
check_rc 0 "$sluice" run --quiet -o good.sluice -- cat table.csv
check_rc 0 "$sluice" trace convert good.sluice good.db
export SLUICE_STORE_PATH=$work/store.db

mkfifo fifo
mkfifo part.sluice
mkdir directory
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'

# Each line is a command that reads FILE.
commands='report FILE
print FILE
print --csv FILE
trace convert FILE out.txt
trace merge -o merged.sluice good.sluice FILE
trace merge -o merged.sluice FILE
kb import FILE
kb params check FILE
kb params convert FILE out.xml
run --params FILE -- true
run FILE
tune --space FILE --simulate FILE -- true
tune --model FILE -- true
model data import FILE
model show FILE
model predict --machine FILE
model counts --machine FILE
forecast import --system x FILE
forecast train --model FILE
forecast now --model FILE
forecast place --model FILE
forecast evaluate FILE
lab learn show FILE
lab learn fit FILE --response b -o model
lab learn predict FILE table.csv
--set store.path=FILE kb list
--set store.path=FILE config store'

# ends_with FILE COMMAND...: the command ends by itself and fails, unless it is `run`, which goes on without parameters.
ends_with() {
	local file=$1 rc=0
	shift
	timeout "$limit" "$sluice" "${@//FILE/$file}" <table.csv >out 2>err || rc=$?
	[ "$rc" != 124 ] || fail "\"$*\" blocks on $file"
	[ "$rc" -lt 128 ] || fail "\"$*\" ends with $rc on $file: $(cat err)"
	[ "$rc" != 0 ] || [ "$1" = run ] || fail "\"$*\" accepts $file"
}

while read -r -a words; do
	for file in fifo socket directory /dev/zero; do
		ends_with $file "${words[@]}"
	done
done <<<"$commands"

for word in fifo:FIFO socket:socket directory:directory /dev/zero:device; do
	ends_with "${word%:*}" report FILE
	check_words "$(cat err)" "${word%:*}" "${word#*:}"
	ends_with "${word%:*}" kb import FILE
	check_words "$(cat err)" "${word%:*}" "${word#*:}"
done

# Files that are found rather than named: in a directory of parts, of runs, and the settings.
mkdir parts
mkfifo parts/one.sluice
timeout "$limit" "$sluice" trace merge -o merged.sluice parts >out 2>err && fail "a FIFO was merged"
[ $? != 124 ] || fail "trace merge blocks on a FIFO"
mkdir -p runs
mkfifo runs/run.sluice
check_rc 0 timeout "$limit" "$sluice" run --quiet -- true
check_rc 0 timeout "$limit" "$sluice" ls
check_rc 0 timeout "$limit" "$sluice" report
mkfifo "$SLUICE_ETC"
check_rc 0 timeout "$limit" "$sluice" run -o u.sluice -- true
check_words "$(cat err)" warning FIFO
rm "$SLUICE_ETC"

# SQL in a trace is not executed.
check_database() { # NAME WORD: reads NAME.db, made from good.db by the Python program on standard input
	cp good.db "$1.db"
	python3 - "$1.db"
	for command in "report" "print" "trace convert -f text"; do
		set -- "$1" "$2" $command
		rm -f out.txt
		local rc=0
		timeout "$limit" "$sluice" "${@:3}" "$1.db" $([ "$3" != trace ] || echo out.txt) >out 2>err || rc=$?
		check_eq "$rc" 1 "exit code of $command with $1"
		check_words "$(cat err)" "$1.db" "$2"
	done
}

check_database view table <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""drop table files; create view files as with recursive c(x) as
    (select 1 union all select x + 1 from c) select x as rowid, x as id, '/a' || x as path from c;""")
END

check_database activities_view table <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""alter table activities rename to a;
    create view activities as select a.rowid as rowid, a.* from a, a as b, a as c, a as d;""")
END

check_database generated column <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""drop table files;
    create table files (id INTEGER, path TEXT GENERATED ALWAYS AS (hex(zeroblob(5000000))));
    insert into files (id) values (1);""")
END

check_database missing files <<'END'
import sqlite3, sys
sqlite3.connect(sys.argv[1]).executescript("drop table files")
END

# Pages that refer to each other: a few kilobytes look like 50^12 rows.
make_endless() { # TABLE
	cat <<END
import sqlite3, struct, sys
db = sqlite3.connect(sys.argv[1])
for index, in db.execute("select name from sqlite_master where type = 'index' and tbl_name = '$1'").fetchall():
    db.execute("drop index " + index)
db.commit()
root, = db.execute("select rootpage from sqlite_master where name = '$1'").fetchone()
size, = db.execute("pragma page_size").fetchone()
db.close()
data = bytearray(open(sys.argv[1], "rb").read())
pages = len(data) // size
leaf = data[(root - 1) * size:root * size]
assert leaf[0] == 13 and leaf[3:5] != b"\0\0", "the table has one page, with rows"

def interior(child):
    page = bytearray(size)
    cells = 50
    start = size - 5 * cells
    page[0:12] = struct.pack(">BHHHBI", 5, 0, cells, start, 0, child)
    for i in range(cells):
        page[12 + 2 * i:14 + 2 * i] = struct.pack(">H", start + 5 * i)
        page[start + 5 * i:start + 5 * i + 5] = struct.pack(">IB", child, i + 1)
    return page

data[(root - 1) * size:root * size] = interior(pages + 1)
for i in range(11):
    data += interior(pages + 2 + i)
data += leaf
data[28:32] = struct.pack(">I", len(data) // size)
open(sys.argv[1], "wb").write(data)
END
}

check_database endless_notes data < <(make_endless notes)
check_database endless_activities work < <(make_endless activities)

# A FIFO beside a database is not opened, and a good database can still be read, whatever it is called.
mkfifo good.db-journal good.db-wal
check_rc 0 timeout "$limit" "$sluice" report good.db
cp good.db 'a b?c%20#d&e.db'
check_rc 0 "$sluice" print 'a b?c%20#d&e.db'
mv out expected
check_rc 0 "$sluice" print good.sluice
cmp out expected || fail "print differs for the SQLite form"

# Figures that no run can have are not repeated.
check_rc 0 "$sluice" trace convert good.sluice good.txt
for fact in 'loss	process=0	records=6479911954992612431	threads=0' 'end	duration_ns=9223372036854775807	exit_status=0	complete=1'; do
	{ cat good.txt; printf '#%s\n' "$fact"; } >figures.txt
	check_rc 1 "$sluice" report figures.txt
	check_words "$(cat err)" figures.txt range
done
