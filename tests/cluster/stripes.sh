#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The bed is a striped file system: the devices of the OSDs have equal limits, a file with one stripe is on one of them, and
# one with four stripes is spread evenly. Files in the folder of an OSD are on that OSD. Layouts are set by extended attributes before the first write, and directories hand
# theirs down. `make bench NAME=cluster` measures what that means for throughput.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs
if grep -q '^limits of OSDs' "$SLUICE_TESTBED/lacks"; then
	skip_case io-limits "limits of OSDs"
else
	for group in /sys/fs/cgroup/blkio /sys/fs/cgroup; do
		group=$group/sluice-testbed$(tr / - <<<"$SLUICE_TESTBED")
		[ ! -d "$group" ] || break
	done
	check_eq "$(grep -cw 33554432 "$group"/blkio.throttle.write_bps_device || grep -c wbps=33554432 "$group/io.max")" 4 "limited devices"
	check_eq "$(xargs -I{} cat /proc/{}/comm <"$group/cgroup.procs" | sort | uniq -c | xargs)" "4 ceph-osd" "limited processes"
fi

cat >write.py <<'END'
import errno, os, sys
bed, folder, mib = sys.argv[1], sys.argv[2], 64
block = os.urandom(1 << 20)
def set_layout(path, field, value):
    os.setxattr(path, "ceph.%s.layout.%s" % ("dir" if os.path.isdir(path) else "file", field), str(value).encode())
def layout_of(path):
    return dict(f.split("=") for f in os.getxattr(path, "ceph.file.layout").decode().split())
def fails(number, action, *arguments):
    try:
        action(*arguments)
    except OSError as e:
        assert e.errno == number, e
        return
    raise AssertionError("expected errno %d" % number)
def written():
    """Returns how many MiB were written to the device of each OSD."""
    devices = [os.path.basename(os.readlink("%s/ceph/osd%d/block" % (bed, i))) for i in range(4)]
    return [int(open("/sys/class/block/%s/stat" % d).read().split()[6]) / 2048 for d in devices]
def write_file(path, count):
    """Returns how many MiB a file adds to each device."""
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    set_layout(path, "stripe_count", count)
    before = written()
    for i in range(mib):
        assert os.pwrite(fd, block, i << 20) == len(block)
    os.fsync(fd)
    added = [b - a for a, b in zip(before, written())]
    for i in range(mib):
        assert os.pread(fd, len(block), i << 20) == block, (path, i)
    fails(errno.ENOTEMPTY, set_layout, path, "stripe_count", 2)
    os.close(fd)
    os.unlink(path)
    return added

os.mkdir(folder)
mounts = [line.split() for line in open("/proc/self/mounts")]
assert any(m[2] == "fuse.cephfs" and folder.startswith(m[1] + "/") for m in mounts), "not on CephFS"
open(folder + "/first", "x").close()
assert layout_of(folder + "/first")["stripe_count"] == "1", "the default of the site is one stripe"
fails(errno.EINVAL, set_layout, folder + "/first", "stripe_unit", 4096)
set_layout(folder, "stripe_count", 2)
open(folder + "/second", "x").close()
assert layout_of(folder + "/second")["stripe_count"] == "2", layout_of(folder + "/second")
# Ceph adds metadata and journals.
one, two, four = (sorted(write_file("%s/%d-stripes" % (folder, count), count)) for count in (1, 2, 4))
print("MiB on each device with 1, 2 and 4 stripes:", *[[round(m, 1) for m in added] for added in (one, two, four)])
assert one[3] >= 64 and one[2] < 10, one
assert two[2] >= 32 and two[3] < 42 and two[1] < 10, two
assert four[0] >= 16 and four[3] < 26, four
for osd in range(4):
    added = write_file("%s/cephfs/targets/osd%d/pinned" % (bed, osd), 2)
    assert added.pop(osd) >= 64 and max(added) < 10, (osd, added)
END
at_exit 'on head rm -rf "$SLUICE_TESTBED/cephfs/stripes"'
on head python3 "$work/write.py" "$SLUICE_TESTBED" "$SLUICE_TESTBED/cephfs/stripes"
