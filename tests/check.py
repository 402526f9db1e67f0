#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: check.py BUILD TITLE [CTEST_OPTION]...

Runs the tests of a build tree by ctest and ends with one line: "TITLE: N passed, N failed, N skipped". A test counts as
passed only if all of its cases ran; ctest itself counts skipped tests as passed. The lines before name each failed test
and what each skipped test requires.

A skip because of a package is a failure, since make installs the packages of packaging/deps.apt. With SLUICE_DEPS=skip,
or without apt-get, make does not install them, and such a test is reported as skipped.

With SLUICE_REPEAT=N, up to N failed tests are run once more, alone. One that passes then counts as passed, but a line
names it as unstable. More failures are not repeated: they are not accidents.
"""
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = re.compile(r"^skipped: requires (\S+?)(?:: (.*))?$", re.MULTILINE)


def use_distribution_python(build):
    """Lets tests find the python3 of the distribution. They start it some thousand times, and the one that a version
    manager puts first in the path can take six times as long to start."""
    folder = os.path.join(os.path.abspath(build), "Testing", "bin")
    link, python = os.path.join(folder, "python3"), "/usr/bin/python3"
    if not os.path.exists(python):
        return
    os.makedirs(folder, exist_ok=True)
    if not os.path.lexists(link):
        os.symlink(python, link)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]


def run_ctest(build, options, name="results.xml"):
    """Returns ctest's exit code and the path of its results."""
    results = os.path.join(os.path.abspath(build), "Testing", name)
    if os.path.exists(results):
        os.remove(results)
    code = subprocess.call(["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error",
                            "--output-junit", results, "--test-output-size-passed", "1000000"] + options)
    return code, results


def names_with_status(path, status):
    tests = xml.etree.ElementTree.parse(path).iter("testcase")
    return [test.get("name") for test in tests if test.get("status") == status]


def repeat_failed(build, results, most):
    """Runs failed tests once more, one at a time, unless there are more than most. Returns those that pass now."""
    failed = names_with_status(results, "fail")
    if not 0 < len(failed) <= most:
        return []
    print("\nOnce more, alone: %s" % " ".join(failed), flush=True)
    _, repeated = run_ctest(build, ["-R", "^(%s)$" % "|".join(failed)], "repeated.xml")
    return names_with_status(repeated, "run") if os.path.exists(repeated) else []


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


def count_results(path, unstable):
    """Prints the lines of unstable, failed and skipped tests. Returns the numbers of passed, failed and skipped tests."""
    needs = machine_needs()
    passed = failed = skipped = 0
    for test in xml.etree.ElementTree.parse(path).iter("testcase"):
        name, note = test.get("name"), test.find("skipped")
        if test.get("status") == "run":
            passed += 1
            continue
        if name in unstable:
            passed += 1
            print("unstable: %s: failed, then passed alone" % name)
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
    use_distribution_python(sys.argv[1])
    code, results = run_ctest(sys.argv[1], sys.argv[3:])
    if not os.path.exists(results):
        print("\n%s: failed before any test ran" % sys.argv[2])
        return 1
    unstable = repeat_failed(sys.argv[1], results, int(os.environ.get("SLUICE_REPEAT", 0)))
    print()
    passed, failed, skipped = count_results(results, unstable)
    print("%s: %d passed, %d failed, %d skipped" % (sys.argv[2], passed, failed, skipped))
    return 1 if failed or (code and not unstable) else 0


if __name__ == "__main__":
    sys.exit(main())
