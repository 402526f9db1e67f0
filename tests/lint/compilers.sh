#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# gcc and clang accept every source of the tree without warnings, with the options that it is built with. Nothing is
# compiled into objects, so warnings that depend on optimization are only found by a build.
set -eu
. "$SOURCE/tests/libskip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/compile.py" <<'PYTHON'
"""usage: compile.py COMMANDS COMPILER: checks each source once per set of definitions and include folders."""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

database, compiler = sys.argv[1:]
# Options that only gcc knows.
ONLY_GCC = {"-fno-semantic-interposition", "-Wno-stringop-overflow"}
WITH_VALUE = {"-o", "-MF", "-MT"}


def options(command):
    """The options of a compile command, without those that name its outputs."""
    words = iter(shlex.split(command))
    for word in words:
        if os.path.basename(word).startswith("ccache"):
            continue
        break  # the compiler
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif word not in ("-MD", "-c") and not (compiler == "clang" and word in ONLY_GCC):
            yield word


def check(job):
    folder, words = job
    run = subprocess.run([compiler, "-fsyntax-only", "-Werror", *words], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, universal_newlines=True)
    return run.returncode, run.stdout


jobs = {}
for entry in json.load(open(database)):
    if entry["file"].endswith(".c") and os.path.exists(entry["file"]):
        words = list(options(entry["command"]))
        key = entry["file"], tuple(w for w in words if w.startswith(("-D", "-I")) or "include" in w)
        jobs.setdefault(key, (entry["directory"], words))
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(check, jobs.values()))
for code, text in results:
    if code:
        print(text)
print("compilers: %s: %d of %d sources have warnings" % (compiler, sum(code != 0 for code, _ in results), len(results)))
sys.exit(any(code for code, _ in results))
PYTHON

for compiler in gcc clang; do
	command -v $compiler >/dev/null || skip $compiler
	# A source with a warning is reported.
	echo 'int main(void) { int unused; return 0; }' >"$work/planted.c"
	echo "[{\"directory\": \"$work\", \"file\": \"$work/planted.c\", \"command\": \"ccache cc -Wall -MD -MF x -o y -c planted.c\"}]" \
		>"$work/planted.json"
	! python3 "$work/compile.py" "$work/planted.json" $compiler >"$work/out" && grep -q unused "$work/out" ||
		{ echo "compilers: $compiler: a warning was not reported"; exit 1; }
	python3 "$work/compile.py" "$BUILD/compile_commands.json" $compiler
done
