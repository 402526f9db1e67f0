#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check.py BUILD TITLE [CTEST_OPTION]...

Runs the tests of a build tree by ctest and ends with one line: "TITLE: N passed, N failed, N skipped". A test counts as
passed only if all of its cases ran; ctest itself counts skipped tests as passed. The lines before name each failed test
and what each skipped test requires.

A skip because of a package is a failure, since make installs the packages of packaging/deps.apt. With SLUICE_DEPS=skip,
or without apt-get, make does not install them, and such a test is reported as skipped.
"""
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = re.compile(r"^skipped: requires (\S+?)(?:: (.*))?$", re.MULTILINE)


def run_ctest(build, options):
    """Returns ctest's exit code and the path of its results."""
    results = os.path.join(os.path.abspath(build), "Testing", "results.xml")
    if os.path.exists(results):
        os.remove(results)
    code = subprocess.call(["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error",
                            "--output-junit", results, "--test-output-size-passed", "1000000"] + options)
    return code, results


def machine_needs():
    with open(os.path.join(HERE, "needs.txt")) as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines if not line.startswith("#"))


def packages_expected():
    return os.environ.get("SLUICE_DEPS") != "skip" and bool(shutil.which("apt-get"))


def judge_skip(name, output, needs):
    """Returns the reasons for which a skipped test counts as failed, and the lines that explain the skip."""
    found = SKIPPED.findall(output)
    wrong = [] if found else ["failed: %s: skipped, but it does not print what it requires" % name]
    lines = []
    for need, case in found:
        case = ": " + case if case else ""
        if need in needs:
            lines.append("skipped: %s: requires %s%s" % (name, needs[need], case))
        elif packages_expected():
            wrong.append("failed: %s: skipped without the package %s, which make should have installed%s" %
                         (name, need, case))
        else:
            lines.append("skipped: %s: requires the package %s%s" % (name, need, case))
    return wrong, lines


def count_results(path):
    """Prints the lines of failed and skipped tests. Returns the numbers of passed, failed and skipped tests."""
    needs = machine_needs()
    passed = failed = skipped = 0
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        name, note = test.get("name"), test.find("skipped")
        if test.get("status") == "run":
            passed += 1
            continue
        if note is not None and note.get("message", "").startswith("SKIP_"):
            wrong, lines = judge_skip(name, test.findtext("system-out") or "", needs)
        else:
            wrong, lines = ["failed: %s" % name], []
        failed += bool(wrong)
        skipped += not wrong
        print("\n".join(lines + wrong))
    return passed, failed, skipped


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    code, results = run_ctest(sys.argv[1], sys.argv[3:])
    print()
    if not os.path.exists(results):
        print("%s: failed before any test ran" % sys.argv[2])
        return 1
    passed, failed, skipped = count_results(results)
    print("%s: %d passed, %d failed, %d skipped" % (sys.argv[2], passed, failed, skipped))
    return 1 if code or failed else 0


if __name__ == "__main__":
    sys.exit(main())
