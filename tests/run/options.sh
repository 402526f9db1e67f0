#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every command accepts its own options only. The test walks the tree of `sluice help --json` and `sluice lab help --json`. For
# each command, an unknown option and options of other commands are usage errors (exit code 2) that name the option;
# --help succeeds and shows the usage line; and there is a man page.
. "$(dirname "$0")/libtest.sh"

"$sluice" help --json >tree.json || fail "sluice help --json fails"
"$sluice" lab help --json >lab.json || fail "sluice lab help --json fails"
cat >walk.py <<'PYTHON'
import json, os, subprocess, sys

sluice, pages = sys.argv[1:]
def read_tree(path, prefix=""):
    return {prefix + c["name"]: {o["name"]: o["value"] for o in c["options"]}
            for c in json.load(open(path))["commands"]}

commands = {**read_tree("tree.json"), **read_tree("lab.json", "lab ")}
every = {}
for options in commands.values():
    every.update(options)
# Options that every command and the program itself accept.
common = {"help", "version", "color", "set", "config"}
wrong = []

def call(name, *words):
    return subprocess.run([sluice, *name.split(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)

def refuses(name, option, value):
    word = "--%s=1" % option if value else "--" + option
    done = call(name, word)
    if done.returncode != 2:
        wrong.append("sluice %s %s: exit code is %d, expected 2" % (name, word, done.returncode))
    elif "--" + option not in done.stderr:
        wrong.append("sluice %s %s: the message does not name the option: %s" % (name, word, done.stderr.strip()))

for name, options in commands.items():
    refuses(name, "frobnicate", None)
    foreign = sorted(set(every) - set(options) - common)
    # A few of the others are enough: all tables go through one parser.
    step = max(1, len(foreign) // 4)
    for option in foreign[::step][:4]:
        # An unambiguous prefix of an accepted option is no foreign option.
        if not any(own.startswith(option) for own in options):
            refuses(name, option, every[option])
    done = call(name, "--help")
    if done.returncode != 0:
        wrong.append("sluice %s --help: exit code is %d" % (name, done.returncode))
    elif "sluice " + name not in done.stdout:
        wrong.append("sluice %s --help does not show its usage line" % name)
    page = "sluice-%s.1" % name.replace(" ", "-")
    if not os.path.exists(os.path.join(pages, page)):
        wrong.append("there is no man page %s" % page)

# The walk is only worth something if it reaches the commands below others.
if not any(" " in name for name in commands):
    wrong.append("sluice help --json lists no command with a full name such as \"model fit\"")
print("\n".join(wrong))
print("options: %d commands, %d options" % (len(commands), sum(map(len, commands.values()))), file=sys.stderr)
sys.exit(bool(wrong))
PYTHON
python3 walk.py "$sluice" "$BUILD/generated/manual/man" >wrong || fail "$(cat wrong)"
