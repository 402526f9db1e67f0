#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parameters are injected into programs without MPI (serial HDF5, Python), into NetCDF and PnetCDF, and into file
# names with a prefix. A broken parameter file does not affect the program.
# Papers: H5T-1, H5T-9, H5T-AC-1.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db
case=inject python=/usr/bin/python3
[ -x $python ] || python=python3

cat >params.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "cb_buffer_size", "value": 1048576}, {"name": "romio_ds_write", "value": "disable"},
 {"name": "alignment", "value": "0, 65536"}, {"name": "sieve_buf_size", "value": 131072},
 {"name": "transfer", "value": "independent"}, {"name": "chunk_size", "value": 2048},
 {"name": "chunk_size", "value": "1,128", "object": "old"}]}
END
cp params.json semantics.json
sed -i 's/"parameters": \[/&{"name": "coll_metadata_ops", "value": "on"}, {"name": "fill_time", "value": "never"},/' semantics.json

# Serial HDF5, with property lists of the program and with the default list.
if mpi_has serial inject; then
	check_rc 0 "$BUILD/mpi/serial/inject" a.h5
	cp out bare
	mv a.h5 bare.h5
	check_rc 0 "$sluice" run -p params.json -o trace "$BUILD/mpi/serial/inject" a.h5
	check_eq "$(grep -v ' not applied' err)" "" "stderr"
	check_eq "$(cat out)" "a.h5 access alignment=0,65536 sieve=131072 meta=2048 small=2048 cache=2097152 libver=0
a.h5 grid chunk=1,512 fill=2
a.h5 old chunk=1,128 fill=2
a.h5 packed chunk=1,1024 fill=2"
	h5diff bare.h5 a.h5 >difference || fail "the data differs: $(cat difference)"
	check_rc 0 "$sluice" -c params.allow=semantics run -p semantics.json -o trace "$BUILD/mpi/serial/inject" own a.h5
	check_has "$(cat out)" "a.h5 access alignment=0,65536"
	check_has "$(cat out)" "a.h5 grid chunk=1,512 fill=1"
	check_trace <<'END'
files = [c for c in calls if c.function == "H5F_parameters"]
same({c.name for c in files},
     {"alignment=0,65536;coll_metadata_ops=!serial;sieve_buf_size=131072;transfer=independent"}, "requested of files")
must(all("alignment=0,65536" in c.hints.split(";") and base(c) == "a.h5" for c in files), "effective", *files)
same(Counter(c.relation.function for c in files), {"H5Fcreate": 1, "H5Fopen": 1}, "recorded calls")
same(len([c for c in calls if c.function == "H5D_parameters"]), 3, "recorded datasets")
same([c for c in calls if c.function == "MPI_File_parameters"], [], "files of MPI")
END
	# With an empty parameter file, the values are only recorded.
	echo '{"schema": "sluice.params/1", "parameters": []}' >none.json
	check_rc 0 "$sluice" run -p none.json -o trace "$BUILD/mpi/serial/inject" a.h5
	diff bare out || fail "a run without parameters differs"
	check_trace <<'END'
same({(c.function, c.name or "") for c in calls if "_parameters" in c.function},
     {("H5F_parameters", ""), ("H5D_parameters", "")}, "recorded calls")
must(any("alignment=1,1" in c.hints for c in calls if c.function == "H5F_parameters"), "defaults are recorded")
END
	# Without recording, and with an invalid parameter file (H5T-AC-5).
	check_rc 0 env SLUICE_DISABLE=1 "$sluice" run -p params.json -o trace "$BUILD/mpi/serial/inject" a.h5
	diff bare out || fail "switched off: the program differs"
	: >empty.xml
	echo '<Parameters><High_Level_IO_Library><alignment>0,655' >cut.xml
	for file in missing.xml empty.xml cut.xml; do
		check_rc 0 env SLUICE_PARAMS_FILE=$file "$sluice" run -o trace "$BUILD/mpi/serial/inject" a.h5
		diff bare out || fail "$file: the program differs"
		check_eq "$(grep -c '^sluice.*: warning: ' err)" 1 "warnings about $file: $(cat err): number"
	done
fi

# Python has its own copy of HDF5.
if $python -c 'import h5py' 2>/dev/null; then
	# HDF5 does not create a file whose user block does not match its alignment: then the block is kept. Data without
	# storage has no offset, although HDF5 reports 65535 for it.
	cat >block.py <<'END'
import h5py
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
for size in 512, 65536:
    with h5py.File("block%d.h5" % size, "w", userblock_size=size) as f:
        for name, creation in (b"early", early), (b"late", None):
            h5py.h5d.create(f.id, name, h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((4096,)), creation)
END
	echo '{"schema": "sluice.params/1", "parameters": [{"name": "alignment", "value": "0, 65536"}]}' >align.json
	check_rc 0 "$sluice" run -p align.json -o trace $python block.py
	check_trace <<'END'
files = {base(c): c.name for c in calls if c.function == "H5F_parameters"}
same(files, {"block512.h5": "alignment=!userblock", "block65536.h5": "alignment=0,65536"}, "requested")
sets = [c for c in calls if c.function == "H5D_parameters"]
same([base(c) for c in sets], ["block512.h5", "block65536.h5"], "datasets that have a place")
must(all("size=16384" in c.hints for c in sets) and int(sets[1].hints.split(";")[0][7:]) % 65536 == 0, "places",
     *[c.hints for c in sets])
END
	cat >io.py <<'END'
import h5py, numpy
with h5py.File("python.h5", "w") as f:
    f["rows"] = numpy.arange(4096, dtype="i4").reshape(4, 1024)
    print(f["rows"].chunks, f.id.get_access_plist().get_alignment())
with h5py.File("python.h5") as f:
    print(int(f["rows"][3, 1023]))
END
	check_rc 0 "$sluice" run -p params.json -o trace $python io.py
	check_eq "$(cat out)" "(1, 512) (0, 65536)
4095" "values in Python"
	# The name of a dataset matches with and without a slash at its beginning, and in whichever way the program
	# refers to the group.
	cat >names.py <<'END'
import h5py
early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
with h5py.File("names.h5", "w") as f:
    group = f.create_group("a").create_group("b")
    for place, name in (f, b"v1"), (f, b"/v2"), (f, b"a/b/v3"), (group, b"v4"), (group, b"/v5"), (group, b"v1"):
        data = h5py.h5d.create(place.id, name, h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((4096,)))
        creation = data.get_create_plist()
        print(h5py.h5i.get_name(data).decode(), *creation.get_chunk() if creation.get_layout() == 2 else ())
END
	# named PATTERN CHUNKED...: only these datasets get chunks
	named() {
		echo '{"schema": "sluice.params/1", "parameters": [{"name": "chunk_size", "value": "512,", "object": "'"$1"'"}]}' >named.json
		shift
		check_rc 0 "$sluice" run -p named.json -o trace $python names.py
		check_eq "$(sed -n 's/ 512$//p' out | xargs)" "$*" "datasets that match $(cat named.json)"
	}
	named v1 /v1 /a/b/v1
	named /v1 /v1
	named v2 /v2
	named /a/b/v3 /a/b/v3
	named a/b/v3 /a/b/v3
	named a/b/v4 /a/b/v4
	named '/a/*' /a/b/v3 /a/b/v4 /a/b/v1
	named /v5 /v5
	check_eq "$(cat err)" "" "warnings"
	named /v6
	check_words "$(cat err)" chunk_size=512, /v6 "not applied" "no dataset"
else
	skip_case python3-h5py
fi

# Parameters work below NetCDF and PnetCDF.
for mpi in $(mpi_list); do
	for program in netcdf pnetcdf; do
		mpi_has "$mpi" $program || continue
		check_rc 0 "$sluice" run -p params.json -o "$work/trace" -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/$program"
		# Open MPI 5 reports only hints that it uses.
		hint=romio_ds_write=disable
		[ "$mpi" = mpich ] || ! mpi_since openmpi 5 || hint=cb_buffer_size=1048576
		check_trace $program $hint <<'END'
layer = {"netcdf": "NetCDF", "pnetcdf": "PnetCDF"}[arguments[0]]
files = [c for c in calls if c.function == "MPI_File_parameters"]
must({c.rank for c in files} == {0, 1}, "recorded ranks")
must(any(c.relation.cause_in(layer) for c in files), "files that %s opens" % layer, *files)
for call in files:
    same(call.name, "cb_buffer_size=1048576;romio_ds_write=disable", "requested")
    must(arguments[1] in call.hints.split(";"), "effective", call, call.hints)
if layer == "NetCDF":
    files = [c for c in calls if c.function == "H5F_parameters" and c.relation.cause_in(layer)]
    must(files and all("alignment=0,65536" in c.hints for c in files), "files of HDF5 below", *files)
END
	done
done

# A prefix of file names is added once, and is invisible to others (H5T-AC-6). The test adds it to the control page,
# because the catalog has only the prefix of Blue Gene.
cat >prefix.py <<'END'
import os, sys
name = os.environ["SLUICE_SPOOL"] + "/control"
with open(name, "r+b") as page:
    at = page.read().index(b"sluice-parameters 1 parameters\n") + len(b"sluice-parameters 1 parameters\n")
    page.seek(at)
    page.write(sys.argv[1].encode())
END
echo '{"schema": "sluice.params/1", "parameters": []}' >none.json

# prefixed LINE FILE: two ranks of MPICH open the file
prefixed() {
	printf '%b' "$1" >line
	check_rc 0 "$sluice" run -p none.json -o "$work/trace" -- sh -c \
		'SLUICE_DISABLE=1 '$python' prefix.py "$(cat line)
" && exec mpiexec.mpich -n 2 "$0" "$1"' "$BUILD/mpi/mpich/inject" "$2"
}

if mpi_has mpich inject && command -v mpiexec.mpich >/dev/null; then
	rm -f -- *.h5*
	prefixed 'prefix\t*\t*\tdriver\tnfs:' a.h5
	check_has "$(cat out)" "a.h5 hint romio_filesystem_type=NFS"
	check_trace <<'END'
opens = [c for c in calls if c.function == "MPI_File_open" and c.error == 0]
must(opens and all(base(c) in ("a.h5", "a.h5.plain") and ":" not in c.file for c in opens), "names", *opens)
END
	prefixed 'prefix\t*\t*\tdriver\tnfs:' ufs:b.h5
	check_has "$(cat out)" "b.h5 hint romio_filesystem_type=UFS"
	# The prefix of Blue Gene is for GPFS only: on other file systems ROMIO fails to open such names.
	prefixed 'prefix\t*\t*\tbglockless\tbglockless:' c.h5
	check_has "$(cat out)" "c.h5 hint romio_filesystem_type=UFS"
	check_has "$("$sluice" print trace | grep -m 1 MPI_File_parameters)" "bglockless=!gpfs"
fi
