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
# is_loaded: do small files on the OSD take much longer than on another one? The queues take some time to fill.
is_loaded() {
	on head ls -A "$targets/osd2" | grep -q fuse_hidden || return
	on head python3 -c 'import os, sys, time
def write(path):
    begin = time.monotonic()
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    os.unlink(path)
    os.write(fd, bytes(4 << 20))
    os.fsync(fd)
    os.close(fd)
    return time.monotonic() - begin
pairs = [(write(sys.argv[1]), write(sys.argv[2])) for i in range(5)]
sys.exit(sum(a for a, b in pairs) < 3 * sum(b for a, b in pairs))' "$targets/osd2/slow" "$targets/osd0/slow"
}
wait_for "slow writes beside the load" is_loaded
# With buffers, Python would only write at close: CephFS has blocks of 4 MiB.
cat >writer.py <<'END'
import os
data = os.urandom(1 << 20)
for p in range(8):
    if not os.fork():
        for i in range(6):
            with open("data/%d-%d" % (p, i), "xb", buffering=0) as f:
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

# The same with the pools of the OSDs: each file stays where the program creates it, and gets a pool before its first write. The
# pieces of a checkpoint of several files are placed one by one.
echo "[targets]" >site.ini
for i in 0 1 2 3; do
	echo "osd$i = ceph:$mount/pools,pool=osd$i" >>site.ini
done
sed "s|data/%d-%d|$mount/pools/checkpoint.%d.%05d|g" writer.py >pieces.py
check_rc 0 on head "$sluice" run --place adaptive -o "$work/pieces" -- python3 -B "$work/pieces.py"
check_words "$(cat err)" "placed 48 new files in"
# pools: prints the number of files in each pool
pools() {
	on head python3 - "$mount/pools" <<'END'
import collections, os, stat, sys
files = [os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1])]
assert all(stat.S_ISREG(os.lstat(file).st_mode) for file in files)
count = collections.Counter(os.getxattr(file, "ceph.file.layout.pool").decode() for file in files)
print(*(count.pop("osd%d" % i, 0) for i in range(4)), sum(count.values()))
END
}
read -r a b c d other <<<"$(pools)"
check_eq $((a + b + c + d)) 48 "files in the pools: $a $b $c $d"
[ $((c * 3)) -lt $((a + b + d)) ] || fail "the pool of the loaded OSD: $a $b $c $d"
check_eq "$other" 0 "files in other pools"
check_words "$(cat err)" "in osd0" "in osd1" "in osd3"
"$sluice" report "$work/pieces" >shown
check_line shown spread_pools osd0 "$a/$a" "placement"

# A file that has data, and one whose program sets a layout, are left alone. Processes that create a shared file at the same time
# use the pool of the first one.
on head rm -rf "$mount/pools"
on head mkdir "$mount/pools"
cat >layouts.py <<'END'
import os, sys
layout = "ceph.file.layout"
os.chdir(sys.argv[1])
def show(name):
    fields = dict(word.split("=") for word in os.getxattr(name, layout).decode().split())
    print(name, fields["stripe_count"], fields["pool"])
fd = os.open("own", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.setxattr(fd, layout + ".stripe_count", b"2")
os.write(fd, b"x")
os.close(fd)
show("own")
fd = os.open("old", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
os.write(fd, b"x")
os.close(fd)
show("old")
for p in range(4):
    if not os.fork():
        fd = os.open("shared", os.O_CREAT | os.O_RDWR)
        os.pwrite(fd, bytes([65 + p]) * 4096, p * 4096)
        os.fsync(fd)
        os._exit(0)
for p in range(4):
    assert os.wait()[1] == 0
assert open("shared", "rb").read() == b"".join(bytes([65 + p]) * 4096 for p in range(4))
show("shared")
END
on head sh -c "echo hello >$mount/pools/old"
check_rc 0 on head "$sluice" run --place adaptive -o "$work/layouts" -- python3 -B "$work/layouts.py" "$mount/pools"
check_eq "$(head -n 2 out)" "own 2 cephfs_data
old 1 cephfs_data" "files that are left alone"
[[ $(tail -n 1 out) =~ ^shared\ 1\ osd[0-3]$ ]] || fail "the shared file: $(cat out)"
check_words "$(cat err)" "spread_pools" "the program sets it"
