#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Forecast and placement with the OSDs as targets: probes of each OSD by its folder and by its pool, and `sluice run --place`
# while a job of Slurm on another host writes to one of them, which gets fewer files than the others. `make bench NAME=cluster`
# measures what that gains.
# Papers: WAN-8, WAN-39.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs slurm
mount=$SLUICE_TESTBED/cephfs
targets=$mount/targets
export SLUICE_STORE_PATH=$work/store.db SLUICE_FORECAST_MODEL=$work/model SLUICE_PROBE_SITE=$work/site.ini SLUICE_SPOOL_DIR=$work/spool
mkdir spool data
at_exit 'on head sh -c "scancel --me; rm -rf $targets/osd?/files $mount/pools"'

# Probes by folder, which the user chooses, and by pool, which Sluice gives new files. They reach the devices, which write 32
# MiB/s, although the mount has a cache.
on head mkdir "$mount/pools"
echo "[targets]" >site.ini
for i in 0 1 2 3; do
	on head mkdir "$targets/osd$i/files"
	folders+=("osd$i=$targets/osd$i/files")
	pools+=("osd$i=ceph:$mount/pools,pool=osd$i")
	echo "osd$i = $targets/osd$i/files" >>site.ini
done
# probe NAME TARGET...
probe() {
	check_rc 0 on head "$sluice" forecast probe --system "$1" --every 2s --reference-every 0 --jobs-every 0 --sizes 16M --duration 3s "${@:2}"
	"$sluice" forecast export --system "$1" >exported
	check_eq "$(grep -oE '^osd[0-3] [0-9.e-]+s' exported | cut -d ' ' -f 1 | sort -u | paste -sd ' ')" "osd0 osd1 osd2 osd3" "probes of the $1"
	check_eq "$(awk '/^osd/ && $2 != "-" && $2 + 0 < 0.2' exported)" "" "probes of the $1 that did not reach the device"
}
probe folders "${folders[@]}"
probe pools "${pools[@]}"
check_eq "$(on head ls -A "$mount/pools")" "" "files that the probes left"

# A job writes to one OSD.
on head sbatch --parsable --output=/dev/null --ntasks=1 --wrap="exec python3 $SOURCE/bench/cluster_load.py write 16 $targets/osd2" >job
is_loaded() {
	on head ls -A "$targets/osd2" | grep -q fuse_hidden
}
wait_for "the load" is_loaded
cat >writer.py <<'END'
import os
data = os.urandom(1 << 20)
for p in range(8):
    if not os.fork():
        for i in range(6):
            with open("data/%d-%d" % (p, i), "xb") as f:
                f.write(data)
                os.fsync(f.fileno())
        os._exit(0)
for p in range(8):
    assert os.wait()[1] == 0
for p in range(8):
    for i in range(6):
        assert open("data/%d-%d" % (p, i), "rb").read() == data
END
check_rc 0 on head "$sluice" run --place adaptive -o "$work/trace" -- python3 -B "$work/writer.py"
check_words "$(cat err)" "placed 48 new files in"
for i in 0 1 2 3; do
	held[i]=$(on head ls "$targets/osd$i/files" | wc -l)
done
check_eq $((held[0] + held[1] + held[2] + held[3])) 48 "files on the targets: ${held[*]}"
[ $((held[2] * 3)) -lt $((held[0] + held[1] + held[3])) ] || fail "the loaded target: ${held[*]}"
