#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# CPU time and error of boosting on many rows, compared with scikit-learn's HistGradientBoosting in the same run. For
# Sluice, the time is that of the whole command, which reads the table, fits and writes the model; for scikit-learn it is
# that of fit() alone, in one thread. BUILD names the build tree, ROWS the number of rows, ROUNDS the number of tables,
# each with its own random numbers. The fastest fit and the mean error count: on one table the errors of equally good
# choices differ by some percent.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-build}
ROWS=${ROWS:-200000}
ROUNDS=${ROUNDS:-3}
# Debian installs scikit-learn for its own Python.
python=/usr/bin/python3
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 LC_ALL=C

sh "$here/../packaging/deps.sh" bench || echo "bench boosting: continuing with the installed packages" >&2
if ! $python -c 'import sklearn, pandas' 2>/dev/null; then
	echo "bench boosting: skipped: $python has no scikit-learn to compare with" >&2
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# ours SETTINGS FILE: appends CPU seconds and the error on the test rows.
ours() {
	local cpu
	cpu=$({ time "$BUILD/sluice" lab learn fit "$work/train.csv" --response y --learner "boosting:$1" --folds 0 \
		--threads 1 -o "$work/model" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.3f", $1 + $2 }')
	"$BUILD/sluice" lab learn predict "$work/model" "$work/test.csv" >"$work/predictions.csv" 2>/dev/null
	echo "$cpu $($python "$here/boosting.py" error "$work/predictions.csv")" >>"$work/$2"
}

for round in $(seq "$ROUNDS"); do
	$python "$here/boosting.py" data "$work" "$ROWS" "${round}0"
	ours trees=100 ours
	ours trees=100,bins=0 exact
	$python "$here/boosting.py" fit "$work" default | awk '{ print $2, $3 }' >>"$work/default"
	$python "$here/boosting.py" fit "$work" same | awk '{ print $2, $3 }' >>"$work/same"
done

best() { awk 'NR == 1 || $1 < s { s = $1 } { e += $2 } END { printf "%.3f %.4f\n", s, e / NR }' "$work/$1"; }
read -r our_s our_error < <(best ours)
read -r exact_s exact_error < <(best exact)
read -r their_s their_error < <(best default)
read -r same_s same_error < <(best same)
printf '%-54s %8s %8s\n' "$ROWS rows, 10 inputs, 100 trees; $ROUNDS tables" 'CPU s' RMSE
printf '%-54s %8s %8s\n' 'Sluice, whole command' "$our_s" "$our_error" \
	'Sluice without bins (bins=0), whole command' "$exact_s" "$exact_error" \
	'scikit-learn, fit(), trees of depth 3 as ours' "$same_s" "$same_error" \
	'scikit-learn, fit(), its defaults (31 leaves)' "$their_s" "$their_error"
fast=$(awk -v a="$our_s" -v b="$their_s" 'BEGIN { print a <= b ? "yes" : "no" }')
limit=$(awk -v a="$our_s" -v n="$ROWS" 'BEGIN { print a <= 1.6 * n / 200000 ? "yes" : "no" }')
close=$(awk -v a="$our_error" -v b="$same_error" 'BEGIN { print a <= 1.03 * b ? "yes" : "no" }')
echo "not slower than scikit-learn's defaults: $fast; at most 1.6 s for 200,000 rows: $limit;" \
	"error within 3 % of the same trees: $close"
echo "bench boosting: cpu_s=$our_s rmse=$our_error exact_cpu_s=$exact_s sklearn_cpu_s=$their_s sklearn_rmse=$their_error" \
	"sklearn_same_cpu_s=$same_s sklearn_same_rmse=$same_error"
[ "$fast" = yes ] && [ "$limit" = yes ] && [ "$close" = yes ]
