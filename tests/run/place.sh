#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# New files of unmodified programs are spread over several directories (spread_directories) in proportion to the
# weights, and the program sees the same as without Sluice. If a destination fails, the file is created where the
# program wanted it. Files that the program removes or replaces are removed at their destination. Ranks of every MPI
# race for files, share them and have their own.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_PARAMS_ALLOW=semantics
case=place

# list FILE DESTINATION...: writes parameters that spread $files
files='*.dat'
list() {
	local to=$1
	shift
	printf '{"schema": "sluice.params/1", "parameters": [\n {"name": "spread_directories", "value": "%s", "file": "%s"}]}\n' \
		"$(IFS=,; echo "$*")" "$files" >"$to"
}

# fresh: empties the destinations and the data directory
fresh() {
	rm -rf d0 d1 d2 d3 data
	mkdir d0 d1 d2 d3 data
}

# held: prints the number of files in each destination
held() {
	for i in 0 1 2 3; do find "d$i" -type f | wc -l; done | paste -sd ' '
}

list params.json "$work/d0*4" "$work/d1*3" "$work/d2*2" "$work/d3"

# 40 files of many processes are spread in proportion to the weights.
fresh
check_rc 0 "$sluice" run -p params.json -o trace -- bash -c 'for i in {1..10}; do echo $i >data/$i.dat; done'
check_eq "$(held)" "4 3 2 1" "ten files"
check_eq "$(cat data/7.dat)" 7
[ -L data/1.dat ] || fail "no link where the file was made"
fresh
check_rc 0 "$sluice" run -p params.json -o trace -- bash -c 'for i in {1..8}; do
	(for k in {1..5}; do echo $i.$k >data/$i.$k.dat; done) & done; wait; echo plain >data/plain.txt'
check_eq "$(held)" "16 12 8 4" "forty files of eight processes at once"
check_eq "$(cat data/3.4.dat) $(find data -type l | wc -l) $(find data -type f | wc -l)" "3.4 40 1" "links and plain files"
"$sluice" report trace >report
check_has "$(grep -m 1 '16 files' report)" "$work/d0  16/16" "Parameters in the report"

# The program creates files in every possible way; results must be the same as without Sluice, except for link targets.
cat >makes.py <<'END'
import ctypes, os, resource, stat
os.umask(0o027)
libc = ctypes.CDLL(None, use_errno=True)
libc.fopen.restype = ctypes.c_void_p
root = os.open("data", os.O_RDONLY)
def mode(path):
    return oct(stat.S_IMODE(os.stat(path).st_mode))
fd = os.open("data/plain.dat", os.O_CREAT | os.O_WRONLY, 0o666)
os.write(fd, b"abc")
print(fd, mode("data/plain.dat"), os.stat("data/plain.dat").st_size)
fd = os.open("data/bare.dat", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o400)
print(mode("data/bare.dat"), os.write(fd, b"xy"), os.fstat(fd).st_nlink)
try:
    os.open("data/bare.dat", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
except FileExistsError:
    print("exists")
os.open("at.dat", os.O_CREAT | os.O_WRONLY, 0o777, dir_fd=root)
print(mode("data/at.dat"))
print(bool(libc.fopen(b"data/stream.dat", b"w")), mode("data/stream.dat"))
print(bool(libc.fopen(b"data/exclusive.dat", b"wx")))
print(libc.creat(b"data/creat.dat", 0o600) > 2, mode("data/creat.dat"))
for path in b"data/none/x.dat", b"data/slash.dat/", None:
    ctypes.set_errno(77)
    print(libc.open(path, os.O_CREAT | os.O_WRONLY, 0o600), ctypes.get_errno())
print(libc.open(b"data/nofollow.dat", os.O_CREAT | os.O_NOFOLLOW | os.O_WRONLY, 0o600) > 2, os.path.islink("data/nofollow.dat"))
with open("data/here.dat", "a") as f:
    f.write("more")
print(open("data/here.dat").read(), os.path.islink("data/here.dat"))
os.mkdir("data/sub")
with open("data/sub/long" + "n" * 240 + ".dat", "w") as f:
    f.write("long")
# A new version is written next to the old one and replaces it; then it is removed.
for text in "one", "two", "three":
    with open("data/new.dat", "w") as f:
        f.write(text)
    os.rename("data/new.dat", "data/version.dat")
print(open("data/version.dat").read())
os.link("data/version.dat", "data/second.dat", follow_symlinks=False)
os.unlink("data/version.dat")
print(open("data/second.dat").read())
os.remove("data/second.dat")
fd = os.open("data/open.dat", os.O_CREAT | os.O_RDWR, 0o600)
os.unlink("data/open.dat")
print(os.write(fd, b"gone"), os.pread(fd, 9, 0))
try:
    os.unlink("data/open.dat")
except FileNotFoundError:
    print("not there")
# The same name is created repeatedly; the file that existed before is not changed.
for text in b"first", b"second":
    stream = libc.fopen(b"data/again.dat", b"w")
    libc.fputs(text, ctypes.c_void_p(stream))
    libc.fclose(ctypes.c_void_p(stream))
print(open("data/again.dat").read(), libc.creat(b"data/again.dat", 0o600) > 2, os.stat("data/again.dat").st_size)
# Without a free descriptor, no file is created.
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(0), limits[1]))
print(libc.open(b"data/many.dat", os.O_CREAT | os.O_WRONLY, 0o600), ctypes.get_errno(), libc.fopen(b"data/many.dat", b"w"))
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
# Links of other programs are not touched.
os.symlink("nowhere.sluice.0123456789abcdef", "data/other.dat")
print(os.readlink("data/other.dat"))
os.unlink("data/other.dat")
os.symlink("made.txt", "data/through.dat")
open("data/through.dat", "w").close()
print(os.path.exists("data/made.txt"))
os.unlink("data/through.dat")
# Temporary files have no name and are not placed.
fd = os.open("data", os.O_TMPFILE | os.O_RDWR, 0o600)
print(os.write(fd, b"none"), os.fstat(fd).st_nlink)
print(sorted(os.listdir("data")))
END

# makes [COMMAND...]: runs the program; its output is in out
makes() {
	fresh
	echo -n old >data/here.dat
	check_rc 0 "$@" python3 makes.py
}
makes env
cp out expected
makes "$sluice" run -p params.json -o trace --
diff expected out || fail "the program behaves differently"
check_eq "$(($(held | tr ' ' +)))" "$(find data -type l | wc -l)" "files behind links"
check_eq "$(find d? -name 'version*' -o -name 'second*' -o -name 'new*' -o -name 'open*')" "" "files that were removed"
check_eq "$(cat data/sub/long*)" long
makes "$sluice" run --mode off -p params.json --
diff expected out || fail "unrecorded: the program behaves differently"
check_eq "$(find data -type l | wc -l)" 7 "links with recording off"
makes env SLUICE_DISABLE=1 "$sluice" run -p params.json --
diff expected out || fail "disabled: the program behaves differently"
check_eq "$(held)" "0 0 0 0" "files that were placed with SLUICE_DISABLE"
SLUICE_PARAMS_ALLOW=layout makes "$sluice" run -p params.json --
check_has "$(cat err)" "spread_directories" "warning if it is not allowed"
check_eq "$(held)" "0 0 0 0" "files that were placed though it is not allowed"

# Destinations that fail (missing, a file, full, not permitted): the file is created where the program wanted it.
mkdir shut && touch taken
list bad.json "$work/missing" "$work/taken"
fresh
check_rc 0 "$sluice" run -p bad.json -o trace -- bash -c 'for i in 1 2 3 4; do echo $i >data/$i.dat; done; cat data/*.dat'
check_eq "$(paste -sd ' ' out) $(find data -type l | wc -l)" "1 2 3 4 0" "plain files"
check_has "$("$sluice" report trace)" "refused: failed" "the report"
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$work" && chmod 777 data && chmod 700 shut && mkdir -m 777 theirs
	# another PARAMETERS SCRIPT: runs the script as a user with fewer permissions
	another() {
		rm -f theirs/*
		SLUICE_STORE_PATH=$work/theirs/store.db SLUICE_SPOOL_DIR=$work/theirs setpriv --reuid 65534 --regid 65534 \
			--clear-groups "$sluice" run -p "$1" -o theirs/trace -- bash -c "$2"
	}
	list shut.json "$work/shut"
	check_rc 0 another shut.json 'echo mine >data/mine.dat; cat data/mine.dat'
	check_eq "$(cat out) $(find data -type l | wc -l)" "mine 0" "a destination that is not ours"
	check_has "$("$sluice" report theirs/trace)" "refused: failed" "the report"
	rm -f data/mine.dat
	# A program can write to a file that it has just created without write permission.
	chmod 777 d?
	check_rc 0 another params.json 'umask 0377; echo mine >data/mine.dat; cat data/mine.dat'
	check_eq "$(cat out) $(stat -Lc %a data/mine.dat) $(find data -type l | wc -l)" "mine 400 1" "a file of mode 400"
	rm -f data/mine.dat d?/mine*
	# In a directory without write permission there is no file and no link, and the error is the same.
	chmod 755 data
	check_rc 1 another params.json 'echo mine >data/mine.dat'
	check_has "$(cat err)" "Permission denied"
	check_eq "$(held)" "0 0 0 0" "files of a name that cannot be made"
else
	skip_case root "destinations of another user"
fi

# Links that are copied: a file is kept until its last name is removed.
fresh
other=$(mktemp -d /dev/shm/sluice-test.XXXXXX)
check_rc 0 "$sluice" run -p params.json -o trace -- bash -c 'echo a >data/a.dat; cp -a data/a.dat data/copy.dat; rm data/a.dat
	echo b >data/b.dat; mv data/b.dat "$0"; mv data/copy.dat data/c.txt; cat data/c.txt "$0/b.dat"; ln -s /nowhere/x data/x
	readlink data/x' "$other"
check_eq "$(paste -sd ' ' out) $(($(held | tr ' ' +)))" "a b /nowhere/x 2" "copies of links whose originals were removed"
check_rc 0 "$sluice" run -p params.json -o trace -- rm -r data "$other"
check_eq "$(held)" "0 0 0 0" "files whose copied links were removed"

# In a directory that everybody may write to, files are not placed, because other users could not follow the links.
fresh
chmod 1777 data
check_rc 0 "$sluice" run -p params.json -o trace -- bash -c 'echo a >data/a.dat; cat data/a.dat'
check_eq "$(cat out) $(find data -type l | wc -l) $(held)" "a 0 0 0 0 0" "a file in a directory of all"

# A full destination: the file is created where the program wanted it; a failed write is reported to the program.
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=16k,nr_inodes=2 tmpfs full 2>/dev/null; then
	at_exit 'umount "$work/full"'
	list full.json "$work/full"
	fresh
	check_rc 1 "$sluice" run -p full.json -o trace -- bash -c 'echo a >data/a.dat; echo b >data/b.dat; cat data/?.dat
		head -c 65536 /dev/zero >data/a.dat'
	check_eq "$(paste -sd ' ' out) $(find data -type l)" "a b data/a.dat" "files of a full destination"
	check_has "$(cat err)" "No space left"
	check_has "$("$sluice" report trace)" "refused: failed" "the report"
else
	skip_case mounts "a full destination"
fi

# Files that are created in a destination stay there.
fresh
check_rc 0 "$sluice" run -p params.json -o trace -- bash -c "echo x >d0/x.dat; echo y >d1/../d2/y.dat"
check_eq "$(find d? -type l | wc -l) $(held)" "0 1 0 1 0" "files made in destinations"

# If the program is killed, all existing links lead to files.
fresh
check_rc 137 "$sluice" run -p params.json -o trace -- bash -c 'for ((i = 0; ; i++)); do echo $i >data/$i.dat
	[ $i = 60 ] && (sleep 0.02; kill -9 $$) & done'
for name in data/*.dat; do
	[ -e "$name" ] || fail "$name leads nowhere"
done

# Ranks of every MPI.
for mpi in $(mpi_list); do
	order=outside
	[ "$mpi" = mpich ] || order=inside
	fresh
	export SLUICE_PARAMS_FILE=$work/params.json
	mpi_order "$order" "$mpi" 3 places keep
	(cd data && check_rc 0 timeout -k 5 "$limit" "${command[@]}")
	check_eq "$(cat err)" "" "$mpi $order: what is said on stderr"
	unset SLUICE_PARAMS_FILE
	check_eq "$(cd data && find . -type l | sort | paste -sd ' ')" \
		"./own.0.dat ./own.1.dat ./own.2.dat ./shared.dat" "$mpi $order: links"
	check_eq "$(($(held | tr ' ' +)))" 4 "$mpi $order: files behind links"
	check_eq "$(stat -Lc %s data/shared.dat)" 12288 "$mpi $order: size of the shared file"
done

# Files of HDF5 and NetCDF have the same content.
files='*.h5'
list h5.json "$work/d1" "$work/d2"
files='*.nc'
list nc.json "$work/d1" "$work/d2"
for mpi in $(mpi_list); do
	mpi_has "$mpi" small_io || continue
	fresh
	[ -e plain.h5 ] || check_rc 0 mpi_run "$mpi" 2 small_io --count 3 --file plain.h5
	check_rc 0 "$sluice" run -p h5.json -o trace -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/small_io" --count 3 --verify --file data/put.h5
	check_eq "$(find data -type l) $(held)" "data/put.h5 0 1 0 0" "$mpi: HDF5 of ranks"
	h5diff plain.h5 data/put.h5 || fail "$mpi: HDF5 of ranks holds something else"
done
for program in serial/netcdf openmpi/netcdf; do
	[ -x "$BUILD/mpi/$program" ] || continue
	fresh
	command=("$BUILD/mpi/$program")
	[ "${program%/*}" = serial ] || command=("mpiexec.${program%/*}" -n 2 "${command[@]}")
	# The programs compare what they read with what they wrote, and remove their file.
	(cd data && check_rc 0 timeout -k 5 "$limit" "$sluice" run -p "$work/nc.json" -o "$work/trace" -- "${command[@]}")
	check_has "$("$sluice" report trace | grep '^  spread_directories ')" " $work/d1  $work/d1 " "$program: Parameters in the report"
	check_eq "$(find data -mindepth 1 | wc -l) $(held)" "0 0 0 0 0" "$program: files left behind"
done
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
	cat >h5.py <<-'END'
		import sys, h5py
		with h5py.File(sys.argv[1], "w") as f:
		    f["a"] = range(1000)
		with h5py.File(sys.argv[1], "a") as f:
		    f["b"] = [0.5] * 100
	END
	fresh
	check_rc 0 /usr/bin/python3 h5.py data/plain.h5
	check_rc 0 "$sluice" run -p h5.json -o trace -- /usr/bin/python3 h5.py data/put.h5
	check_eq "$(find data -type l) $(held)" "data/put.h5 0 1 0 0" "h5py"
	h5diff data/plain.h5 data/put.h5 || fail "h5py: the file holds something else"
else
	skip_case python3-h5py
fi
