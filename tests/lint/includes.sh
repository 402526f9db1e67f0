#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Holds the sources to the table "who may include whom" of ARCHITECTURE.md. A row names a folder of src/
# (the longest one that fits counts) and the folders or headers it may include besides itself.
set -eu

# Prints every include below $1 that the table of file $2 forbids.
check() {
	python3 - "$1" "$2" <<'PYTHON'
import os, re, sys

root, document = sys.argv[1:]
allowed = {}
for line in open(document):
    row = re.fullmatch(r"\|\s*`?([a-z/]+)`?\s*\|\s*(.*?)\s*\|\s*", line)
    if row and row[1] != "folder of src/":
        allowed[row[1]] = [] if row[2] == "nothing" else [w.strip(" `") for w in row[2].split(",")]
if not allowed:
    sys.exit("%s: the table of includes is not there" % document)

def owner(path):
    fits = [f for f in allowed if path == f or path.startswith(f + "/")]
    return max(fits, key=len) if fits else None

for folder, _, names in sorted(os.walk(os.path.join(root, "src"))):
    for name in sorted(names):
        if not name.endswith((".c", ".h", ".S")):
            continue
        full = os.path.join(folder, name)
        path = os.path.relpath(full, os.path.join(root, "src"))
        home = owner(path)
        if home is None:
            print("src/%s: its folder is not in the table" % path)
            continue
        for number, line in enumerate(open(full, errors="replace"), 1):
            include = re.match(r'\s*#\s*include\s+(?:"([^"]+)"|<(sluice/[^>]+)>)', line)
            if not include:
                continue
            target = include[1] or include[2]
            if target.startswith("sluice/"):
                target = "include/" + target
            elif "/" not in target:
                print("src/%s:%d: \"%s\" does not name its folder" % (path, number, target))
                continue
            may = allowed[home] + [home]
            if not any(target == m or target.startswith(m + "/") for m in may):
                print("src/%s:%d: %s may not include %s" % (path, number, home, target))
PYTHON
}

found=$(check "$SOURCE" "$SOURCE/ARCHITECTURE.md")
[ -z "$found" ] || { echo "$found"; exit 1; }

# A check that never fails is none: plant one breach of each kind and see it found.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/base" "$work/src/capture" "$work/src/strange"
echo '#include "trace/format.h"' >"$work/src/base/bad.c"
echo '#include "base/mem.h"' >"$work/src/capture/bad.c"
echo '#include "trace/format.h"' >"$work/src/capture/bad.h"
echo '#include "check.h"' >"$work/src/base/nameless.c"
echo 'int x;' >"$work/src/strange/new.c"
planted=$(check "$work" "$SOURCE/ARCHITECTURE.md" | wc -l)
[ "$planted" = 5 ] || { echo "5 breaches were planted, $planted were found"; exit 1; }
