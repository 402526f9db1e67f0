#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Layouts of files that a program creates without MPI: stripes of Lustre and BeeGFS before the open, attributes of CephFS
# after it. tests/prog/preload/lustreapi.c replaces these file systems; tests/cluster/layout.sh uses a real CephFS. The
# program sees the same results, errors and permissions as without Sluice. On a file system without layouts, nothing is done.
# Papers: H5T-11, H5T-AC-1.
. "$(dirname "$0")/libtest.sh"
python=/usr/bin/python3
[ -x $python ] || python=python3
mkdir lib data
ln -s "$prog/lustreapi.so" lib/liblustreapi.so.1 # the same object as the preloaded one
export SLUICE_STORE_PATH=$work/store.db LD_LIBRARY_PATH=$work/lib

cat >params.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "striping_factor", "value": 4}, {"name": "striping_factor", "value": 8, "file": "wide.dat"},
 {"name": "striping_unit", "value": 1048576},
 {"name": "ceph_stripe_unit", "value": 1572864}, {"name": "ceph_object_size", "value": 3145728},
 {"name": "ceph_stripe_count", "value": 2}]}
END

# The program creates files in every possible way; its results must be the same as without Sluice.
cat >makes.py <<'END'
import ctypes, os, stat, sys
os.umask(0o027)
libc = ctypes.CDLL(None, use_errno=True)
root = os.open("data", os.O_RDONLY)
def mode(path):
    return oct(stat.S_IMODE(os.stat(path).st_mode))
fd = os.open("data/plain.dat", os.O_CREAT | os.O_WRONLY, 0o666)
os.write(fd, b"abc")
print(mode("data/plain.dat"), os.stat("data/plain.dat").st_size)
fd = os.open("data/wide.dat", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o400)
print(mode("data/wide.dat"), os.write(fd, b"xy"))
try:
    os.open("data/wide.dat", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
except FileExistsError:
    print("exists")
os.open("at.dat", os.O_CREAT | os.O_WRONLY, 0o777, dir_fd=root)
print(mode("data/at.dat"))
stream = libc.fopen(b"data/stream.dat", b"w")
print(mode("data/stream.dat"), bool(stream))
print(bool(libc.fopen(b"data/exclusive.dat", b"wx")))
print(libc.creat(b"data/creat.dat", 0o600) > 2, mode("data/creat.dat"))
ctypes.set_errno(77)
print(libc.open(b"data/none/x.dat", os.O_CREAT | os.O_WRONLY, 0o600), ctypes.get_errno())
print(libc.open(None, os.O_CREAT | os.O_WRONLY, 0o600), ctypes.get_errno())
print(sorted(os.listdir("data")))
END

# makes [ARGUMENT...]: runs the program; its output is in out, the calls on files are in log
makes() {
	rm -rf data log
	mkdir data
	check_rc 0 "$@" $python makes.py
}

makes env
cp out expected

# On an ordinary file system nothing is done.
makes "$sluice" run -p params.json -o trace --
diff expected out || fail "the program behaves differently"
[ ! -e log ] || fail "done on an ordinary file system: $(cat log)"
check_words "$(cat err)" striping_factor striping_unit ceph_object_size "not applied" "file system does not support it"
check_eq "$("$sluice" print trace | grep -c _parameters || true)" 0 "records of layouts where there are none"

export LD_PRELOAD=$prog/lustreapi.so STANDIN_ROOT=$work/data STANDIN_LOG=$work/log

# Lustre: stripes are set when the file is created.
export STANDIN_MAGIC=0x0BD00BD0
makes "$sluice" run -p params.json -o trace --
diff expected out || fail "Lustre: the program behaves differently"
check_eq "$(cat log)" "create plain.dat 1048576 -1 4 0
create wide.dat 1048576 -1 8 0
create at.dat 1048576 -1 4 0
create stream.dat 1048576 -1 4 0
create creat.dat 1048576 -1 4 0" "requests to liblustreapi"
"$sluice" print trace | grep posix_parameters >told
check_eq "$(wc -l <told)" 5
check_has "$(sed -n 2p told)" ';striping_factor=8;striping_unit=1048576"' "effective stripes"
check_words "$(cat err)" ceph_stripe_unit "not applied" "file system does not support it"
[[ $(cat err) != *"striping_factor not"* ]] || fail "stripes that are in effect: $(cat err)"
makes "$sluice" run --mode off -p params.json --
diff expected out || fail "unrecorded: the program behaves differently"
check_eq "$(wc -l <log)" 5 "files made with recording off"

# The error output of a library that fails is suppressed.
STANDIN_FAILS=1 makes "$sluice" run -p params.json -o trace --
diff expected out || fail "failing: the program behaves differently"
check_eq "$(grep -c llapi err || true)" 0 "messages of the library"
check_words "$(cat err)" striping_factor "not applied" "library rejected it"

# A file that exists keeps its stripes.
cat >again.py <<'END'
import os
for flags in 0, os.O_TRUNC:
    os.close(os.open("data/old.dat", os.O_CREAT | os.O_WRONLY | flags, 0o600))
END
rm -rf data log
mkdir data
echo old >data/old.dat
check_rc 0 "$sluice" run -p params.json -o trace -- $python again.py
[ ! -e log ] || fail "an existing file: $(cat log)"
check_words "$(cat err)" striping_factor "not applied" existed

# CephFS: all sizes are set by one call. Its own names have priority over the general ones.
export STANDIN_MAGIC=0x00C36400
makes "$sluice" run -p params.json -o trace --
diff expected out || fail "CephFS: the program behaves differently"
check_eq "$(sort log | uniq -c | xargs)" "5 flush 5 set stripe_unit=1572864 stripe_count=2 object_size=3145728" "attributes"
check_has "$("$sluice" print trace | grep -m 1 posix_parameters)" \
	"ceph_object_size=3145728;ceph_stripe_count=2;ceph_stripe_unit=1572864;striping_factor=2;" "effective layout"
# Stripes as on Lustre need large objects; a mount by FUSE is recognized by its attributes.
cat >stripes.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "striping_factor", "value": 4}, {"name": "striping_unit", "value": 1048576}]}
END
for magic in 0x00C36400 0x65735546; do
	STANDIN_MAGIC=$magic STANDIN_FUSE=1 makes "$sluice" run -p stripes.json -o trace --
	diff expected out || fail "CephFS, $magic: the program behaves differently"
	check_eq "$(sort log | uniq -c | xargs)" "5 flush 5 set stripe_unit=1048576 stripe_count=4 object_size=134217728" "attributes"
	check_eq "$(cat err)" "" "stderr"
done
STANDIN_MAGIC=0x65735546 makes "$sluice" run -p stripes.json -o trace --
[ ! -e log ] || fail "another file system with FUSE: $(cat log)"
# Invalid values and files with data: refused, and the program is not disturbed.
sed 's/1048576/100000/' stripes.json >invalid.json
makes "$sluice" run -p invalid.json -o trace --
diff expected out || fail "invalid: the program behaves differently"
[ ! -e log ] || fail "invalid values: $(cat log)"
check_words "$(cat err)" striping_unit "not applied" "rejects the value"
rm -rf data
mkdir data
echo old >data/old.dat
check_rc 0 "$sluice" run -p stripes.json -o trace -- $python -c 'open("data/old.dat", "a").write("new")'
[ ! -e log ] || fail "a file with data: $(cat log)"
check_words "$(cat err)" striping_factor "not applied" "had data"

# BeeGFS: an ioctl creates the file with its stripes.
export STANDIN_MAGIC=0x19830326
makes "$sluice" run -p params.json -o trace --
diff expected out || fail "BeeGFS: the program behaves differently"
check_eq "$(sort log | xargs -n 4)" "beegfs at.dat 4 1048576
beegfs creat.dat 4 1048576
beegfs plain.dat 4 1048576
beegfs stream.dat 4 1048576
beegfs wide.dat 8 1048576" "requests to BeeGFS"
check_has "$("$sluice" print trace | grep -m 1 posix_parameters)" 'hint/set="striping_factor=4;striping_unit=1048576"' "effective stripes"
makes "$sluice" run -p invalid.json -o trace --
diff expected out || fail "BeeGFS, invalid: the program behaves differently"
check_words "$(cat err)" striping_unit "not applied" "rejects the value"
export STANDIN_MAGIC=0x00C36400

# New files are spread over pools; every third pool is slow.
cat >spread.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "spread_osts", "value": "3*2,7,9"}, {"name": "striping_factor", "value": 2, "file": "wide.dat"},
 {"name": "striping_unit", "value": 1048576}, {"name": "spread_pools", "value": "fast*2,slow"}]}
END
export SLUICE_PARAMS_ALLOW=semantics
makes "$sluice" run -p spread.json -o trace --
diff expected out || fail "pools: the program behaves differently"
check_eq "$(grep -c 'set pool fast' log) $(grep -c 'set pool slow' log)" "3 2" "pools in: $(cat log)"
check_has "$("$sluice" print trace | grep -m 1 posix_parameters)" ';spread_pools=fast;striping_factor=' "the pool of a file"
SLUICE_PARAMS_ALLOW=layout makes "$sluice" run -p spread.json -o trace --
check_eq "$(grep -c pool log || true)" 0 "pools that are not allowed: $(cat log)"

# New files are spread over Lustre targets: one stripe each. The wide file has two, one on the target with half of the weight.
export STANDIN_MAGIC=0x0BD00BD0
makes "$sluice" run -p spread.json -o trace --
diff expected out || fail "targets: the program behaves differently"
check_eq "$(cut -d ' ' -f 2- log)" "plain.dat 1048576 3
wide.dat 1048576 7 3
at.dat 1048576 9
stream.dat 1048576 3
creat.dat 1048576 3" "requests to liblustreapi"
"$sluice" print trace | grep posix_parameters >told
check_has "$(sed -n 2p told)" 'spread_osts=7,3;spread_pools=!filesystem;striping_factor=2;striping_unit=1048576"' "what was requested"
check_eq "$(grep -c 'hint/set="spread_osts=' told)" 5 "files whose targets are read back"
"$sluice" report trace | grep -A 9 '^Parameters' >report
check_has "$(grep spread_osts report)" "1/1" "targets in the report"

# shares FILE: the stripes of a file by target, "TARGET:STRIPES ..."; fails if neighbors are on the same target
shares() {
	awk -v file="$1" '$2 == file {
		for (i = 4; i <= NF; i++) {
			n[$i]++
			if ($i == (i < NF ? $(i + 1) : $4))
				exit 1
		}
		for (t = 0; t < 64; t++)
			if (t in n)
				printf "%s%d:%d", used++ ? " " : "", t, n[t]
	}' log || fail "neighbors are on one target: $(cat log)"
}

# A shared file with more stripes follows the weights: a target has several stripes, by overstriping.
cat >uneven.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "spread_osts", "value": "3*4,7*2,9,11"}, {"name": "striping_factor", "value": 16, "file": "wide.dat"}]}
END
makes "$sluice" run -p uneven.json -o trace --
diff expected out || fail "overstriping: the program behaves differently"
check_eq "$(shares wide.dat)" "3:8 7:4 9:2 11:2" "stripes by target"
check_eq "$(grep -vc wide.dat log) $(awk 'NF > 4' log | wc -l)" "4 1" "other files have one stripe: $(cat log)"
"$sluice" print trace | grep posix_parameters | sed -n 2p >told
check_eq "$(grep -o 'spread_osts=[^;"]*' told | tr '=,' '\n\n' | sort | paste -sd ' ')" \
	"11*2 11*2 3*8 3*8 7*4 7*4 9*2 9*2 spread_osts spread_osts" "requested and effective shares"
check_eq "$(cat err)" "" "stderr"

# Where there is no overstriping, targets get one stripe each, and the user is told.
for lacks in library servers; do
	STANDIN_OVERSTRIPING=$lacks makes "$sluice" run -p uneven.json -o trace --
	diff expected out || fail "no overstriping, $lacks: the program behaves differently"
	check_eq "$(shares wide.dat)" "3:1 7:1 9:1 11:1" "stripes by target, $lacks"
	check_words "$(cat err)" spread_osts striping_factor "not applied" "only one stripe of a file on each target"
	check_has "$("$sluice" print trace | grep posix_parameters | sed -n 2p)" 'spread_osts=!overstriping' "the refusal, $lacks"
done

# A file that exists keeps its stripes.
rm -rf data log
mkdir data
echo old >data/wide.dat
check_rc 0 "$sluice" run -p uneven.json -o trace -- $python -c 'open("data/wide.dat", "a").write("new")'
[ ! -e log ] || fail "an existing file: $(cat log)"

# Without a forecast, all targets of a site get the same number of stripes.
printf "[targets]\na = lustre:$work/data,ost=3\nb = lustre:$work/data,ost=7\nc = lustre:$work/data,ost=9\n" >three.ini
cat >six.json <<'END'
{"schema": "sluice.params/1", "parameters": [{"name": "striping_factor", "value": 6, "file": "wide.dat"}]}
END
mkdir spool spool3
for rule in equal adaptive; do
	SLUICE_PROBE_SITE=$work/three.ini SLUICE_SPOOL_DIR=$work/spool3 SLUICE_FORECAST_MODEL=$work/model \
		makes "$sluice" run --place $rule -p six.json -o trace --
	diff expected out || fail "--place $rule: the program behaves differently"
	check_eq "$(shares wide.dat)" "3:2 7:2 9:2" "stripes by target, --place $rule"
done

# `sluice run --place adaptive` chooses the target of each file when it is created. A file that Lustre has put elsewhere does
# not count.
printf '[targets]\na = lustre:%s,ost=3\nb = lustre:%s,ost=7\n' "$work/data" "$work/data" >site.ini
export SLUICE_PROBE_SITE=$work/site.ini SLUICE_SPOOL_DIR=$work/spool SLUICE_FORECAST_MODEL=$work/model
makes "$sluice" run --place adaptive -o trace --
diff expected out || fail "adaptive: the program behaves differently"
check_eq "$(cut -d ' ' -f 4 log | sort | uniq -c | awk '{ n += $1; print $2 } END { print n }' | paste -sd ' ')" "3 7 5" "targets and files: $(cat log)"
check_words "$(cat err)" "placed 5 new files in" "in 3" "in 7"
STANDIN_OST=9 makes "$sluice" run --place adaptive -o trace --
diff expected out || fail "adaptive, elsewhere: the program behaves differently"
! grep -q "placed" err || fail "files that are elsewhere count: $(cat err)"
unset SLUICE_PROBE_SITE SLUICE_SPOOL_DIR SLUICE_FORECAST_MODEL

# Missing targets, or a library that cannot choose targets: the file is opened as without Sluice.
sed 's/"3\*2,7,9"/"99"/' spread.json >none.json
makes "$sluice" run -p none.json -o trace --
diff expected out || fail "no such target: the program behaves differently"
check_words "$(cat err)" spread_osts "not applied"
check_has "$("$sluice" print trace | grep -m 1 posix_parameters)" 'spread_osts=!failed' "the refusal"
ln -sf "$prog/lustreold.so" lib/liblustreapi.so.1
makes "$sluice" run -p spread.json -o trace --
diff expected out || fail "old library: the program behaves differently"
check_eq "$(head -n 2 log)" "old plain.dat 1048576 3 1 0
old at.dat 1048576 9 1 0" "an old library: one stripe, and none of the file that wants two"
