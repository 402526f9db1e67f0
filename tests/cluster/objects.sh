#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OSDs with a FileStore, recorded, and a parallel program on another host that writes a file with two stripes: each write of
# a rank leads to exactly those writes of OSDs that store its bytes, and nothing else does.
# Papers: SIOX-11.
. "$(dirname "$0")/libcluster.sh"
own_bed
program=$BUILD/mpi/mpich/collective_io
[ -x "$program" ] || skip mpich "build/mpi/mpich/collective_io"
chmod 755 "$work"
# record_osd NUMBER COMMAND...: records an OSD, and says when its trace is complete
cat >record_osd <<END
#!/bin/sh
number=\$1
shift
"$sluice" run -o "$work/osd\$number.sluice" -- "\$@"
touch "$work/ended\$number"
END
chmod +x record_osd
"$testbed/up" --hosts 1 --osds 2 --rate 0 --link 0 --store filestore --under "$work/record_osd {}" cephfs >up.out
for part in ceph cephfs; do
	need=$(missing_of "$part")
	[ -z "$need" ] || skip "$need" "part $part of the test bed"
done
mount=$(on head printenv TESTBED_MOUNT)
on head python3 -c 'import os, sys
os.mkdir(sys.argv[1])
os.setxattr(sys.argv[1], "ceph.dir.layout", b"stripe_unit=65536 stripe_count=2 object_size=262144 pool=cephfs_data")' "$mount/data"

# Twice, with a new file each time, of which only the second one is there at the end. Each rank writes its own part; the
# sizes are no multiples of the stripe unit.
on node1 "$sluice" run -o "$work/ranks.sluice" -- mpiexec.mpich -n 4 "$program" -s 1000K -t 100K -H romio_cb_write=disable \
	-n 2 -o "$mount/data/file" >ranks.out
on node1 python3 -c 'import os, sys
os.fsync(os.open(sys.argv[1], os.O_RDWR))' "$mount/data/file"
# The same bytes several times: stored each time, or only the last time. After fsync, the bytes are in the journal of the
# OSD; reading them without the cache waits until they are in the object. Then a rename that takes the place of a file.
on head "$sluice" run -o "$work/again.sluice" -- python3 -c '
import os, sys
path = sys.argv[1] + "/again"
fd = os.open(path, os.O_CREAT | os.O_WRONLY)
uncached = os.open(path, os.O_RDONLY | os.O_DIRECT)
for i in range(3):
    os.pwrite(fd, bytes([i]) * 70000, 100000)
    os.fsync(fd)
    assert os.pread(uncached, 70000, 100000) == bytes([i]) * 70000
for i in range(3):
    os.pwrite(fd, bytes([i]) * 1000, 600000)
os.fsync(fd)
for name in "old", "new":
    fd = os.open(path + name, os.O_CREAT | os.O_WRONLY)
    os.pwrite(fd, name.encode(), 10)
    os.fsync(fd)
os.rename(path + "new", path + "old")' "$mount/data"
# A client that is not recorded.
on head python3 -c 'import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
os.write(fd, b"x" * 300000)
os.fsync(fd)' "$mount/data/other"
for file in file again againold other; do
	on head stat -c "$file %i" "$mount/data/$file"
done >inodes
# shellcheck disable=SC2016
on head sh -c 'for osd in 0 1; do kill -TERM "$(cat "$1/ceph/run/osd.$osd.pid")"; done' sh "$SLUICE_TESTBED"
for osd in 0 1; do
	wait_for "the trace of OSD $osd" test -e "ended$osd"
done

"$sluice" trace merge --join -o all.sluice ranks.sluice again.sluice osd0.sluice osd1.sluice >/dev/null
"$sluice" print --json all.sluice >print.json 2>/dev/null
"$sluice" print --tree all.sluice >tree.txt 2>/dev/null
python3 - print.json inodes tree.txt <<'PYTHON'
import json, re, sys
UNIT, COUNT, OBJECT = 65536, 2, 262144
trace = json.load(open(sys.argv[1]))
inodes = {name: int(number) for name, number in map(str.split, open(sys.argv[2]))}
calls = {c["id"]: c for c in trace["activities"]}

# Which byte of which object holds the byte of the file, said differently than in the product.
def place(inode, byte):
    stripe, unit = divmod(byte // UNIT, COUNT)
    group, row = divmod(stripe, OBJECT // UNIT)
    return "%x.%08x" % (inode, group * COUNT + unit), row * UNIT + byte % UNIT
def places(inode, offset, size):
    cuts = [offset, *range(offset // UNIT * UNIT + UNIT, offset + size, UNIT), offset + size]
    return [(*place(inode, a), b - a) for a, b in zip(cuts, cuts[1:])]
def stored(call):
    return call["file"].rsplit("/", 1)[1].split("__")[0]

writes = [c for c in trace["activities"] if c["class"] == "write" and c["layer"] == "POSIX"]
served = [c for c in writes if re.search(r"/osd[01]/current/\d+\.[0-9a-f]+_head/.*__head_", c.get("file", ""))]
def of_file(name):
    return [c for c in writes if c.get("file", "").endswith("/data/" + name)]
def of_inode(name):
    return [c for c in served if stored(c).startswith("%x." % inodes[name])]
assert all(calls[i] in served for c in writes for i in c.get("remote_calls", []) if c not in served
    and "/data/" in c.get("file", "")), "other calls are linked"

# Every byte of a rank is in exactly one of the writes that it leads to, and all of these store some.
ranks = of_file("file")
assert len(ranks) == 80, len(ranks)
found = set()
for c in ranks:
    assert calls[c["cause"]]["function"] == "MPI_File_write_at_all", c
    effects = [calls[i] for i in c.get("remote_calls", [])]
    left = {s["id"]: 0 for s in effects}
    if c["start_ns"] >= ranks[40]["start_ns"]:
        for name, offset, size in places(inodes["file"], c["offset"], c["size"]):
            covering = [s for s in effects if stored(s) == name and s["offset"] < offset + size
                and offset < s["offset"] + s["result"]]
            shares = [min(offset + size, s["offset"] + s["result"]) - max(offset, s["offset"]) for s in covering]
            assert sum(shares) == size, (c, name, offset, size, covering)
            for s, share in zip(covering, shares):
                left[s["id"]] += share
    assert all(left.values()), (c, left)
    for s in effects:
        assert c["id"] in s["remote_calls"] and s["connection"] == "matched", s
        found.add(s["id"])
ranks = ranks[40:]
assert found == {s["id"] for s in of_inode("file")}, "writes of OSDs without a rank"
assert sum(s["result"] for s in of_inode("file")) == 4 * 1000 * 1024, of_inode("file")

# Of writes to the same bytes, each leads to its own; what a cache replaced leads nowhere.
again = of_file("again")
pairs = {}
for c in again[:3]:
    pairs[c["id"]] = c["remote_calls"]
    for i in c["remote_calls"]:
        assert c["start_ns"] < calls[i]["start_ns"], (c, calls[i])
ids = [i for p in pairs.values() for i in p]
assert len(ids) == len(set(ids)) and all(pairs.values()), pairs
for c in again[:3]:
    assert sum(calls[i]["result"] for i in c["remote_calls"]) == 70000, c
assert all(not c.get("remote_calls") for c in again[3:]), again[3:]
assert [s["connection"] for s in of_inode("again") if s["id"] not in ids] == ["several_writes"], of_inode("again")

# Nobody's writes: of the file that was replaced, of that in its place, and of the client that was not recorded.
for name in "againold", "other":
    assert all(not s.get("remote_calls") for s in of_inode(name)), of_inode(name)
assert of_inode("other")
assert all(not c.get("remote_calls") for c in of_file("againold") + of_file("againnew"))
assert all(s["id"] in found or s["id"] in ids for s in served if s.get("remote_calls")), "other links"
counts = trace["object_writes"]
assert counts["matched"] == len(found) + len(ids) and counts["several_writes"] == 1, counts

# The tree shows the writes of OSDs below the call of a rank.
lines = [re.match(r"\S+ +(\S+) +\S+ +(?=\w+\()", line) for line in open(sys.argv[3])]
depth = {m[1]: m.end() for m in lines}
for c in ranks[-1:]:
    first = calls[calls[c["remote_calls"][0]]["remote_calls"][0]]
    assert depth[first["cause"]] < depth[first["id"]] < depth[c["remote_calls"][0]], (c, first)
print(len(ranks), "writes of ranks,", len(found), "of OSDs:", counts)
PYTHON
