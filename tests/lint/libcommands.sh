# SPDX-License-Identifier: BSD-3-Clause
# The compile commands of the sources, for tools that analyze them; to be sourced. It sets commands to a temporary
# directory with compile_commands.json and "files", a list of source files.
# Generated code and tests are not analyzed: generated code repeats its template, and tests misuse functions on purpose.
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
python3 - "$BUILD/compile_commands.json" "$SOURCE" "$commands" <<'PYTHON'
import json, sys

database, source, out = sys.argv[1:]
seen = {}
for entry in json.load(open(database)):
    if entry["file"].startswith((source + "/src/", source + "/lab/")) and entry["file"].endswith(".c"):
        # clang does not know this option of gcc.
        entry["command"] = entry["command"].replace(" -fno-semantic-interposition", "")
        seen.setdefault(entry["file"], entry)
json.dump(list(seen.values()), open(out + "/compile_commands.json", "w"))
print("\n".join(seen), file=open(out + "/files", "w"))
PYTHON
