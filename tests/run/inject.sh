#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Parameters are injected into unmodified parallel programs with every installed MPI (Open MPI with OMPIO and with
# ROMIO). The program reads back the requested values, its own property lists and infos are not changed, and the data
# is the same. Harmful parameters, and those that not all ranks would pass, are not injected.
# Papers: H5T-1 to H5T-3, H5T-8, H5T-9.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db
case=inject

# H5Tuner's own sample (H5T-7).
cat >sample.xml <<'END'
<?xml version="1.0" encoding="utf-8"?>
<Parameters>
	<High_Level_IO_Library>
		<alignment> 0, 65536 </alignment>
	</High_Level_IO_Library>
	<Middleware_Layer>
		<cb_buffer_size> 1048576 </cb_buffer_size>
		<cb_nodes> 32 </cb_nodes>
	</Middleware_Layer>
	<Parallel_File_System>
		<striping_factor> 16 </striping_factor>
		<striping_factor FileName="sample_dataset.h5part"> 4 </striping_factor>
		<striping_unit> 65536 </striping_unit>
	</Parallel_File_System>
</Parameters>
END
cat >all.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "cb_nodes", "value": 2}, {"name": "cb_config_list", "value": "*:2"},
 {"name": "cb_buffer_size", "value": 1048576}, {"name": "romio_ds_write", "value": "disable"},
 {"name": "alignment", "value": "0, 65536"}, {"name": "sieve_buf_size", "value": 131072},
 {"name": "meta_block_size", "value": 8192}, {"name": "small_data_block_size", "value": 4096},
 {"name": "mdc_initial_size", "value": "8M"}, {"name": "coll_metadata_ops", "value": "on"},
 {"name": "coll_metadata_write", "value": "on"}, {"name": "libver", "value": "v18"},
 {"name": "transfer", "value": "independent"}, {"name": "fill_time", "value": "never"},
 {"name": "chunk_size", "value": "1,256"}, {"name": "chunk_size", "value": 2048, "file": "b.h5"}]}
END

# injected ORDER MPI N ARGUMENT...: runs ranks of tests/mpi/inject; out has each line that they print once. All ranks
# print the same values, so no key occurs twice.
injected() {
	local order=$1 command
	shift
	rm -f -- *.h5 *.h5part *.plain
	mpi_order "$order" "$1" "$2" inject "${@:3}"
	check_rc 0 timeout -k 5 "$limit" "${command[@]}"
	# tests/run/inject_guards.sh checks the warnings about parameters that are not applied.
	check_eq "$(grep -v ' not applied' err)" "" "stderr of $*"
	sort -u out >all && mv all out
	check_eq "$(sed 's/=.*//' out | uniq -d)" "" "values that ranks differ in"
}

# is_terse: does the MPI report only hints that it uses? OMPIO of Open MPI 4.1 repeats all.
is_terse() {
	is_ompio && mpi_since openmpi 5
}

# has LINE...: the program printed these lines; lacks PART...: no line contains these parts
has() {
	local line
	for line; do
		[[ $line != *" hint "* || $line == *" hint cb_"* ]] || ! is_terse || continue
		grep -qxF -- "$line" out || fail "$mpi: no \"$line\" in: $(cat out)"
	done
}

lacks() {
	local part
	for part; do
		! grep -F -- "$part" out || fail "$mpi: \"$part\" is there"
	done
}

# told FUNCTION FILE REQUESTED EFFECTIVE...: at least one record of each rank has these values
told() {
	local pair effective=()
	for pair in "${@:4}"; do
		[[ $1 == MPI_* && $pair != cb_* ]] && is_terse || effective+=("$pair")
	done
	check_trace "${@:1:3}" "${effective[@]}" <<'END'
function, name, requested, effective = arguments[0], arguments[1], arguments[2], arguments[3:]
found = [c for c in calls if c.function == function and base(c) == name]
must(len({c.rank for c in found}) == 2, "records of %s for %s: %d" % (function, name, len(found)))
for call in found:
    same(call.name, requested, "requested of " + name)
    for pair in effective:
        must(pair in call.hints.split(";"), "%s is not in %s" % (pair, call.hints))
END
}

is_ompio() {
	[ "$mpi${OMPI_MCA_io-}" = openmpi ]
}

# Parameters in a file of H5Tuner (H5T-AC-1, H5T-AC-2).
sample() {
	local file nodes=32
	is_ompio && nodes=!ompio
	export SLUICE_PARAMS_FILE=$work/sample.xml
	injected "$1" "$mpi" 2 sample_dataset.h5part other.h5
	for file in sample_dataset.h5part other.h5; do
		has "$file access alignment=0,65536 sieve=65536 meta=2048 small=2048 cache=2097152 libver=0"
		has "$file hint cb_buffer_size=1048576" "$file hint striping_unit=65536"
		has "$file.plain hint cb_buffer_size=1048576"
	done
	told MPI_File_parameters sample_dataset.h5part \
		"cb_buffer_size=1048576;cb_nodes=$nodes;striping_factor=4;striping_unit=65536" striping_unit=65536
	told MPI_File_parameters other.h5 \
		"cb_buffer_size=1048576;cb_nodes=$nodes;striping_factor=16;striping_unit=65536" striping_unit=65536
	placed 65536
}

# placed BOUNDARY: checks the offsets of datasets. Every rank has one record of each contiguous dataset, with the offset
# that the program sees. Chunked datasets have no offset.
placed() {
	check_trace "$1" out <<'END'
seen = {}
for line in open(arguments[1]):
    name, what, value = (line.split() + ["", ""])[:3]
    if value.startswith("offset="):
        seen[name, what] = value
same(len(seen), 4, "datasets that have a place")
must(all(int(s[7:]) % int(arguments[0]) == 0 for s in seen.values()), "the program sees %s" % seen)
sets = [c for c in calls if c.function == "H5D_parameters"]
same(Counter((c.rank, base(c), tuple((c.hints or "").split(";"))) for c in sets),
     {(rank, name, (value, "size=8192")): 1 for (name, what), value in seen.items() for rank in (0, 1)}, "records")
END
}

# All parameters at once: the data is the same as without them (H5T-AC-3).
everything() {
	unset SLUICE_PARAMS_FILE
	injected bare "$mpi" 2 a.h5 b.h5
	has "a.h5 access alignment=1,1 sieve=65536 meta=2048 small=2048 cache=2097152 libver=0"
	has "a.h5 grid chunk=0,0 fill=2" "a.h5 grid collective"
	mkdir -p plain && mv a.h5 b.h5 a.h5.plain plain
	SLUICE_PARAMS_FILE=$work/all.json SLUICE_PARAMS_ALLOW=semantics injected outside "$mpi" 2 a.h5 b.h5
	has "a.h5 access alignment=0,65536 sieve=131072 meta=8192 small=4096 cache=8388608 libver=1"
	has "a.h5 grid chunk=1,256 fill=1" "a.h5 old chunk=1,256 fill=1" "b.h5 grid chunk=1,512 fill=1"
	# Filters need all ranks and have their own chunks.
	has "a.h5 packed chunk=1,1024 fill=1" "a.h5 packed collective"
	has "a.h5 grid independent" "b.h5 old independent" "a.h5 hint romio_ds_write=disable"
	for file in a b; do
		h5diff plain/$file.h5 $file.h5 >difference || fail "$mpi: $file.h5 differs: $(cat difference)"
	done
	cmp plain/a.h5.plain a.h5.plain || fail "$mpi: a.h5.plain differs"
	told H5F_parameters a.h5 \
		"alignment=0,65536;coll_metadata_ops=on;coll_metadata_write=on;libver=v18;mdc_initial_size=8388608;meta_block_size=8192;sieve_buf_size=131072;small_data_block_size=4096;transfer=independent" \
		alignment=0,65536 coll_metadata_ops=on mdc_initial_size=8388608 libver=v18
	check_trace <<'END'
sets = {(c.name, c.hints) for c in calls if c.function == "H5D_parameters" and base(c) == "b.h5"}
same(sets, {("chunk_size=2048;fill_time=never", "alloc_time=incr;chunk_size=1,512;fill_time=never"),
            ("chunk_size=!layout;fill_time=never", "alloc_time=incr;chunk_size=1,1024;fill_time=never")}, "datasets")
END
}

# Aggregators: OMPIO loses data with several of them, so it gets no such hint. ROMIO does, also in Open MPI.
aggregators() {
	local requested="cb_buffer_size=1048576;cb_config_list=*:2;cb_nodes=2;romio_ds_write=disable"
	if is_ompio; then
		lacks "hint cb_nodes" "hint cb_config_list"
		told MPI_File_parameters a.h5.plain \
			"cb_buffer_size=1048576;cb_config_list=!ompio;cb_nodes=!ompio;romio_ds_write=disable" romio_ds_write=disable
	else
		has "a.h5 hint cb_nodes=2" "a.h5.plain hint cb_nodes=2" "a.h5 hint cb_config_list=*:2"
		told MPI_File_parameters a.h5.plain "$requested" cb_nodes=2 romio_ds_write=disable
	fi
}

# Values that the program sets itself are replaced or kept, as params.authority says.
authority() {
	export SLUICE_PARAMS_FILE=$work/all.json SLUICE_PARAMS_ALLOW=semantics
	injected outside "$mpi" 2 own a.h5
	has "a.h5 hint cb_buffer_size=1048576" "a.h5 grid chunk=1,256 fill=1"
	check_eq "$(grep -c '^a.h5 access alignment=0,65536 ' out)" 1
	SLUICE_PARAMS_AUTHORITY=application injected outside "$mpi" 2 own a.h5
	has "a.h5 hint cb_buffer_size=4194304" "a.h5 hint romio_ds_write=disable" "a.h5 grid chunk=1,256 fill=0"
	has "a.h5 access alignment=512,4096 sieve=131072 meta=8192 small=4096 cache=8388608 libver=1"
	unset SLUICE_PARAMS_FILE SLUICE_PARAMS_ALLOW
}

# If one rank of the job is not recorded, no rank gets parameters: hints on some ranks only would end the job.
outsider() {
	local program=$BUILD/mpi/$mpi/inject
	mpi_mixes "$mpi" || { skip_case mixed-jobs "$mpi: one rank is not recorded" && return; }
	rm -f -- *.h5 *.plain
	SLUICE_PARAMS_ALLOW=semantics check_rc 0 "$sluice" run -p all.json -o trace -- "mpiexec.$mpi" -n 1 "$program" a.h5 : \
		-n 1 env SLUICE_DISABLE=1 "$program" a.h5
	sort -u out >all && mv all out
	has "a.h5 access alignment=1,1 sieve=65536 meta=2048 small=2048 cache=2097152 libver=0" "a.h5 grid chunk=0,0 fill=2"
	lacks independent romio_ds_write=disable
}

# Parameters are applied without recording, too.
unrecorded() {
	SLUICE_PARAMS_FILE=$work/all.json SLUICE_PARAMS_ALLOW=semantics SLUICE_CAPTURE_MODE=off injected outside "$mpi" 2 a.h5
	has "a.h5 grid chunk=1,256 fill=1" "a.h5 grid independent" "a.h5 hint romio_ds_write=disable"
	has "a.h5 access alignment=0,65536 sieve=131072 meta=8192 small=4096 cache=8388608 libver=1"
}

# With an empty parameter file, effective values and offsets are only recorded.
asked() {
	echo '{"schema": "sluice.params/1", "parameters": []}' >none.json
	SLUICE_PARAMS_FILE=$work/none.json injected outside "$mpi" 2 a.h5
	check_trace <<'END'
sets = [c for c in calls if c.function == "H5D_parameters" and c.relation.function.startswith("H5Dcreate")]
same(len(sets), 6, "recorded datasets")
for call in sets:
    pairs = dict(pair.split("=") for pair in call.hints.split(";"))
    must(pairs["chunk_size"] == "contiguous" and pairs["size"] == "8192" and int(pairs["offset"]) > 0 or
         pairs["chunk_size"] == "1,1024" and "offset" not in pairs, "recorded values", call, call.hints)
END
}

# A rank whose transfer is already independent asks HDF5 nothing: the others would not take part in the answer.
alone() {
	local command
	mpi_order bare "$mpi" 3 alone
	check_rc 0 "$sluice" run --params transfer=independent -o trace -- "${command[@]}"
}

each() {
	mpi_has "$mpi" inject || return 0
	sample outside
	sample inside
	everything
	aggregators
	authority
	outsider
	unrecorded
	asked
	alone
}

mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
for mpi in $mpis; do
	unset OMPI_MCA_io
	each
	if [ "$mpi" = openmpi ] && romio_heeds; then
		export OMPI_MCA_io=$(romio)
		each
	elif [ "$mpi" = openmpi ]; then
		skip_case romio-hints
	fi
done
