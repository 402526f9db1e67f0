#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: papers.py check | write | measure BUILD [TEST]... | judge BUILD [PREFIX]...

The audit of the four papers: which code and which tests stand for each requirement, and what became of each acceptance
check. papers/requirements.txt and papers/checks.txt name the requirements and checks. Everything else is found in the
sources: a file that implements or tests a requirement cites its id, for example SIOX-9 or HYB-13 to HYB-20.

A test reports a check of grade S or H by one of three words (unit/papers.h and run/libpapers.sh):

  holds   the test fails if the check does not hold
  missed  the check does not hold, and the test fails if it holds after all, so that this table is corrected
  report  the result depends on the machine and its load; the test prints it and does not fail

For a check of grade E it is enough that the test cites it, since a test that passes shows it.

check    fails if an id has no row, if a row names no existing test, if a test does not mention its check, if a
         requirement without a remark has no code or no test, or if docs/reference/paper-tables.md is not up to date
write    writes docs/reference/paper-tables.md
measure  runs the tests that report checks, or those named, and stores the values that they print in papers/values.txt
judge    runs the tests of all checks, or of those whose ids start with a prefix such as WAN, and prints for each check
         whether it holds now; fails unless all of them hold. BUILD needs the targets checks and benches.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PAGE = "docs/reference/paper-tables.md"
PREFIXES = ["SIOX", "H5T", "GA", "KRN", "ATE", "HYB", "WAN"]
PAPERS = [("SIOX", "SIOX: monitoring and optimization", ["SIOX"]),
          ("ATE, H5T, GA, KRN", "ATE, H5T, GA, KRN: auto-tuning of the HDF5 stack", ["H5T", "GA", "KRN", "ATE"]),
          ("HYB", "HYB: hybrid model of collective I/O", ["HYB"]),
          ("WAN", "WAN: forecasting the state of storage targets", ["WAN"])]
CODE = ["src", "lab", "kernels", "include", "share", "bench", "tests/unit/toy_stack.h"]
TESTS = ["unit", "run", "lint"]
# Checks of grade S about the speed of the machine that runs the test.
TIMED = {"H5T-AC-4", "SIOX-AC-14", "SIOX-AC-15"}
SKIPPED = 77  # exit code of a test that could not run
COUNTS = {"SIOX": (69, 18), "ATE, H5T, GA, KRN": (52, 21), "HYB": (59, 18), "WAN": (40, 15)}

ID = r"(%s)-(AC-)?(\d+)" % "|".join(PREFIXES)
RANGE = re.compile(r"\b%s(?: to (?:\1-)?(?:\2)?(\d+))?\b" % ID)
REPORTED = re.compile(r"\bpaper_(holds|missed|report)\b[\s(]+\"?((?:%s)-AC-\d+)" % "|".join(PREFIXES), re.IGNORECASE)
PRINTED = re.compile(r"^paper (\S+-AC-\d+) (holds|does not hold): (.*)$", re.MULTILINE)


def order(name):
    prefix, _, number = name.rpartition("-")
    return PREFIXES.index(prefix.split("-")[0]), int(number)


def read_table(name, width, keys=1):
    """Rows of a file in papers/ by id, or by their first columns; missing columns are empty."""
    rows = {}
    with open(os.path.join(HERE, "papers", name)) as lines:
        for line in lines:
            if not line.startswith("#") and line.strip():
                fields = line.rstrip("\n").split("\t")
                key = fields[0] if keys == 1 else tuple(fields[:keys])
                if key in rows:
                    sys.exit("tests/papers/%s: %s has two rows" % (name, key))
                rows[key] = fields[keys:] + [""] * (width - len(fields))
    return rows


def ids_in(text):
    """Ids that a text cites; "HYB-13 to HYB-20" cites all of them."""
    found = set()
    for prefix, check, first, last in RANGE.findall(text):
        for number in range(int(first), int(last or first) + 1):
            found.add("%s-%s%d" % (prefix, check, number))
    return found


def files_below(root, place):
    path = os.path.join(root, place)
    if os.path.isfile(path):
        yield place
    for folder, _, names in os.walk(path):
        for name in names:
            if name.endswith((".c", ".h", ".sh", ".ini", ".py", ".S")):
                yield os.path.relpath(os.path.join(folder, name), root)


def test_name(path):
    """tests/unit/base/map.c is the test unit/base/map; None for helpers."""
    kind, _, rest = path[len("tests/"):].partition("/")
    stem, extension = os.path.splitext(rest)
    if extension != (".c" if kind == "unit" else ".sh") or os.path.basename(stem).startswith("lib"):
        return None
    return "%s/%s" % (kind, stem)


def test_path(name):
    return "tests/%s.%s" % (name, "c" if name.startswith("unit/") else "sh")


class Sources:
    """What code and tests cite."""

    def __init__(self, root):
        self.code, self.tests, self.text = {}, {}, {}
        for place in CODE:
            for path in files_below(root, place):
                self.cite(self.code, root, path, path)
        for kind in TESTS:
            for path in files_below(root, "tests/" + kind):
                name = test_name(path)
                if name and name != "lint/papers":
                    self.text[name] = self.cite(self.tests, root, path, name)

    def cite(self, index, root, path, name):
        with open(os.path.join(root, path), errors="replace") as source:
            text = source.read()
        for cited in ids_in(text):
            index.setdefault(cited, []).append(name)
        return text

    def verdicts(self, check, tests):
        """The words by which the tests report the check."""
        return {word.lower() for test in tests for word, cited in REPORTED.findall(self.text.get(test, ""))
                if cited == check}


def status_of(remark):
    for word in ("partial", "descriptive"):
        if remark.startswith(word + ":"):
            return word, remark[len(word) + 1:].strip()
    return "done", remark


def breaches(requirements, checks, sources, values):
    """Sentences about everything that is wrong, except for the page."""
    wrong = []
    for cited in sorted(set(sources.code) | set(sources.tests), key=order):
        table = checks if "-AC-" in cited else requirements
        if cited not in table:
            wrong.append("%s is cited by %s, but has no row" %
                         (cited, (sources.code.get(cited) or sources.tests.get(cited))[0]))
    for name, (_, remark) in requirements.items():
        if status_of(remark)[0] == "done" and not (sources.code.get(name) and sources.tests.get(name)):
            wrong.append("%s: no %s cites it, and no remark says what is missing" %
                         (name, "test" if sources.code.get(name) else "code"))
    for name, (grade, _, tests, remark) in checks.items():
        tests = tests.split()
        for test in tests:
            if test not in sources.text:
                wrong.append("%s: there is no test %s" % (name, test))
            elif test not in sources.tests.get(name, []):
                wrong.append("%s: the test %s does not mention it" % (name, test))
        words = sources.verdicts(name, tests)
        if not tests:
            wrong.append("%s: no test" % name)
        elif grade != "E" and not words:
            wrong.append("%s: none of its tests reports it by paper_holds, paper_missed or paper_report" % name)
        if "report" in words and grade != "H" and name not in TIMED:
            wrong.append("%s: only a check of grade H, or about speed, may be reported without an assertion" % name)
        if "missed" in words and not remark:
            wrong.append("%s does not hold, but its row has no reason" % name)
        for test in tests:
            said = sources.verdicts(name, [test])
            if said and (name, test) not in values:
                wrong.append("%s: no value of %s; run tests/papers.py measure" % (name, test))
            elif said - {"report"} and ("missed" in said) != (values[name, test][0] != "holds"):
                wrong.append("%s: the value of %s is older than the test; run tests/papers.py measure" % (name, test))
    for title, _, prefixes in PAPERS:
        found = tuple(sum(n.split("-")[0] in prefixes for n in table) for table in (requirements, checks))
        if found != COUNTS[title]:
            wrong.append("%s: %d requirements and %d checks, expected %d and %d" % ((title,) + found + COUNTS[title]))
    return wrong


def verdict(grade, name, tests, sources, values):
    words = sources.verdicts(name, tests)
    if grade == "E" and not words:
        return "exact", "holds"
    found = [values[name, test] for test in tests if (name, test) in values]
    if not found:
        return "", "not measured"
    held = all(held == "holds" for held, _ in found)
    return "; ".join(value for _, value in found), "holds" if held else "does not hold"


def shorten(paths, most=4):
    names = ["`%s`" % p[len("src/"):] if p.startswith("src/") else "`%s`" % p for p in sorted(paths)]
    return ", ".join(names[:most]) + (", and %d more" % (len(names) - most) if len(names) > most else "") or "-"


def cell(text):
    return text.replace("|", "\\|")


def page(requirements, checks, sources, values):
    lines = ["<!-- Written by tests/papers.py; do not edit. -->", "# Requirements and acceptance checks of the papers", "",
             "[The papers](../papers.md) explains the ids. Paths of code are below `src/` unless they start with `lab`,",
             "`kernels`, `share`, `bench`, `tests` or `include`. Tests are below `tests/`. `python3 tests/papers.py write`",
             "writes this page from the ids in code and tests, and a lint compares it.", "",
             "The value of a check is the one that its test printed last. A check that does not hold stays in the tests with",
             "the bound of the paper: its test fails as soon as the check holds, so that this page is corrected. Checks of",
             "grade E are exact, those of grade S statistical or about a shape, and those of grade H depend on the original",
             "hardware; their tests report the value without failing, as do those of %s," % ", ".join(sorted(TIMED)),
             "which are about the speed of the machine that runs them.", "",
             "| paper | requirements | done | partial | descriptive | checks | hold | do not hold |",
             "|---|---|---|---|---|---|---|---|"]
    for title, _, prefixes in PAPERS:
        mine = [status_of(r[1])[0] for n, r in requirements.items() if n.split("-")[0] in prefixes]
        held = [verdict(r[0], n, r[2].split(), sources, values)[1] for n, r in checks.items()
                if n.split("-")[0] in prefixes]
        lines.append("| %s | %d | %d | %d | %d | %d | %d | %d |" %
                     (title, len(mine), mine.count("done"), mine.count("partial"), mine.count("descriptive"), len(held),
                      held.count("holds"), len(held) - held.count("holds")))
    for _, title, prefixes in PAPERS:
        names = sorted((n for n in requirements if n.split("-")[0] in prefixes), key=order)
        lines += ["", "# " + title, "", "| id | requirement | code | tests | status |", "|---|---|---|---|---|"]
        for name in names:
            text, remark = requirements[name]
            status, remark = status_of(remark)
            lines.append(cell("%s ~ %s ~ %s ~ %s ~ %s" % (
                name, text, shorten(sources.code.get(name, [])), shorten(sources.tests.get(name, [])),
                status + (": " + remark if remark else ""))).replace(" ~ ", " | ").join(["| ", " |"]))
        lines += ["", "| check | grade | bound of the paper | tests | our value | verdict |", "|---|---|---|---|---|---|"]
        for name in sorted((n for n in checks if n.split("-")[0] in prefixes), key=order):
            grade, bound, tests, remark = checks[name]
            value, held = verdict(grade, name, tests.split(), sources, values)
            lines.append(cell("%s ~ %s ~ %s ~ %s ~ %s ~ %s" % (
                name, grade, bound, shorten(tests.split()), value,
                ("**%s**" % held if held != "holds" else held) + (": " + remark if remark else ""))).replace(
                    " ~ ", " | ").join(["| ", " |"]))
    return "\n".join(lines) + "\n"


def start_test(build, name):
    """Exit code and output of a test."""
    command = [os.path.join(build, "tests", "unit_" + name[len("unit/"):].replace("/", "_"))]
    if not name.startswith("unit/"):
        command = ["bash", os.path.join(ROOT, test_path(name))]
    environment = dict(os.environ, BUILD=build, SOURCE=ROOT, CC=os.environ.get("CC", "cc"))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=build, env=environment,
                          universal_newlines=True)
    return done.returncode, done.stdout


def run_test(build, name):
    """The output of a test; the whole program fails if the test fails."""
    code, output = start_test(build, name)
    if code:
        sys.exit("%s failed:\n%s" % (name, output[-3000:]))
    return output


def judge_check(name, tests, results, sources):
    """Verdict and value of one check, by the results of its tests."""
    printed = [(held, value) for test in tests for cited, held, value in PRINTED.findall(results[test][1])
               if cited == name]
    failed = [test for test in tests if results[test][0] not in (0, SKIPPED)]
    if any(held != "holds" for held, _ in printed):
        return "does not hold", "; ".join(value for _, value in printed)
    if failed:
        return "does not hold", "failed: " + " ".join(failed)
    if not printed and (sources.verdicts(name, tests) or any(results[test][0] == SKIPPED for test in tests)):
        return "not measured", "skipped: " + " ".join(test for test in tests if results[test][0] == SKIPPED)
    return "holds", "; ".join(value for _, value in printed) or "exact"


def judge(build, prefixes, checks, sources):
    """Runs the tests of the checks and prints the verdicts. Returns the exit code."""
    results, verdicts = {}, []
    for name in sorted(checks, key=order):
        if prefixes and name.split("-")[0] not in prefixes:
            continue
        tests = checks[name][2].split()
        for test in tests:
            if test not in results:
                print("running %s" % test, file=sys.stderr)
                results[test] = start_test(build, test)
        verdicts.append((name, judge_check(name, tests, results, sources)))
        print("%-10s  %-13s  %s" % ((name,) + verdicts[-1][1]), flush=True)
    counts = [sum(v[0] == word for _, v in verdicts) for word in ("holds", "does not hold", "not measured")]
    print("judged: checks=%d holds=%d does_not_hold=%d not_measured=%d" % ((len(verdicts),) + tuple(counts)))
    return 0 if verdicts and counts[0] == len(verdicts) else 1


def measure(build, wanted, checks, sources, values):
    """Runs the tests that report checks, and stores what they print."""
    tests = sorted({t for n, r in checks.items() for t in r[2].split() if sources.verdicts(n, [t])})
    for test in wanted or tests:
        found = {}
        for name, held, value in PRINTED.findall(run_test(build, test)):
            worst = held if found.get(name, (held,))[0] == "holds" else "does not hold"
            found[name] = (worst, "; ".join(([found[name][1]] if name in found else []) + [value]))
        values.update({(name, test): value for name, value in found.items()})
        save_values(values)


def save_values(values):
    with open(os.path.join(HERE, "papers", "values.txt"), "w") as out:
        out.write("# What the tests of acceptance checks printed last: id, test, verdict, value. See tests/papers.py.\n")
        for name, test in sorted(values, key=lambda key: (order(key[0]), key[1])):
            out.write("%s\t%s\t%s\t%s\n" % ((name, test) + tuple(values[name, test])))


def main(arguments):
    if arguments not in (["check"], ["write"]) and (
            len(arguments) < 2 or arguments[0] not in ("measure", "judge")):
        sys.exit(__doc__.split("\n")[0])
    requirements, checks = read_table("requirements.txt", 3), read_table("checks.txt", 5)
    values, sources = read_table("values.txt", 4, 2), Sources(ROOT)
    if arguments[0] == "measure":
        measure(os.path.abspath(arguments[1]), arguments[2:], checks, sources, values)
        return 0
    if arguments[0] == "judge":
        return judge(os.path.abspath(arguments[1]), arguments[2:], checks, sources)
    text = page(requirements, checks, sources, values)
    if arguments[0] == "write":
        with open(os.path.join(ROOT, PAGE), "w") as out:
            out.write(text)
    wrong = breaches(requirements, checks, sources, values)
    with open(os.path.join(ROOT, PAGE)) as old:
        if old.read() != text:
            wrong.append("%s is not up to date; run: python3 tests/papers.py write" % PAGE)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
