#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A plain `sluice run` changes nothing: each program runs bare and under `sluice run`, with a store that recommends hints
# for it. The hints in effect (MPI_File_get_info) and the system calls on its files are the same. With the plug-ins
# history and read_ahead enabled they are not, which shows that the comparison works.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
command -v strace >/dev/null || skip strace
strace -o /dev/null true 2>/dev/null || skip ptrace
export SLUICE_STORE_PATH=$work/store.db EFFECTIVE=$work/effective
calls=open,openat,creat,close,read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,lseek
calls+=,fadvise64,readahead,sync_file_range,fsync,fdatasync,truncate,ftruncate,fallocate,fcntl,flock,ioctl,mmap
calls+=,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,copy_file_range,sendfile,splice,fsetxattr,setxattr

# Fills the store with runs in which these hints were ten times as fast as the defaults, for every kind of file.
"$sluice" run -q -o trace -- true
python3 - "$SLUICE_STORE_PATH" "$BUILD"/mpi/*/* <<'PYTHON'
import getpass, itertools, os, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
programs = {os.path.basename(path) for path in sys.argv[2:]}
hints = (("", 10), ("cb_buffer_size=8388608;romio_ds_write=disable", 1))
for program, extension, operation, (set_, seconds), run in itertools.product(
        programs, ("", "dat", "h5", "nc", "x1"), ("read", "write", "read_all", "write_all"), hints, range(5)):
    row = dict(operation=operation, user=getpass.getuser(), program=program, extension=extension, size=10,
               hints=set_, run="run %d" % run, count=10, bytes=1e9, seconds=seconds, rate=1e9 / seconds, spread=0)
    db.execute("INSERT INTO outcome (%s) VALUES (%s)" % (",".join(row), ",".join("?" * len(row))),
               list(row.values()))
db.commit()
PYTHON

# calls_read: prints the system calls on files of the run, without descriptors and addresses, sorted
cat >calls_read.py <<'PYTHON'
import glob, re, sys
here = sys.argv[1]
for path in glob.glob("strace.*"):
    for line in open(path, errors="replace"):
        line = re.sub(r"AT_FDCWD<[^>]*>", "AT_FDCWD", line.rstrip())
        # Of this directory, by descriptor or path; advice on any file.
        if here in line or re.match(r'fadvise64|readahead|\w+\((AT_FDCWD, )?"[^"/]', line):
            line = re.sub(r"\b\d+<", "<", line.replace(">(deleted)", ">"))
            print(re.sub(r"0x[0-9a-f]+", "?", line))
PYTHON

# traced COMMAND...: runs the command; its hints and calls are in $work/hints and $work/calls
traced() {
	rm -rf "$EFFECTIVE" strace.* here
	mkdir "$EFFECTIVE" here
	rc=0
	(cd here && exec timeout -k 5 "$limit" strace -ff -y -s 0 -e trace=$calls -e signal=none -o ../strace "$@") \
		</dev/null >run.out 2>run.err || rc=$?
	[ $rc = 0 ] || wrong "exit code is $rc: $(tail -5 run.err)"
	"$python" calls_read.py "$work/here" | grep -Ev "${ignored:-^$}" | sort >calls
	(cd "$EFFECTIVE" && grep . -r . | sort) >hints || true
}

# same PROGRAM ARGUMENT...: runs it in both ways
same() {
	traced "$@"
	[ -s calls ] || wrong "no call was traced"
	mv calls bare.calls
	mv hints bare.hints
	traced "$sluice" run -o "$work/trace" -- "$@"
	diff bare.hints hints >diff || wrong "hints differ: $(head -20 diff)"
	diff bare.calls calls >diff || wrong "system calls differ: $(head -20 diff)"
	! grep '^sluice' run.err >diff || wrong "a plain run says: $(cat diff)"
}

# serial PROGRAM ARGUMENT...
serial() {
	case_begin "$*"
	same "$@"
}

# ranks N MPI PROGRAM ARGUMENT...: sets the array `command` to N ranks, which preload effective.so
ranks() {
	local n=$1 mpi=$2 program=$3
	shift 3
	command=("mpiexec.$mpi" -n "$n" sh -c 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"'
		"$BUILD/mpi/$mpi/effective.so" "$BUILD/mpi/$mpi/$program" "$@")
}

# parallel N MPI PROGRAM ARGUMENT...: With several ranks, what data sieving reads depends on what the others have written
# so far, and Open MPI creates and removes files to test locks; these calls are not compared.
parallel() {
	local command ignored=
	mpi_has "$2" "$3" || return 0
	case_begin "$*"
	ranks "$@"
	[ "$1" = 1 ] || ignored='^(read|pread64)\(|locktest'
	same "${command[@]}"
	[ -s hints ] || wrong "no hints were read"
}

dd if=/dev/urandom of=data bs=1k count=2000 status=none
serial sh -c "cp '$work/data' data && exec '$prog/strides' forward data 20480 60"
serial sh -c "cp '$work/data' data && exec '$prog/strides' seeking data 20480 60"
for program in hdf5 netcdf; do
	! mpi_has serial $program || serial "$BUILD/mpi/serial/$program"
done
mpis=$(mpi_list)
for mpi in $mpis; do
	parallel 2 "$mpi" hinted 1
	parallel 2 "$mpi" collective_io --size 64K --strided 512 --verify
	parallel 2 "$mpi" vpic_io --particles 512 --verify
	parallel 1 "$mpi" blocking
	parallel 1 "$mpi" levels --block 4K --count 8
	parallel 1 "$mpi" hdf5
	parallel 1 "$mpi" netcdf
	parallel 1 "$mpi" pnetcdf
	parallel 1 "$mpi" small_io --count 10 --verify
done

# acts PLUGIN WORDS COMMAND...: with the plug-in enabled, `sluice run`, its summary, `report` and `ls` say what it did
acts() {
	local plugin=$1 words=$2
	shift 2
	SLUICE_PLUGINS_ACT=$plugin traced "$sluice" run -- "$@"
	check_words "$(cat run.err)" "$plugin" "$words"
	check_words "$("$sluice" ls --limit 1)" "$plugin" "$words"
	check_words "$("$sluice" report)" "$plugin" "$words"
	"$sluice" ls --json >ls.json
	check_eq "$(json_get ls.json '["runs"][0]["applied"][0]["source"]')" "$plugin" "action in ls --json"
	check_eq "$(json_get ls.json '["runs"][0]["applied"][0]["name"]')" "$words" "action in ls --json"
}
case_begin "read_ahead"
acts read_ahead "advice given" sh -c "cp '$work/data' data && exec '$prog/strides' forward data 20480 60"
grep -q WILLNEED calls || wrong "no advice was traced"
SLUICE_PLUGINS_ACT=read_ahead "$sluice" run --summary -- "$prog/strides" forward data 20480 60 >out 2>err
check_words "$(sed -n 2p err)" read_ahead "advice given"
SLUICE_PLUGINS_ACT=read_ahead "$sluice" run -q -- "$prog/strides" forward data 20480 60 >out 2>err
check_eq "$(cat err)" "" "messages of a quiet run"
for mpi in $mpis; do
	case_begin "$mpi: history"
	ranks 2 "$mpi" hinted 1
	acts history "hints given" "${command[@]}"
	# Open MPI 5 reports only hints that it uses.
	hint=romio_ds_write=disable
	[ "$mpi" = mpich ] || ! mpi_since openmpi 5 || hint=cb_buffer_size=8388608
	grep -q $hint hints || wrong "the hints of history are not in effect: $(cat hints)"
done

# What is enabled is said before it acts.
check_rc 0 "$sluice" doctor
check_words "$(grep acting out)" good plugins.act history read_ahead
SLUICE_PLUGINS_ACT=history check_rc 0 "$sluice" doctor
check_words "$(grep acting out)" note history SLUICE_PLUGINS_ACT
check_eq "$("$sluice" config show plugins.act)" "plugins.act = " "default"
