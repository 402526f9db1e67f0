#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# CephFS of the bed is one file system on all hosts: what one host writes, the others read, and locks of fcntl and flock hold
# between hosts.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs
folder=$SLUICE_TESTBED/cephfs/locks
at_exit 'on head rm -rf "$folder"'
on node1 mkdir "$folder"

# 50 increments on each of two hosts, under a lock: none is lost.
cat >count.py <<'END'
import fcntl, os, sys, time
path, kind, host, other = sys.argv[1:]
lock, unlock = {"fcntl": (lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX, 1), lambda fd: fcntl.lockf(fd, fcntl.LOCK_UN, 1)),
                "flock": (lambda fd: fcntl.flock(fd, fcntl.LOCK_EX), lambda fd: fcntl.flock(fd, fcntl.LOCK_UN))}[kind]
open(path + "." + host, "x").close()
while not os.path.exists(path + "." + other):
    time.sleep(0.01)
fd = os.open(path, os.O_CREAT | os.O_RDWR)
for i in range(50):
    lock(fd)
    count = int(os.pread(fd, 20, 0) or b"0")
    os.pwrite(fd, b"%d" % (count + 1), 0)
    unlock(fd)
END
for kind in fcntl flock; do
	on node1 python3 "$work/count.py" "$folder/$kind" $kind node1 node2 &
	one=$!
	on node2 python3 "$work/count.py" "$folder/$kind" $kind node2 node1 &
	two=$!
	wait $one || fail "node1 failed with $kind"
	wait $two || fail "node2 failed with $kind"
	check_eq "$(on head cat "$folder/$kind")" 100 "increments under $kind"
done

# Hosts that create the same file at the same time get the same file, and only one of them creates it.
cat >create.py <<'END'
import os, sys
folder, host = sys.argv[1:]
for i in range(20):
    fd = os.open("%s/both-%d" % (folder, i), os.O_CREAT | os.O_RDWR)
    os.pwrite(fd, host.encode(), 8 if host == "node1" else 0)
    os.fsync(fd)
    os.close(fd)
    try:
        os.close(os.open("%s/one-%d" % (folder, i), os.O_CREAT | os.O_EXCL | os.O_RDWR))
        print("created", i)
    except FileExistsError:
        pass
END
on node1 python3 "$work/create.py" "$folder" node1 >one &
one=$!
on node2 python3 "$work/create.py" "$folder" node2 >two &
two=$!
wait $one || fail "node1 cannot create files"
wait $two || fail "node2 cannot create files"
check_eq "$(sort one two | uniq | wc -l) $(cat one two | wc -l)" "20 20" "files that were created exclusively"
check_eq "$(on head sh -c "cat '$folder'/both-*" | tr -d '\0' | sed 's/node2node1/+/g')" "$(printf '+%.0s' $(seq 20))" "shared files"
check_eq "$(on head find "$folder" -name '.spread-*')" "" "temporary files"
