#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Is the cluster of testbed/ a valid striped file system? Starts one and writes files of 128 MiB with 1, 2 and 4 stripes, in
# turn. Then places files on its OSDs (bench/cluster_placement.sh), tunes kernels on it (bench/cluster_tuning.sh) and fits a
# model of it (bench/cluster_model.sh). Needs root. docs/reference/benchmarks.md describes it. BUILD names the build tree;
# CLUSTER_STEPS the seconds of placement (0: none), CLUSTER_KERNELS the kernels to tune, by default all; CLUSTER_MODEL=0
# omits the model.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/bench/libbench.sh"
BUILD=$(cd "${BUILD:-build}" && pwd)
export BUILD
workspace "" /tmp
export SLUICE_TESTBED=$work/bed
trap '"$source/testbed/down" >/dev/null; cd /; rm -rf "$work"' EXIT
"$source/testbed/up" --hosts 2 cephfs slurm
grep -qx cephfs "$SLUICE_TESTBED/started" || { say "bench cluster: this machine cannot run the test bed" && exit 1; }
cat >write.py <<'END'
import os, sys, time
path, count, mib = sys.argv[1], sys.argv[2], 128
block = os.urandom(1 << 20)
fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.setxattr(path, "ceph.file.layout.stripe_count", count.encode())
begun = time.monotonic()
for i in range(mib):
    os.pwrite(fd, block, i << 20)
os.fsync(fd)
print("%.1f" % (mib / (time.monotonic() - begun)))
os.close(fd)
os.unlink(path)
END
for round in 1 2 3; do
	for count in 1 2 4; do
		"$source/testbed/enter" head python3 "$work/write.py" "$SLUICE_TESTBED/cephfs/$count-$round" $count >>"rates.$count"
	done
done
say "stripes  MiB/s of 3 rounds, devices limited to 32 MiB/s"
for count in 1 2 4; do
	say "$count        $(paste -sd ' ' "rates.$count")"
	key "mib_s_$count" "$(median "rates.$count")"
done
gain=$(ratio "$(median rates.4)" "$(median rates.1)")
key gain "$gain"
! less "$gain" 2.5 || miss "4 stripes are $gain times as fast as 1, not 2.5 times"
: >placed
: >tuned
[ "${CLUSTER_STEPS:-}" = 0 ] || "$source/testbed/enter" head bash "$source/bench/cluster_placement.sh" "$work/placed" || true
bars placed
kernels=${CLUSTER_KERNELS-vpic vorpal gcrm strided}
# shellcheck disable=SC2086 # words
[ -z "$kernels" ] || "$source/testbed/enter" head bash "$source/bench/cluster_tuning.sh" "$work/tuned" $kernels
bars tuned
: >modelled
[ "${CLUSTER_MODEL:-}" = 0 ] || "$source/testbed/enter" head bash "$source/bench/cluster_model.sh" "$work/modelled" || true
bars modelled
finish cluster
