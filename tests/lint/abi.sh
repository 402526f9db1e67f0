#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The binary interfaces for plug-ins and instrumented programs change only as docs/reference/abi.md permits: abi.txt has the
# layout of each struct and the values of each enumeration under the numbers of the interfaces. The preloaded library keeps
# its name, and needs only libc. "abi.sh --update" writes abi.txt after a permitted change.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
command -v clang >/dev/null || { . "$SOURCE/tests/libskip.sh"; skip clang; }

# layout INCLUDE: the interfaces that the headers below INCLUDE define, one per line
layout() {
	printf '#include <sluice/plugin.h>\n#include <sluice/instrument.h>\n' >"$work/all.c"
	clang -fsyntax-only -I "$1" -Xclang -fdump-record-layouts-complete "$work/all.c" >"$work/records"
	clang -fsyntax-only -fno-color-diagnostics -I "$1" -Xclang -ast-dump "$work/all.c" >"$work/tree"
	python3 - "$work" "$1" <<'PYTHON'
import re, sys

work, include = sys.argv[1:]
names = set()
for header in ("activity", "call", "plugin", "instrument"):
    with open("%s/sluice/%s.h" % (include, header)) as f:
        names |= set(re.findall(r"^(?:struct|enum) (\w+) \{", f.read(), re.M))
with open(work + "/records") as f:
    records = f.read().split("*** Dumping AST Record Layout\n")
structs = {}
for record in records[1:]:
    title = re.match(r" +0 \| struct (\w+)\n", record)
    if not title or title[1] not in names or title[1] in structs:
        continue
    members = re.findall(r"^ +(\d+) \|   ([^ ].*?) (\w+)$", record, re.M)
    size = re.search(r"\[sizeof=(\d+)", record)[1]
    structs[title[1]] = ["%s@%s" % (name, offset) for offset, kind, name in members] + [size]
for name in sorted(structs):
    print("struct", name, "size=" + structs[name][-1], *structs[name][:-1])
# Each constant is printed with its value by a program.
constants, current = [], None
with open(work + "/tree") as f:
    for line in f:
        enum = re.search(r"-EnumDecl .* (\w+)$", line.rstrip())
        constant = re.search(r"-EnumConstantDecl .* (\w+) 'int'", line)
        if enum:
            current = enum[1]
        elif constant and current in names and not constant[1].endswith(("_COUNT", "_SPEEDS")):
            constants.append((current, constant[1]))
with open(work + "/print.c", "w") as f:
    f.write("#define SLUICE_INSTRUMENT_OFF\n#include <stdio.h>\n#include <sluice/plugin.h>\n#include <sluice/instrument.h>\nint main(void)\n{\n")
    f.write('\tprintf("abi plugin %d\\nabi instrument %d\\n", SLUICE_PLUGIN_ABI, SLUICE_INSTRUMENT_ABI);\n')
    for name in sorted({c[0] for c in constants}):
        f.write('\tprintf("enum %s");\n' % name)
        for owner, constant in constants:
            if owner == name:
                f.write('\tprintf(" %s=%%d", %s);\n' % (constant, constant))
        f.write('\tputchar(10);\n')
    f.write("\treturn 0;\n}\n")
PYTHON
	"$cc" -I "$1" -o "$work/print" "$work/print.c"
	"$work/print"
}

# compare OLD NEW: prints what is not permitted, or that abi.txt is out of date
compare() {
	python3 - "$1" "$2" <<'PYTHON'
import sys


def read(path):
    rows = {}
    with open(path) as f:
        for line in f:
            words = line.split()
            if words and words[0] != "#":
                rows[words[0], words[1]] = words[2:]
    return rows


old, new = read(sys.argv[1]), read(sys.argv[2])
# Structs that Sluice passes with their size in the member "bytes", and enumerations, may grow at the end.
growing = {"sluice_host", "sluice_guest", "sluice_instrument"}
instrument = {"sluice_instrument", "sluice_target"}
for (kind, name), was in sorted(old.items()):
    if kind == "abi":
        if int(new[kind, name][0]) < int(was[0]):
            print("the number of the interface %s has decreased" % name)
        continue
    interface = "instrument" if name in instrument else "plugin"
    if new["abi", interface] != old["abi", interface]:
        continue
    now = new.get((kind, name), [])
    if kind == "enum":
        good = now[:len(was)] == was
    elif name in growing:
        good = now[1:len(was)] == was[1:]
    else:
        good = now == was
    if not good:
        print("%s %s has changed: increase SLUICE_%s_ABI" % (kind, name, interface.upper()))
if old != new:
    print("tests/lint/abi.txt is out of date: run tests/lint/abi.sh --update")
PYTHON
}

layout "$SOURCE/include" >"$work/now"
[ "$(grep -c '^struct' "$work/now")" -ge 14 ] && [ "$(grep -c '^enum' "$work/now")" -ge 5 ] ||
	{ echo "abi: the interfaces were not found:" && cat "$work/now" && exit 1; }
if [ "${1:-}" = --update ]; then
	{
		echo "# The binary interfaces for plug-ins and instrumented programs; tests/lint/abi.sh --update writes this file."
		cat "$work/now"
	} >"$SOURCE/tests/lint/abi.txt"
	exit 0
fi
compare "$SOURCE/tests/lint/abi.txt" "$work/now" >"$work/found"
[ ! -s "$work/found" ] || { cat "$work/found" && exit 1; }

# planted HEADER SED EXPECTED: after a change of a header, the check prints a line with the expected text, or none
planted() {
	rm -rf "$work/include"
	cp -r "$SOURCE/include" "$work/include"
	sed -i "$2" "$work/include/sluice/$1"
	! cmp -s "$SOURCE/include/sluice/$1" "$work/include/sluice/$1" || { echo "abi: nothing was planted: $2" && exit 1; }
	layout "$work/include" >"$work/planted"
	compare "$SOURCE/tests/lint/abi.txt" "$work/planted" >"$work/found"
	if [ -n "$3" ]; then
		grep -qF "$3" "$work/found" || { echo "abi: not found after \"$2\": $3" && exit 1; }
	else
		! grep 'has changed' "$work/found" || { echo "abi: a permitted change was rejected: $2" && exit 1; }
	fi
}
planted plugin.h 's/^\tint64_t duration_ns;/&\n\tint64_t cpu_ns;/' "struct sluice_called has changed"
planted plugin.h 's/^\tvoid (\*applied).*/&\n\tvoid (*more)(void *self);/' ""
planted plugin.h 's/^\tconst char \*(\*option).*/\tvoid (*more)(void *self);\n&/' "struct sluice_host has changed"
planted plugin.h 's/^\tSLUICE_SLOW,/&\n\tSLUICE_SLOWER,/' "enum sluice_speed has changed"
planted plugin.h 's/^\tint64_t duration_ns;/&\n\tint64_t cpu_ns;/; s/PLUGIN_ABI 1$/PLUGIN_ABI 2/' ""
planted instrument.h 's/^\tvoid (\*phase).*/\tvoid (*more)(void);\n&/' "increase SLUICE_INSTRUMENT_ABI"

library=$BUILD/libsluice.so
readelf -d "$library" >"$work/dynamic"
grep -q 'SONAME.*\[libsluice\.so\]' "$work/dynamic" || { echo "$library has another SONAME" && exit 1; }
! grep NEEDED "$work/dynamic" | grep -vE '\[(libc\.so\.6|ld-linux[^]]*|libdl\.so\.2)\]' || { echo "$library needs more than libc" && exit 1; }
