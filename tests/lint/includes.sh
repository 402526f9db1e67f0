#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the sources against the table "Who may include whom" of ARCHITECTURE.md. Every folder of src/ and lab/ that
# holds sources has a row. The row names what the folder may include besides itself: folders, without their
# sub-folders, or single headers. Folders of src/ are named without "src/"; "include/sluice" is the public headers.
# Neither the rows nor the includes may form a cycle, and no folder of src/ may include lab/.
# "includes.sh --table" prints the rows that the sources need, to update the table after a deliberate change.
# Papers: HYB-2, HYB-AC-18.
set -eu

# check ROOT DOCUMENT: prints one line for each breach of the table in DOCUMENT by the sources below ROOT
# check ROOT: prints the rows that the sources below ROOT need
check() {
	python3 - "$@" <<'PYTHON'
import os, re, sys

root, document = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None

def read_table():
    rows, inside = {}, False
    for number, line in enumerate(open(document), 1):
        cells = [c.strip(" `") for c in line.strip().strip("|").split("|")]
        if cells == ["folder", "may include"]:
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not re.fullmatch(r"[-| :]+", line.strip()):
            folder, may = cells
            if folder in rows:
                print("%s:%d: %s has two rows" % (os.path.basename(document), number, folder))
            rows[folder] = set() if may == "nothing" else {w.strip(" `") for w in may.split(",")}
    return rows

def folders():
    for top in ("src", "lab"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            names = sorted(n for n in names if n.endswith((".c", ".h", ".S")))
            if names:
                path = os.path.relpath(folder, root)
                yield path, path[len("src/"):] if top == "src" else path, names

def includes(path):
    for number, line in enumerate(open(path, errors="replace"), 1):
        include = re.match(r'\s*#\s*include\s+(?:"([^"]+)"|<(sluice/[^>]+)>)', line)
        if include:
            target = include[1] or include[2]
            yield number, "include/" + target if target.startswith("sluice/") else target

def cycles(graph):
    """Groups of folders that reach each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []
    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(group) > 1:
                found.append(sorted(group))
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found

def needed_rows():
    for path, folder, names in folders():
        homes = {os.path.dirname(t) for n in names for _, t in includes(os.path.join(root, path, n))} - {folder, ""}
        yield folder.startswith("lab"), folder, ", ".join(sorted(homes)) or "nothing"

if not document:
    for _, folder, may in sorted(needed_rows()):
        print("| %s | %s |" % (folder, may))
    sys.exit()
table = read_table()
if not table:
    sys.exit("%s: the table \"| folder | may include |\" is missing" % document)
known, graph = set(), {}
for path, folder, names in folders():
    known.add(folder)
    if folder not in table:
        print("%s: the folder has no row in the table" % path)
    for name in names:
        for number, target in includes(os.path.join(root, path, name)):
            where = "%s/%s:%d" % (path, name, number)
            home = os.path.dirname(target)
            if not home:
                print("%s: \"%s\" does not name its folder" % (where, target))
            elif home != folder:
                graph.setdefault(folder, set()).add(home)
                if path.startswith("src") and home.startswith("lab"):
                    print("%s: the product must not include %s" % (where, target))
                elif folder in table and not {home, target} & table[folder]:
                    print("%s: %s may not include %s" % (where, folder, target))
for folder in sorted(set(table) - known):
    print("the table has a row for %s, which holds no sources" % folder)
for group in cycles(graph):
    print("these folders include each other: " + ", ".join(group))
rows = {folder: {os.path.dirname(m) if m.endswith(".h") else m for m in may} - {folder} for folder, may in table.items()}
for group in cycles(rows):
    print("these rows of the table form a cycle: " + ", ".join(group))
PYTHON
}

if [ "${1:-}" = --table ]; then
	check "${SOURCE:-.}"
	exit
fi
found=$(check "$SOURCE" "$SOURCE/ARCHITECTURE.md")
[ -z "$found" ] || { echo "$found"; exit 1; }

# Plant one breach of each kind, and make sure that each is found.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/src/{base,trace/text,capture/record,strange,one,two} "$work/lab/chart"
cat >"$work/table.md" <<'END'
| folder | may include |
|---|---|
| base | nothing |
| trace/text | base, one/header.h |
| capture/record | contract |
| one | two |
| two | one |
| lab/chart | base |
| gone | base |
END
echo '#include "trace/format.h"' >"$work/src/base/upward.c"
echo '#include "name.h"' >"$work/src/base/nameless.c"
echo '#include "one/other.h"' >"$work/src/trace/text/header.c"
echo '#include "base/text/deep.h"' >"$work/src/trace/text/child.c"
echo '#include "base/mem.h"' >"$work/src/capture/record/host.c"
echo '#include "lab/chart/chart.h"' >"$work/src/one/product.c"
echo '#include "two/two.h"' >"$work/src/one/cycle.c"
echo '#include "one/one.h"' >"$work/src/two/cycle.c"
echo 'int x;' >"$work/src/strange/new.c"
echo '#include "trace/format.h"' >"$work/lab/chart/chart.c"
check "$work" "$work/table.md" >"$work/found" || true
for breach in 'upward.c:1: base may not include trace/format.h' 'nameless.c:1: "name.h" does not name' \
	'header.c:1: trace/text may not' 'child.c:1: trace/text may not' 'host.c:1: capture/record may not' \
	'product.c:1: the product must not' 'include each other: one, two' 'strange: the folder has no row' \
	'chart.c:1: lab/chart may not' 'row for gone' 'form a cycle: one, two'; do
	grep -qF "$breach" "$work/found" || { echo "a planted breach was not reported: $breach"; exit 1; }
done
[ "$(wc -l <"$work/found")" = 11 ] || { echo "sources that follow the table were reported:"; cat "$work/found"; exit 1; }
