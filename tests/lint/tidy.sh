#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy and cppcheck find nothing. Both read the build's own list of commands. All of the time goes into paths
# through functions: the analyzer gives up a function after so many states; SLUICE_LONG lets it take its default.
set -eu
cd "$SOURCE"
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT

# Generated code and tests are left out: the one repeats its template, the others misuse things on purpose.
python3 - "$BUILD/compile_commands.json" "$SOURCE/src/" "$commands" <<'PYTHON'
import json, sys

source, prefix, out = sys.argv[1:]
seen = {}
for entry in json.load(open(source)):
    if entry["file"].startswith(prefix) and entry["file"].endswith(".c"):
        # Flags that gcc alone knows.
        for flag in ("-fno-semantic-interposition",):
            entry["command"] = entry["command"].replace(" " + flag, "")
        seen.setdefault(entry["file"], entry)
json.dump(list(seen.values()), open(out + "/compile_commands.json", "w"))
print("\n".join(seen), file=open(out + "/files", "w"))
PYTHON

failed=0
states=75000
[ -z "${SLUICE_LONG:-}" ] || states=225000
analyzer() {
	printf -- '--extra-arg=%s ' -Xclang -analyzer-config -Xclang "max-nodes=$states"
}
# shellcheck disable=SC2046 # a word each
xargs -P 2 -n 4 clang-tidy --quiet -p "$commands" $(analyzer) <"$commands/files" 2>"$commands/noise" || failed=1
[ $failed = 0 ] || grep -v 'warnings generated\|Suppressed' "$commands/noise" || true
cppcheck --quiet -j 2 --project="$commands/compile_commands.json" --enable=warning,performance,portability \
	--inline-suppr --error-exitcode=1 --suppressions-list=tests/lint/cppcheck.txt || failed=1
exit $failed
