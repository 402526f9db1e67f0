#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every function that a source file of src/ or lab/ exports is called from another source file of src/, lab/ or
# kernels/, or by a generated wrapper. A function that only its own file calls should be static, unless a test calls it
# as well. A function that only tests call is dead code, unless unused.txt gives a reason to keep it.
# The check reads the symbols of the object files of the build.
set -eu

# unused DATABASE SOURCE EXCEPTIONS: one line for each function that breaks the rule
unused() {
	python3 - "$@" <<'PYTHON'
import collections, glob, json, os, re, subprocess, sys

database, source, exceptions = sys.argv[1:]
ours = tuple(os.path.join(source, top) + "/" for top in ("src", "lab"))
objects = {}
for entry in json.load(open(database)):
    output = re.search(r" -o (\S+)", entry["command"])[1]
    path = os.path.join(entry["directory"], output)
    # Guest sources that are compiled into a unit test do not count.
    in_test = output.startswith(("tests/", "bench/"))
    product = entry["file"].startswith(ours) or "/generated/" in entry["file"]
    kernel = entry["file"].startswith(os.path.join(source, "kernels") + "/")
    if not in_test and (product or kernel) and os.path.exists(path):
        objects[path] = entry["file"]
if not objects:
    sys.exit("%s: no object file of the sources has been built" % database)

extra = os.path.join(source, "tests/lint/exports-extra.txt")
wrappers = {line.split()[0] for line in open(extra) if line.strip()} if os.path.exists(extra) else set()
defined, users = {}, collections.defaultdict(set)
for line in subprocess.run(["nm", "-P", "-A"] + sorted(objects), capture_output=True, text=True).stdout.splitlines():
    path, symbol, kind = re.match(r"(.*?)(?:\[.*\])?: (\S+) (\S)", line).groups()
    if kind == "U":
        users[symbol].add(objects[path])
    # coverage.sh checks the functions that are written in assembly, and the wrappers that are written by hand.
    elif kind == "T" and objects[path].startswith(ours) and objects[path].endswith(".c"):
        # A name that is reserved replaces one of the compiler's libraries, which refer to it.
        if symbol.removeprefix("__wrap_") not in wrappers and not re.match("__(?!wrap_)", symbol):
            defined[symbol] = objects[path]

allowed = {}
for number, line in enumerate(open(exceptions), 1):
    words = line.split("#")[0].split()
    if words:
        allowed[words[0]] = number
        if len(words) < 2:
            print("%s:%d: %s has no reason" % (os.path.basename(exceptions), number, words[0]))

def identifiers(*patterns):
    """How often each identifier occurs in the files, without comments and strings."""
    count = collections.Counter()
    for pattern in patterns:
        for path in glob.glob(os.path.join(source, pattern), recursive=True):
            text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", open(path, errors="replace").read(), flags=re.S)
            count.update(re.findall(r"\b[A-Za-z_]\w*", text))
    return count

# Kernels are built only where there is an MPI, so their sources are searched, too.
kernels = identifiers("kernels/*.c")
tests = identifiers("tests/**/*.c", "bench/*.c")
for symbol, path in sorted(defined.items(), key=lambda d: (d[1], d[0])):
    where = os.path.relpath(path, source)
    if users[symbol] - {path} or kernels[symbol] or symbol == "main":
        used = True
    elif identifiers(where)[symbol] > 1:
        used = tests[symbol] > 0
        if not used and symbol not in allowed:
            print("%s: %s() is only called in this file; make it static" % (where, symbol))
    else:
        used = False
        if symbol not in allowed:
            print("%s: %s() is called by %s" % (where, symbol, "tests only" if tests[symbol] else "nobody"))
    if used and symbol in allowed:
        print("%s:%d: %s is called; remove the exception" % (os.path.basename(exceptions), allowed[symbol], symbol))
for symbol in sorted(set(allowed) - set(defined)):
    print("%s:%d: %s does not exist" % (os.path.basename(exceptions), allowed[symbol], symbol))
PYTHON
}

found=$(unused "$BUILD/compile_commands.json" "$SOURCE" "$SOURCE/tests/lint/unused.txt")
[ -z "$found" ] || { echo "$found"; exit 1; }

# The check itself works: one function is called from another file, one from its own file only, one by nobody.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src" "$work/kernels"
cat >"$work/src/one.c" <<'END'
int own(void) { return 0; } /* idle() */
int called(void) { return own(); }
int idle(void) { return 1; }
END
echo 'int called(void); int main(void) { return called(); }' >"$work/src/two.c"
for name in one two; do
	${CC:-cc} -c -o "$work/$name.o" "$work/src/$name.c"
	printf '{"directory": "%s", "file": "%s", "command": "cc -o %s -c x"}\n' "$work" "$work/src/$name.c" $name.o
done | sed '1s/^/[/; 1s/$/,/; $s/$/]/' >"$work/commands.json"
: >"$work/none.txt"
unused "$work/commands.json" "$work" "$work/none.txt" >"$work/found"
grep -q 'own() is only called in this file' "$work/found" && grep -q 'idle() is called by nobody' "$work/found" &&
	[ "$(wc -l <"$work/found")" = 2 ] || { echo "the planted unused functions were not reported:"; cat "$work/found"; exit 1; }
