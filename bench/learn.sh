#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Quality and speed of src/learn compared with scikit-learn and R, on the same rows in the same run. docs/reference/benchmarks.md
# describes the method. BUILD names the build tree, SHARED the folder that contains data/ and reference/, KEEP a folder
# for all intermediate results. PARTS lists the parts to run: classify, regress, grouped, exact, targets, series, memory.
# TARGETS is the number of targets for Sluice, REFERENCE_TARGETS that for scikit-learn. FULL=1 uses all seeds, folds and
# targets for both, which takes hours.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-build}
SHARED=${SHARED:-$here/../../shared}
PARTS=${PARTS:-classify,regress,grouped,exact,targets,series,memory}
FULL=${FULL:-0}
TARGETS=${TARGETS:-288}
REFERENCE_TARGETS=${REFERENCE_TARGETS:-2}
[ "$FULL" = 1 ] && TARGETS=288 REFERENCE_TARGETS=288
# Debian installs scikit-learn for its own Python.
python=/usr/bin/python3
ours=$BUILD/bench/bench_learn
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 LC_ALL=C

if [ ! -d "$SHARED/data" ] || [ ! -d "$SHARED/reference" ]; then
	echo "bench learn: skipped: $SHARED does not contain data/ and reference/; set SHARED" >&2
	exit 0
fi
sh "$here/../packaging/deps.sh" bench || echo "bench learn: continuing with the installed packages" >&2
if ! $python -c 'import sklearn, pandas, scipy' 2>/dev/null; then
	echo "bench learn: skipped: $python has no scikit-learn to compare with" >&2
	exit 0
fi
work=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/sluice-bench.XXXXXX")}
mkdir -p "$work"
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
start=$SECONDS

say() {
	printf 'bench learn: %4d s: %s\n' $((SECONDS - start)) "$*" >&2
}

has() {
	case ",$PARTS," in *,"$1",*) return 0 ;; esac
	return 1
}

# both PARTS: runs every job with Sluice, then with the reference. Two processes with one thread each share the jobs;
# they take alternate jobs, so that both get long and short ones.
both() {
	$python "$here/learn_cases.py" jobs "$1" "$SHARED" "$work" "$FULL" >"$work/jobs"
	for half in 0 1; do
		awk -v half=$half 'NR % 2 == half' "$work/jobs" >"$work/jobs.$half"
	done
	say "Sluice: $(wc -l <"$work/jobs") cases"
	side ours "$ours" run
	say "scikit-learn: the same"
	side reference $python "$here/learn_reference.py" run
	if Rscript -e 'library(caret); library(e1071)' >"$work/r.log" 2>&1; then
		say "R: support vector regression"
		Rscript "$here/learn_reference.R" svr "$work/jobs" >"$work/r.tsv" 2>>"$work/r.log"
	else
		say "R with caret and e1071 is not installed; the comparison is skipped"
	fi
}

# side NAME COMMAND...: runs both halves of the jobs; the output is $work/NAME.tsv
side() {
	local name=$1
	shift
	"$@" "$work/jobs.0" >"$work/$name.0" &
	"$@" "$work/jobs.1" >"$work/$name.1"
	wait
	cat "$work/$name.0" "$work/$name.1" >"$work/$name.tsv"
}

exact() {
	say "exactness"
	$python "$here/learn_cases.py" exact "$SHARED" "$work" >"$work/sets"
	while IFS=$'\t' read -r name file target features; do
		"$ours" powers "$file" "$features" >"$work/powers_$name.tsv"
		"$ours" components "$file" "$features" >"$work/components_$name.tsv"
		"$ours" linear "$file" "$target" "$features" >"$work/linear_$name.tsv"
		# shellcheck disable=SC2046 # names of columns, no blanks
		Rscript "$here/learn_reference.R" powers "$file" $(cut -f 1 "$work/powers_$name.tsv") \
			>"$work/caret_$name.tsv" 2>/dev/null || rm -f "$work/caret_$name.tsv"
	done <"$work/sets"
	"$ours" mixtures "$work/mixtures.csv" >"$work/mixtures.tsv"
	$python "$here/learn_exact.py" "$SHARED" "$work" >"$work/exact.tsv" ||
		printf 'comparison\tinf\t0\tthe comparison failed\n' >>"$work/exact.tsv"
}

# cross NAME TARGETS THREADS REFERENCE_TARGETS STANDS_FOR: runs the jobs of $work/NAME.jobs with both
cross() {
	say "$1: 8 folds of $2 target(s), $3 thread(s)"
	"$ours" targets "$work/$1.jobs" "$2" "$3" >"$work/$1_ours_$5_$3.tsv"
	say "scikit-learn: the same for $4 target(s)"
	$python "$here/learn_reference.py" targets "$work/$1.jobs" "$4" "$3" >"$work/$1_reference_$5_$3.tsv"
}

targets() {
	say "generating $TARGETS storage targets"
	$python "$here/learn_data.py" targets "$SHARED" "$work" "$TARGETS" 2>/dev/null || return
	$python "$here/learn_cases.py" jobs targets "$SHARED" "$work" "$FULL" >"$work/six.jobs"
	awk -F '\t' '$7 == "svm"' "$work/six.jobs" >"$work/svm.jobs"
	cross svm 1 1 1 1
	cross svm 1 2 1 1
	cross six 1 1 1 1
	cross six 1 2 1 1
	cross six "$TARGETS" 2 "$REFERENCE_TARGETS" 288
}

# program NAME COMMAND...: runs a program, if it was built
program() {
	local name=$1
	shift
	[ -x "$1" ] || { say "$name: $1 was not built"; return; }
	say "$name"
	"$@" >"$work/$name.txt" 2>&1
	echo $? >"$work/$name.code"
}

say "creating the data sets"
$python "$here/learn_data.py" sets "$SHARED" "$work" || exit 1
cases=
for part in classify regress grouped; do
	has $part && cases=$cases${cases:+,}$part
done
[ -z "$cases" ] || both "$cases"
has exact && exact
has targets && targets
has series && program series "$BUILD/bench/bench_learn_series" "$SHARED/data"
has memory && program memory "$BUILD/tests/unit_learn_memory"
say "done"
$python "$here/learn_table.py" "$work" "$PARTS"
