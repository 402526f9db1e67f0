#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run --place adaptive` compared with equal shares on six throttled loop devices, while a load moves between them.
# The program is not changed; both rules have one step per block, in random order. docs/reference/benchmarks.md describes
# the method (libexperiment.sh).
# BUILD names the build tree, PLACEMENT_SEED selects the moves of the load, PLACEMENT_KEEP a directory for all intermediate
# files. PLACEMENT_COLLECT is the time of probes for the forecast (default 300 s; 0: without a forecast), PLACEMENT_STEPS
# that of the steps (default 380 s). PLACEMENT_QUICK=1 runs a small version. Requires root; without, it is skipped.
set -u
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
. "$here/libbed.sh"
if ! bed_can; then
	key placement skipped
	finish placement
	exit
fi
bed_enter "$here/placement.sh"
quick=${PLACEMENT_QUICK:-}
FORECAST_SEED=${PLACEMENT_SEED:-1} FORECAST_COLLECT=${PLACEMENT_COLLECT:-} FORECAST_STEPS=${PLACEMENT_STEPS:-}
sluice=$BUILD/sluice
python=/usr/bin/python3
workspace "${PLACEMENT_KEEP:-}" "${TMPDIR:-/tmp}"
work_remove() {
	cd /
	[ -n "${PLACEMENT_KEEP:-}" ] || rm -rf "$work"
}
trap 'exit 130' INT TERM
# Other programs of the user must not share their backlog with the measured one.
export SLUICE_SPOOL_DIR=$work/spool PYTHONDONTWRITEBYTECODE=1
mkdir -p "$SLUICE_SPOOL_DIR"
rules="equal adaptive"
. "$here/libexperiment.sh"
experiment_judged feedback 20 10
finish placement
