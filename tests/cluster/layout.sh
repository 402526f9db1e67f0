#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Layouts on a real CephFS: unmodified programs create files with the stripes that `sluice run` is given, as an extended
# attribute shows, and the report says so. Files with data, invalid values, a read-only directory and a layout that the
# program sets itself are left alone, and the program gets the same results as without Sluice.
# Papers: H5T-11, H5T-12.
. "$(dirname "$0")/libcluster.sh"
. "$SOURCE/tests/mpi/libmpi.sh"
use_bed cephfs
export SLUICE_STORE_PATH=$work/store.db
data=$SLUICE_TESTBED/cephfs/layout
at_exit 'on head rm -rf "$data"'
on head mkdir "$data"
gib=1073741824

# set_stripes COUNT [UNIT]: the parameters of the following runs
set_stripes() {
	params="striping_factor=$1 striping_unit=${2:-1048576}"
}

# tuned COMMAND...: runs it on head with the parameters; its output is in out, the messages are in err
tuned() {
	check_rc 0 on head "$sluice" run -p "$params" -o "$work/trace" -- "$@"
}

# check_layout FILE UNIT COUNT OBJECT
check_layout() {
	check_eq "$(layout_of "$data/$1")" "stripe_unit=$2 stripe_count=$3 object_size=$4" "layout of $1"
}

# check_applied PARAMETER VALUE: the report says that the file system uses it
check_applied() {
	"$sluice" report trace | grep -A 9 '^Parameters' >shown
	check_has "$(grep "^ *$1 " shown)" "$2 " "$1 in the report: $(cat shown)"
	check_has "$(grep "^ *$1 " shown)" "the file system" "who applied $1: $(cat shown)"
	check_eq "$(grep -c 'not applied' shown || true)" 0 "$(cat shown)"
}

# A plain run changes nothing, and new files get what their directory has.
check_rc 0 on head "$sluice" run -o "$work/trace" -- dd if=/dev/zero of="$data/plain" bs=64K count=1
check_layout plain 1048576 1 $gib

# A trace names the stripes, and a file that several processes write to one target is found. Both commands that the
# finding offers help.
cat >shares.py <<'END'
import os, sys
path, pieces, region = sys.argv[1], *map(int, sys.argv[2:])
fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DSYNC)
rank = 0 if os.fork() else 1
for i in range(pieces):
    os.pwrite(fd, bytes(1 << 20), (rank * region + i) << 20)
if not rank:
    os.wait()
END
# shares FILE OPTION...: two processes write $pieces MiB of their $region MiB of a file each; the findings on its stripes
# are in found, its layout is in layouts
shares() {
	check_rc 0 on head env SLUICE_FINDINGS_STRIPE_BYTES=1M "$sluice" run "${@:2}" -o "$work/trace" -- \
		python3 "$work/shares.py" "$data/$1" "$pieces" "$region"
	SLUICE_FINDINGS_STRIPE_BYTES=1M "$sluice" report --json trace >report.json
	python3 - report.json <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
json.dump([f for f in report["findings"] if f["code"].startswith("stripe-")], open("found", "w"))
print(*sorted((l["filesystem"], l["stripes"], l["unit"]) for l in report["layouts"]), file=open("layouts", "w"))
END
}
# check_two WHEN: the file has two stripes, and that is enough. Whether both writers meet on one of them is a matter of time.
check_two() {
	check_eq "$(cat layouts) $(grep -c '"stripe-count"' found)" "('ceph', 2, 1048576) 0" "$1: $(cat found)"
}
pieces=8 region=8
shares one
check_eq "$(cat layouts)" "('ceph', 1, 1048576)" "stripes in the report"
check_words "$(cat found)" stripe-count "2 processes" "--params striping_factor=2" "setfattr -n ceph.dir.layout.stripe_count -v 2 $data"
shares two -p striping_factor=2
check_two "after the command of Sluice"
# make_directory NAME COUNT UNIT: new files in it have these stripes
make_directory() {
	on head python3 -c 'import os, sys
path, count, unit = sys.argv[1:]
os.mkdir(path)
os.setxattr(path, "ceph.dir.layout.stripe_count", count.encode())
os.setxattr(path, "ceph.dir.layout.stripe_unit", unit.encode())' "$data/$1" "$2" "$3"
}
make_directory wide 2 1048576
shares wide/file
check_two "after the attribute was set"

# Both processes write to the first of two stripes all the time. Both commands that the finding offers let them use both.
pieces=16 region=32
make_directory convoy 2 16777216
shares convoy/file
check_words "$(cat found)" stripe-convoy "2.0 of them shared a stripe" "--params striping_unit=524288" \
	"setfattr -n ceph.dir.layout.stripe_unit -v 524288 $data/convoy"
shares convoy/spread -p striping_unit=524288
check_eq "$(cat layouts) $(cat found)" "('ceph', 2, 524288) []" "after the command of Sluice"
make_directory spread 2 524288
shares spread/file
check_eq "$(cat layouts) $(cat found)" "('ceph', 2, 524288) []" "after the attribute was set"

# The objects of the directory are as large as those of Lustre.
set_stripes 4
tuned dd if=/dev/zero of="$data/four" bs=1M count=6
check_layout four 1048576 4 $gib
check_applied striping_factor 4
check_applied striping_unit 1048576
check_eq "$(grep -c 'not applied' err || true)" 0 "warnings: $(cat err)"
check_eq "$(on head cmp -n 6291456 /dev/zero "$data/four" && echo same)" same "data"

# In a directory with small objects, they become as large as every Ceph permits.
on head python3 -c 'import os, sys; os.mkdir(sys.argv[1]); os.setxattr(sys.argv[1], "ceph.dir.layout",
	b"stripe_unit=4194304 stripe_count=2 object_size=4194304")' "$data/small"
tuned sh -c 'echo x >"$0"' "$data/small/file"
check_layout small/file 1048576 4 134217728
check_rc 0 on head "$sluice" run -o "$work/trace" -- touch "$data/small/inherited"
check_layout small/inherited 4194304 2 4194304

# A file with data keeps its layout, even if it is truncated first; so does an empty file that has one of its own.
set_stripes 2
tuned sh -c 'echo y >>"$0"' "$data/four"
check_layout four 1048576 4 $gib
check_words "$(cat err)" striping_factor "not applied" "had data"
tuned sh -c 'echo y >"$0"' "$data/plain"
check_layout plain 1048576 1 $gib
check_words "$(cat err)" striping_factor "not applied" "had data"
on head python3 -c 'import os, sys; open(sys.argv[1], "x").close()
os.setxattr(sys.argv[1], "ceph.file.layout.stripe_count", b"3")' "$data/own"
tuned sh -c 'echo y >"$0"' "$data/own"
check_layout own 1048576 3 $gib
check_words "$(cat err)" striping_factor "not applied" "keeps its layout"

# The attributes that the program sets have the same result as without Sluice.
cat >sets.py <<'END'
import os, sys
path, how = sys.argv[1:]
fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.setxattr(fd if how == "fd" else path, "ceph.file.layout.object_size", b"4194304")
os.write(fd, b"z")
END
set_stripes 4 8388608
for how in fd path; do
	tuned python3 "$work/sets.py" "$data/set-$how" $how
	check_layout set-$how 1048576 1 4194304
	check_words "$(cat err)" striping_factor "not applied" "program sets it"
done

# An invalid unit: refused, and the file is as without Sluice.
set_stripes 4 100000
tuned sh -c 'echo y >"$0"' "$data/invalid"
check_layout invalid 1048576 1 $gib
check_words "$(cat err)" striping_unit "not applied" "rejects the value"

# A read-only directory: the program gets its error, and nothing is created.
set_stripes 4
cat >reads.sh <<'END'
mkdir -p "$1-ro" && mount --bind "$1" "$1-ro" && mount -o remount,ro,bind "$1-ro" || exit 77
shift
"$@"
END
makes='import errno, os, sys
try:
    os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
except OSError as e:
    print(errno.errorcode[e.errno])'
rc=0
on head unshare --mount sh "$work/reads.sh" "$data" "$sluice" run -p "$params" -o "$work/trace" -- \
	python3 -c "$makes" "$data-ro/file" >out 2>err || rc=$?
if [ $rc = 77 ]; then
	skip_case mounts "a read-only directory"
else
	check_eq "$rc $(cat out)" "0 EROFS" "a read-only directory: $(cat err)"
fi
check_eq "$(on head ls "$data" | grep -c '^file$' || true)" 0 "files in the read-only directory"

# Files of MPI-IO: the file system applies what the MPI library does not. The program's own hints have priority if the
# setting says so.
# ranks MPI AUTHORITY HINT...: two ranks write files in a new directory; its name is in folder
ranks() {
	folder=$1-$2-$#
	on head mkdir "$data/$folder"
	check_rc 0 on head env SLUICE_PARAMS_AUTHORITY="$2" sh -c 'cd "$1" && shift && exec "$@"' sh "$data/$folder" "$sluice" run \
		-p "$params" -o "$work/trace" -- "mpiexec.$1" -n 2 "$BUILD/mpi/$1/hinted" 0 "${@:3}"
}
set_stripes 4
for mpi in $(mpi_list); do
	ranks "$mpi" parameters
	for file in world.dat half1.dat self.dat.1; do
		check_layout "$folder/$file" 1048576 4 $gib
	done
	check_applied striping_factor 4
	check_eq "$(grep -c 'not applied' err || true)" 0 "$mpi: warnings: $(cat err)"
	ranks "$mpi" application striping_factor=2
	check_layout "$folder/world.dat" 1048576 1 $gib
	check_words "$(cat err)" striping_factor "not applied" "program sets it"
done
