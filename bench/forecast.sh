#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Forecast and placement. docs/benchmarks.md says how it is measured. Parts:
#   learn       generated Titan and Cori: every classifier beside scikit-learn on the same rows and folds, baselines
#   real        one year of I/O benchmarks on Cori (tokio-abc): states, from what is known when a run starts
#   placement   generated Titan: 100 repetitions of 100 steps (WAN-37), all rules and metrics
#   svm         support vector machines of 288 targets x 3 sizes beside scikit-learn's; microseconds per answer
#   probe       what `sluice probe run` costs at the paper's cadence, by its own statistics and from outside
#   generator   rows per second of the generated systems
#   experiment  six throttled loop devices, a load that moves, probes, a model, and a program with and without placement
# BUILD names the build tree, FORECAST_PARTS which parts are done, SHARED the folder with data/, FORECAST_KEEP a directory
# where everything stays. FORECAST_QUICK=1 is for a look, FORECAST_FULL=1 lets scikit-learn train all targets, too.
# The experiment and nothing else needs root; without, it is left out.
set -u
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
. "$here/libbed.sh"
parts=${FORECAST_PARTS:-generator learn real placement svm probe experiment}
case " $parts " in
*" experiment "*) bed_can 2>/dev/null && bed_enter "$here/forecast.sh" ;;
esac
quick=${FORECAST_QUICK:-} full=${FORECAST_FULL:-}
SHARED=${SHARED:-$here/../../shared}
sluice=$BUILD/sluice
# Debian's Python: scikit-learn is installed for that one.
python=/usr/bin/python3
if [ -n "${FORECAST_KEEP:-}" ]; then
	mkdir -p "$FORECAST_KEEP"
	work=$(cd "$FORECAST_KEEP" && pwd)
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-bench.XXXXXX")
fi
work_remove() {
	cd /
	[ -n "${FORECAST_KEEP:-}" ] || rm -rf "$work"
}
trap work_remove EXIT
trap 'exit 130' INT TERM
cd "$work"
# Nothing of the user's settings.
for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
export LC_ALL=C HOME=$work SLUICE_ETC=/dev/null XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
export SLUICE_STORE_PATH=$work/store.db SLUICE_TRACE_DIR=$work/runs
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
. "$here/libexperiment.sh"

# bars FILE: lines "key NAME VALUE" and "missed: TEXT" of a judge, which it has printed in words already
bars() {
	local line
	while read -r line; do
		case $line in
		"key "*) key ${line#key } ;;
		missed:*) miss "${line#missed: }" ;;
		esac
	done <"$1"
}

for part in $parts; do
	say "---- $part ----"
	"part_$part"
	say
done
printf '%s' "${missed:-}"
say "bench forecast:$keys failed=$failed"
[ $failed = 0 ]
