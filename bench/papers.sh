#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The four papers: runs `sluice lab reproduce` for each of them, with its tables and pictures, and then the tests of all
# acceptance checks. Prints for each check whether it holds.
# BUILD names the build tree. PAPERS names the papers (default: siox behzad isaila wan). PAPERS_KEEP names a directory for
# tables, pictures and results; what it holds is not computed again. PAPERS_QUICK=1 uses small sizes for the tables, and
# PAPERS_CHECKS=0 leaves out the tests. PAPER_SECONDS is the length of the application of the SIOX paper (default 100).
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tests/mpi/libmpi.sh"
. "$here/libbench.sh"
sluice=$BUILD/sluice
papers=${PAPERS:-siox behzad isaila wan}
workspace "${PAPERS_KEEP:-}" "${TMPDIR:-/tmp}"

# options PAPER: the arguments of its reproduction
options() {
	case $1,${PAPERS_QUICK:-} in
	siox,?*) echo "--quick --results results-siox" ;;
	siox,) echo "--results results-siox" ;;
	isaila,?*) echo "--contention share --candidates 1 --repeat 1" ;;
	wan,?*) echo "--quick" ;;
	esac
}

# prefixes PAPER: how the ids of its checks start
prefixes() {
	case $1 in
	siox) echo SIOX ;;
	behzad) echo H5T GA KRN ATE ;;
	isaila) echo HYB ;;
	wan) echo WAN ;;
	esac
}

# reproduce PAPER: its tables in PAPER.json, its pictures in figures-PAPER
reproduce() {
	local start=$SECONDS
	[ -e "$1.json" ] && return
	# shellcheck disable=SC2046
	"$sluice" lab reproduce "$1" $(options "$1") --plots "figures-$1" --json >"$1.part" ||
		{ miss "$1: sluice lab reproduce failed"; return; }
	mv "$1.part" "$1.json"
	say "$1: $(told "$1.json" 'len(d["sheets"])') tables, $(find "figures-$1" -name '*.svg' | wc -l) pictures, $((SECONDS - start)) s"
}

# judge PAPER: one line per check
judge() {
	local line name
	# shellcheck disable=SC2046
	python3 "$here/../tests/papers.py" judge "$BUILD" $(prefixes "$1") >"$1.checks" 2>"$1.tests" || :
	while read -r line; do
		case $line in
		judged:*)
			for name in holds does_not_hold not_measured; do
				key "$1_$name" "$(sed "s/.* $name=\([0-9]*\).*/\1/" <<<"$line")"
			done
			;;
		*-AC-*"  does not hold  "*) miss "$line" ;;
		esac
		say "$line"
	done <"$1.checks"
	grep -q '^judged:' "$1.checks" || miss "$1: its checks were not judged: $(tail -1 "$1.tests")"
}

for paper in $papers; do
	[ -n "$(prefixes "$paper")" ] || { say "papers: unknown paper \"$paper\"" >&2; exit 2; }
	reproduce "$paper"
	[ "${PAPERS_CHECKS:-1}" = 0 ] || judge "$paper"
done
finish papers
