#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every requirement and every acceptance check of the four papers has a row; what the rows name exists and mentions them;
# docs/reference/paper-tables.md is up to date. tests/papers.py describes the rules.
set -eu
: "${SOURCE:?names the sources}"
export PYTHONDONTWRITEBYTECODE=1
python3 "$SOURCE/tests/papers.py" check

# The check itself works: it reports each of these breaches in a copy.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/docs"
cp -r "$SOURCE"/{src,lab,kernels,include,share,bench,tests} "$work"
cp -r "$SOURCE/docs/reference" "$work/docs"

# reports TEXT: the check of the copy fails with this text
reports() {
	! python3 "$work/tests/papers.py" check >"$work/out" || { echo "papers: no breach was reported: $1"; exit 1; }
	grep -qF -- "$1" "$work/out" || { echo "papers: not reported: $1"; cat "$work/out"; exit 1; }
}
# change FILE EXPRESSION TEXT: the change of FILE by sed is reported, and undone
change() {
	cp "$work/$1" "$work/kept"
	sed -i "$2" "$work/$1"
	reports "$3"
	cp "$work/kept" "$work/$1"
}
change tests/papers/requirements.txt '/^WAN-36\t/d' "WAN-36 is cited by"
change tests/papers/checks.txt '/^KRN-AC-2\t/s/unit.kernels.shapes/run\/nothing/' "KRN-AC-2: there is no test run/nothing"
change tests/papers/checks.txt '/^KRN-AC-2\t/s/unit.kernels.shapes/run\/cli/' "KRN-AC-2: the test run/cli does not mention it"
change tests/unit/learn/states/mixture.c 's/PAPER_HOLDS("WAN-AC-6"/CHECKED("WAN-AC-6"/' "WAN-AC-6: none of its tests reports it"
change tests/unit/learn/states/mixture.c 's/PAPER_HOLDS("WAN-AC-6"/PAPER_MISSED("WAN-AC-6"/' "WAN-AC-6 does not hold, but its row has no reason"
change tests/papers/requirements.txt '/^WAN-20\t/s/mean/average/' "is not up to date"
python3 "$work/tests/papers.py" check
