#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run --place adaptive` compared with equal shares on the OSDs of the test bed, while jobs of Slurm on another host
# load one OSD after the other: part of bench/cluster.sh, run on the host `head`. The program is not changed. The method is
# that of placement.sh (libexperiment.sh). Writes "key NAME VALUE" and "missed: TEXT" to FILE. CLUSTER_COLLECT is the time of
# probes for the forecast (default 120 s; 0: without a forecast), CLUSTER_STEPS that of the steps (default 380 s).
# usage: cluster_placement.sh FILE
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
sluice=$BUILD/sluice python=/usr/bin/python3 quick=
workspace "" /tmp
work_remove() {
	cd /
	rm -rf "$work"
}
trap 'exit 130' INT TERM
export SLUICE_SPOOL_DIR=$work/spool PYTHONDONTWRITEBYTECODE=1
mkdir -p "$SLUICE_SPOOL_DIR"

bed_start() {
	bed_targets=("$TESTBED_MOUNT"/targets/osd*)
}

# testbed/up has limited the OSDs.
bed_throttle() {
	:
}

bed_run() {
	"$@"
}

bed_spawn() {
	setpriv --pdeathsig TERM "$@" &
}

bed_load() {
	bed_spawn $python "$here/cluster_load.py" "$@" "${bed_targets[@]}"
}

bed_stop() {
	rm -rf "${bed_targets[@]/%//probe}" "${bed_targets[@]/%//files}"
}

FORECAST_COLLECT=${CLUSTER_COLLECT:-120} FORECAST_STEPS=${CLUSTER_STEPS:-380} FORECAST_TARGETS=4
target_rate=32 movers=1 writer_processes=16 rules="equal adaptive"
. "$here/libexperiment.sh"
experiment_judged feedback 15 0
{
	printf '%s' "$missed"
	tr ' ' '\n' <<<"$keys" | sed -n 's/\(..*\)=/key place_\1 /p'
} >>"$1"
