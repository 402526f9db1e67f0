#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server of the mount of CephFS and its clients, recorded by different runs on a host with a pid namespace of its own:
# each write of a client leads to the read of the server that received the request, and its reply leads back.
# Papers: SIOX-11.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs
mount=$work/mount
mkdir "$mount"
chmod 755 "$work"
at_exit 'on node1 umount --lazy "$mount" 2>/dev/null || true'

on node1 "$sluice" run -o "$work/server.sluice" -- "$BUILD/testbed/cephfs_mount" "$mount" -o "conf=$SLUICE_TESTBED/ceph/ceph.conf" &
server=$!
is_mounted() {
	on node1 grep -q " $mount fuse" /proc/self/mounts
}
wait_for mount is_mounted
on node1 "$sluice" run -o "$work/client.sluice" -- python3 -c '
import os, sys, threading
def write(thread):
    fd = os.open(f"{sys.argv[1]}/fuse.{thread}", os.O_CREAT | os.O_WRONLY)
    for i in range(50):
        os.pwrite(fd, b"x" * 4096, i * 4096)
    os.close(fd)
threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for i in range(4):
    os.unlink(f"{sys.argv[1]}/fuse.{i}")' "$mount"
on node1 umount "$mount"
wait $server
"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
"$sluice" print --json both.sluice >print.json 2>/dev/null
python3 - print.json "$mount" <<'PYTHON'
import json, sys
trace = json.load(open(sys.argv[1]))
calls = {c["id"]: c for c in trace["activities"]}
heads = {c["cause"]: c for c in trace["activities"] if c["function"] == "fuse_request"}
writes = 0
for c in trace["activities"]:
    if c["class"] != "write" or not c.get("file", "").startswith(sys.argv[2] + "/"):
        continue
    writes += 1
    requests = [heads[i] for i in c["remote_calls"]]
    data = [r for r in requests if r["flags"] == 16]
    assert [(r["offset"], r["size"]) for r in data] == [(c["offset"], 4096)], (c, requests)
    reply = [r for r in trace["activities"] if r.get("request") == data[0]["cause"] and r["class"] == "write"
        and r.get("remote_calls") == [c["id"]]]
    assert len(reply) == 1, (c, reply)
assert writes == 200, writes
print(trace["fuse_requests"])
PYTHON
