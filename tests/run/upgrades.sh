#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that earlier versions have written (tests/archive/) are read: traces, stores, site databases, models, exported
# knowledge bases, parameters, settings, and spools of killed runs. What they contain is compared with what the earlier
# version itself said about them. Reading changes no file, and a migration keeps all rows.
. "$(dirname "$0")/libtest.sh"
archive=$SOURCE/tests/archive

# sums DIRECTORY: all files below it, with checksums
sums() {
	(cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}
# rows FILE [OLD]: the contents of all tables of a database; with OLD only the tables and columns that OLD has
rows() {
	python3 - "$@" <<'PYTHON'
import sqlite3, sys

def columns(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    return {table: [row[1] for row in db.execute('PRAGMA table_info("%s")' % table)] for table in tables}

db = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
count = 0
for table, names in sorted(columns(sys.argv[-1]).items()):
    listed = ", ".join('"%s"' % name for name in names)
    for row in sorted(map(repr, db.execute('SELECT %s FROM "%s"' % (listed, table)))):
        print(table, row)
        count += 1
assert count, "no rows in " + sys.argv[1]
PYTHON
}
# check_trace NAME PATH: the report and the number of calls are those of the earlier version
check_trace() {
	local name=$1 path=$2
	"$sluice" report --json "$path" >report.json 2>err || fail "$this: $path: $(cat err)"
	python3 "$archive/figures.py" report.json >figures
	check_figures "$old/$name.figures" figures
	check_eq "$("$sluice" print "$path" 2>/dev/null | wc -l)" "$(cat "$old/$name.lines")" "$this: calls of $path"
}
check_figures() {
	local left
	# Files are listed up to a limit, in an order that depends on the version.
	left=$(diff <(grep -v '^file ' "$1") <(grep -v '^file ' "$2")) || fail "$this: $path: $left"
	left=$(comm -13 <(cut -d ' ' -f 2- "$1" | sort) <(grep '^file ' "$2" | cut -d ' ' -f 2- | sort))
	[ -z "$left" ] || fail "$this: $path: other files: $left"
}
# same_json OLD NEW KEY...: these members of the objects are equal
same_json() {
	python3 - "$@" <<'PYTHON' || fail "$this: $2 differs from $1"
import json, sys
old, new = (json.load(open(path)) for path in sys.argv[1:3])
for key in sys.argv[3:]:
    a, b = old, new
    for part in key.split("."):
        a, b = ([x[part] for x in y] if isinstance(y, list) else y[part] for y in (a, b))
    if a != b:
        sys.exit("%s: %r became %r" % (key, a, b))
PYTHON
}

# The version of spools that this program writes
spool_version=$("$sluice" run -q -o own.sluice -- sh -c 'od -A n -t u4 -j 8 -N 4 "$SLUICE_SPOOL/control"' | tr -d ' ')

count=0
for packed in "$archive"/*.tar.xz; do
	this=$(basename "$packed" .tar.xz)
	old=$work/$this
	mkdir "$old"
	python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$packed" "$old"
	sums "$old" >before
	count=$((count + 1))

	# Traces, also converted to each format by this version.
	for name in plain counters ranks; do
		[ -e "$old/$name.sluice" ] || continue
		check_trace $name "$old/$name.sluice"
		# Another figure would be noticed.
		sed '0,/^function /s/ 0$/ 7/' "$old/$name.figures" >changed
		! (check_figures changed figures) 2>/dev/null || fail "$this: a changed figure was not noticed"
		for form in container text sqlite; do
			rm -f converted
			check_rc 0 "$sluice" trace convert --format $form "$old/$name.sluice" converted
			check_trace $name converted
		done
	done
	for form in text sqlite; do
		[ ! -e "$old/plain.$form" ] || check_trace plain "$old/plain.$form"
	done
	if [ -e "$old/profile.saved" ]; then
		rc=0
		"$sluice" report --json "$old/profile.saved" >report.json 2>err || rc=$?
		if [ $rc = 0 ]; then
			python3 "$archive/figures.py" report.json >figures
			path=$old/profile.saved
			check_figures "$old/plain.figures" figures
		else
			check_words "$(cat err)" profile.saved version "save it again"
		fi
	fi

	# Models: the same prediction, to the digits that are printed.
	export SLUICE_MACHINES=$work/machines
	mkdir -p machines
	cp "$old/testbed.ini" machines
	if [ -e "$old/costs.predicted" ]; then
		check_rc 0 "$sluice" model predict -m "$old/costs.model" -n 256 -s 15872K --param striping_factor=16 --json
		same_json "$old/costs.predicted" out seconds low high aggregators rounds terms.seconds
	fi

	# The store: all rows are there after the migration, and commands list what the earlier version listed.
	mkdir -p "$XDG_DATA_HOME/sluice"
	rm -f "$XDG_DATA_HOME"/sluice/*
	store=$XDG_DATA_HOME/sluice/store.db
	if [ -e "$old/store.db" ]; then
		install -m 600 "$old/store.db" "$store"
		check_rc 0 "$sluice" config store
		rows "$old/store.db" >rows.old
		rows "$store" "$old/store.db" >rows.new
		cmp -s rows.old rows.new || fail "$this: rows of the store: $(diff rows.old rows.new | head -n 4)"
		echo "$this: $(wc -l <rows.old) rows of the store"
		[ ! -e "$store-wal" ] && [ ! -e "$store-journal" ] || fail "$this: the migration has left a journal"
	fi
	if [ -e "$old/best.xml" ]; then
		check_rc 0 "$sluice" kb list --json
		same_json "$old/kb.list" out entries.id entries.program entries.fingerprint \
			entries.ranks entries.platform entries.size_class entries.before entries.after entries.gain_low entries.gain_high \
			entries.found_ns entries.study entries.pinned entries.parameters
		check_rc 0 "$sluice" kb show 1
		check_rc 0 "$sluice" kb tunings --json
		same_json "$old/tunings.list" out tunings.id tunings.begun_ns tunings.state tunings.runs tunings.command
		check_rc 0 "$sluice" kb tunings 1
		for form in xml json hints; do
			check_rc 0 "$sluice" kb params check "$old/best.$form"
			check_rc 0 "$sluice" run -q --params "$old/best.$form" -o applied.sluice -- true
		done
	fi
	if [ -e "$old/systems.list" ]; then
		check_rc 0 "$sluice" forecast systems --json
		same_json "$old/systems.list" out systems
		check_rc 0 "$sluice" forecast export --system little
		check_eq "$(sha256sum <out)" "$(cat "$old/probes.sum")" "$this: exported probe data"
		check_rc 0 "$sluice" forecast now -m "$old/forecast.model" --until $((1520700000 + 399 * 60)) --json
		same_json "$old/forecast.now" out forecasts.target forecasts.state forecasts.busy forecasts.expected_s
		check_rc 0 "$sluice" model fit --platform testbed --learners linear --candidates 2 --folds 3 -o refitted.model
	fi
	# The exported knowledge base, in a new store.
	if [ -e "$old/best.xml" ]; then
		rm -f "$XDG_DATA_HOME"/sluice/*
		check_rc 0 "$sluice" kb import "$old/kb.exported"
		check_rc 0 "$sluice" kb list --json
		same_json "$old/kb.list" out entries.program entries.before entries.after entries.gain entries.parameters
	fi

	# A site's database as a file: it is migrated on request or when it is opened.
	if [ -e "$old/site.db" ]; then
		install -m 600 "$old/site.db" site.db
		check_rc 0 "$sluice" site migrate --database site.db
		rows "$old/site.db" >rows.old
		rows site.db "$old/site.db" >rows.new
		cmp -s rows.old rows.new || fail "$this: rows of the site: $(diff rows.old rows.new | head -n 4)"
		check_rc 0 "$sluice" site query --database site.db --json 'SELECT uuid, program, ranks FROM run ORDER BY uuid'
		same_json "$old/site.runs" out rows
		rm site.db
	fi

	# Settings: each name of a setting is still accepted, and has the value that the file gives it.
	python3 - "$old/settings.json" >settings.conf <<'PYTHON'
import json, sys
sections = {}
for setting in json.load(open(sys.argv[1]))["settings"]:
    sections.setdefault(setting["section"], []).append("%s = %s" % (setting["key"], setting["value"]))
for section, lines in sections.items():
    print("[%s]\n%s" % (section, "\n".join(lines)))
PYTHON
	check_rc 0 env SLUICE_CONFIG="$work/settings.conf" "$sluice" config show
	check_eq "$(cat err)" "" "$this: complaints about settings"

	# The spools of a killed run are recovered if their version is that of this program, else they are kept. What the
	# collector had written to the trace can be read.
	check_rc 0 "$sluice" report --json "$old/killed/killed.sluice"
	check_eq "$(json_get out '["complete"]')" False "$this: trace of a killed run"
	cp -a "$old/killed/spool" spool
	cp "$old/killed/killed.sluice" killed.sluice
	python3 - spool/control "$work/killed.sluice" <<'PYTHON'
import sys
# The control page names the trace; it was in another directory.
old, new = b"/tmp/sluice-archive/data/killed.sluice", sys.argv[2].encode()
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(old + b"\0")
data[at:at + max(len(old), len(new) + 1)] = new.ljust(max(len(old), len(new) + 1), b"\0")
open(sys.argv[1], "r+b").write(data)
PYTHON
	version=$(od -A n -t u4 -j 8 -N 4 spool/control | tr -d ' ')
	sums spool >spool.sums
	rc=0
	"$sluice" trace recover "$work/spool" >out 2>err || rc=$?
	if [ $rc = 0 ]; then
		check_eq "$version" "$spool_version" "$this: version of recovered spools"
		"$sluice" report --top 100000 --json killed.sluice >report.json 2>/dev/null
		check_eq "$(python3 -c 'import json
print(sum(f["bytes_written"] for f in json.load(open("report.json"))["files"] if f["file"].endswith("/slow.out")))')" \
			20000 "$this: recovered bytes"
		echo "$this: spools of version $version were recovered"
	else
		check_words "$(cat err)" recover
		[ "$version" = "$spool_version" ] || check_words "$(cat err)" "$version" "$spool_version" "$work/spool"
		diff <(sums spool) spool.sums >/dev/null || fail "$this: the spools have changed"
		cmp -s killed.sluice "$old/killed/killed.sluice" || fail "$this: the trace of the killed run has changed"
		echo "$this: spools of version $version were refused and kept"
	fi
	rm -rf spool
	sums "$old" >after
	cmp -s before after || fail "$this: reading has changed files: $(diff before after)"
done
[ $count -ge 4 ] || fail "only $count archives"
