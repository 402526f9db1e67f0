#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: choose.py CROSS_BUILD NATIVE_BUILD ROOT

Prints a CTestTestfile.cmake with the tests of tests.txt, as they are defined in CROSS_BUILD. Emulated tests run in ROOT.
Those of emulation.txt only print why they are skipped.
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# What emulation slows down by more than an order of magnitude gets more time before it counts as hanging.
SLOWER = 3


def read_rows(name):
    with open(os.path.join(HERE, name)) as lines:
        return [line.rstrip("\n").split("\t", 1) for line in lines if line.strip() and not line.startswith("#")]


def read_tests(build):
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                          text=True).stdout
    for test in json.loads(text)["tests"]:
        yield test["name"], test.get("command", []), {p["name"]: p["value"] for p in test.get("properties", [])}


def quote(word):
    return "[==[" + str(word) + "]==]"


def print_test(name, command, properties):
    print("add_test(%s %s)" % (quote(name), " ".join(map(quote, command))))
    print("set_tests_properties(%s PROPERTIES %s)" % (
        quote(name), " ".join("%s %s" % (key, quote(value)) for key, value in properties.items())))


def tool_links(folder):
    """Lets native lints use the tools of the cross compiler by their usual names. Returns the PATH for them."""
    os.makedirs(folder, exist_ok=True)
    for tool in "objdump", "readelf", "nm":
        link = os.path.join(folder, tool)
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(shutil.which("x86_64-linux-gnu-" + tool), link)
    return folder + ":" + os.environ["PATH"]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    cross, native, root = sys.argv[1:]
    enter = ["bash", os.path.join(HERE, "enter.sh"), root]
    excluded = read_rows("emulation.txt")
    path = tool_links(os.path.join(cross, "emulated", "bin"))
    unused = {pattern for pattern, _ in excluded}
    for name, command, properties in read_tests(cross):
        place = next((p for p, pattern in read_rows("tests.txt") if re.fullmatch(pattern, name)), None)
        reason = next(((p, r) for p, r in excluded if re.fullmatch(p, name)), None)
        if not place:
            continue
        environment = list(properties.get("ENVIRONMENT", []))
        kept = {"TIMEOUT": int(properties.get("TIMEOUT", 3600)) * SLOWER, "SKIP_RETURN_CODE": 77}
        if place == "emulated":
            environment = [e for e in environment if not e.startswith("CC=")] + ["CC=gcc", "EMULATED=qemu-user"]
            if command[1:3] != enter[1:]:
                command = enter + command
            if reason:
                unused.discard(reason[0])
                command = ["echo", "skipped: requires hardware: " + reason[1]]
                kept["SKIP_REGULAR_EXPRESSION"] = "skipped: requires"
        else:
            environment.append("PATH=" + path)
        kept["ENVIRONMENT"] = ";".join(environment)
        kept["WORKING_DIRECTORY"] = properties.get("WORKING_DIRECTORY", cross)
        print_test(name, command, kept)
    print_test("amd64/exchange", ["bash", os.path.join(HERE, "exchange.sh")], {
        "TIMEOUT": 10800, "SKIP_RETURN_CODE": 77,
        "ENVIRONMENT": "BUILD=%s;CROSS=%s;SLUICE_AMD64_ROOT=%s" % (native, cross, root)})
    if unused:
        sys.exit("choose.py: emulation.txt names tests that do not exist: " + ", ".join(sorted(unused)))


main()
