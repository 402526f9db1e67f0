#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One option, one meaning. The test reads the option tables of sluice and sluice-lab. A long option has the same letter
# in every command, and a letter stands for one long option. An option takes a value in every command or in none. A help
# text ends without a period, does not repeat the default of its table, and is in US spelling.
. "$(dirname "$0")/libtest.sh"

cat >words.py <<'PYTHON'
import collections, json, re, subprocess, sys

# Options that are a flag in one command and take a value in another.
mixed = {
    "coverage": "doctor: which functions are recorded; model, lab: coverage of the prediction interval",
    "csv": "print: print CSV; forecast evaluate: a CSV file to write",
}
british = re.compile(r"\b\w*(colour|behaviour|neighbour|favour|honour|isation|optimis|minimis|maximis|normalis|summaris|analys(e|ing)"
                     r"|catalogue|modell(ed|ing)|labell(ed|ing)|cancell(ed|ing))")
commands = {}
wrong = []
for path, prefix in zip(sys.argv[1:], ("", "lab ")):
    done = subprocess.run([path, "help", "--json"], capture_output=True, text=True, check=True)
    for command in json.loads(done.stdout)["commands"]:
        if prefix + command["name"] in commands:
            wrong.append("%s%s is listed twice" % (prefix, command["name"]))
        commands[prefix + command["name"]] = command

letters, names, values = (collections.defaultdict(dict) for _ in range(3))
for name, command in commands.items():
    if not re.match(r"[a-z]", command["help"]) or command["help"].endswith("."):
        wrong.append("%s: its help must start in lower case and end without a period" % name)
    for option in command["options"]:
        where = "%s --%s" % (name, option["name"])
        names[option["name"]][option["letter"]] = name
        values[option["name"]][option["value"] is not None] = name
        if option["letter"]:
            letters[option["letter"]][option["name"]] = name
        if option["help"].endswith("."):
            wrong.append("%s: the help must end without a period" % where)
        if option["default"] and re.search(r"\(default|by default", option["help"]):
            wrong.append("%s: the help repeats the default" % where)
        if british.search(option["help"]):
            wrong.append("%s: British spelling: %s" % (where, option["help"]))

def differ(what, seen):
    for key, uses in seen.items():
        if len(uses) > 1:
            wrong.append("%s%s differs: %s" % (what, key, ", ".join("%s in %s" % use for use in uses.items())))

differ("the letter of --", names)
differ("the meaning of -", letters)
differ("whether a value is taken by --", {key: uses for key, uses in values.items() if key not in mixed})
for key in mixed:
    if len(values[key]) < 2:
        wrong.append("--%s is no longer an exception; remove it from the list" % key)
print("\n".join(wrong))
print("option_words: %d commands, %d options" % (len(commands), len(names)), file=sys.stderr)
sys.exit(bool(wrong))
PYTHON
python3 words.py "$sluice" "$BUILD/sluice-lab" >wrong || fail "$(cat wrong)"
