#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report of parameters in real parallel programs: requested values, effective values, and who applied them, with
# every installed MPI.
# Papers: H5T-12.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

cat >params.json <<'END'
{"schema": "sluice.params/1", "parameters": [
 {"name": "cb_nodes", "value": 2},
 {"name": "cb_buffer_size", "value": "64K"},
 {"name": "romio_cb_write", "value": "enable"},
 {"name": "alignment", "value": "0, 4096"},
 {"name": "transfer", "value": "independent"},
 {"name": "striping_factor", "value": 4}]}
END
levels=(-l collective-noncontiguous -b 1K -n 256 -d write)

# recorded PROGRAM LAUNCHER...: runs the program with parameters; the report is in report.json
recorded() {
	local program=$1
	shift
	[ -n "$program" ] || return 1
	check_rc 0 timeout -k 5 "$limit" "$sluice" run --summary -o trace --params params.json -- "$@" "$program" "${arguments[@]}"
	cp err brief
	"$sluice" report --json trace >report.json
	"$sluice" report trace >report.txt
}

# says NAME REQUESTED EFFECTIVE HONOURED [FILES]: all openings have these values; "-": no value
says() {
	python3 - "$@" <<'END' || wrong "$(sed -n '/^Parameters/,/^$/p' report.txt)"
import json, sys
name, *expected = sys.argv[1:5]
rows = [r for r in json.load(open("report.json"))["parameters"] if r["name"] == name and "honoured" in r]
assert len(rows) == int((sys.argv[5:] or [1])[0]), (name, rows)
for r in rows:
    assert [r.get("requested", "-"), r.get("effective", "-"), r["honoured"]] == expected, r
    assert r["openings"] == r["agreeing"] > 0, r
END
}

case_is "MPICH reports the hints that it uses"
arguments=("${levels[@]}")
if recorded "$(mpi_program mpich levels)" mpiexec.mpich -n 4; then
	says cb_buffer_size 65536 65536 yes
	says cb_nodes 2 1 no # cb_config_list is *:1
	says romio_cb_write enable enable yes
	# MPICH reports the hint back since 4.1.
	if mpi_since mpich 4.1; then
		says striping_factor 4 4 no
	else
		says striping_factor 4 - no
	fi
	check_words "$(grep "cb_nodes " report.txt | tr -s " ")" "cb_nodes levels.dat 2 1 4/4 not applied" ROMIO
	check_has "$(cat brief)" "(2 of 4 applied)"
	check_eq "$(json_get report.json '["applied"][1]["value"]')" params.json
fi

case_is "HDF5 reports the properties that it uses"
arguments=(-n 3)
for mpi in mpich openmpi; do
	if recorded "$(mpi_program $mpi small_io)" mpiexec.$mpi -n 4; then
		says alignment 0,4096 0,4096 yes
		says transfer independent - yes
		check_words "$(grep alignment report.txt)" "HDF5 (3 of 3 datasets" "4096 bytes"
	fi
done

case_is "alignment is judged by the offsets of datasets, not by the property list"
sed 's/0, 4096/8192, 65536/' params.json >align.json
# aligned PROGRAM LAUNCHER...: runs the program with an alignment and writes the reports
aligned() {
	check_rc 0 timeout -k 5 "$limit" "$sluice" run -o trace --params align.json -- "$@"
	"$sluice" report trace >report.txt
	"$sluice" report --json trace >report.json
}
for mpi in mpich openmpi; do
	program=$(mpi_program $mpi inject)
	[ -n "$program" ] || continue
	aligned mpiexec.$mpi -n 2 "$program" a.h5 b.h5
	says alignment 8192,65536 8192,65536 yes 2
	check_words "$(grep alignment report.txt | tr -s " ")" "2 files 8192,65536 8192,65536 8/8 HDF5 (4 of 4 datasets" "65536 bytes"
	# With paged allocation HDF5 accepts any alignment, and ignores it.
	aligned mpiexec.$mpi -n 2 "$program" paged.h5
	says alignment 8192,65536 8192,65536 no
	check_words "$(grep alignment report.txt)" "not applied (0 of 2 datasets" "65536 bytes"
	# With one rank, datasets are smaller than the threshold of the alignment.
	aligned mpiexec.$mpi -n 1 "$program" small.h5
	says alignment 8192,65536 8192,65536 unknown
	check_words "$(grep alignment report.txt)" unknown dataset
done
if mpi_has serial inject; then
	aligned "$BUILD/mpi/serial/inject" serial.h5
	says alignment 8192,65536 8192,65536 yes
	check_words "$(grep alignment report.txt)" HDF5 file
fi

case_is "hints that Open MPI reports prove nothing, its calls do"
arguments=("${levels[@]}")
if recorded "$(mpi_program openmpi levels)" mpiexec.openmpi -n 4; then
	says cb_nodes - - no # it would lose data
	check_words "$(grep "cb_nodes " report.txt)" "not applied" ompio
	# Open MPI 5 reports only hints that it uses.
	if mpi_since openmpi 5; then
		says romio_cb_write enable - no
		says striping_factor 4 - no
	else
		says romio_cb_write enable enable no
		says striping_factor 4 4 no
	fi
fi
romio_heeds || skip_case romio-hints "what ROMIO of Open MPI reports"
if romio_heeds && recorded "$(mpi_program openmpi levels)" mpiexec.openmpi --mca io "$(romio)" -n 4; then
	says romio_cb_write enable enable yes
	says cb_buffer_size 65536 65536 yes
	says cb_nodes 2 2 no # it says 2, but one rank has written
fi
sed -i 's/"romio_cb_write", "value": "enable"/"romio_cb_write", "value": "disable"/' params.json
if romio_heeds && recorded "$(mpi_program openmpi levels)" mpiexec.openmpi --mca io "$(romio)" -n 4; then
	says romio_cb_write disable disable yes
	check_words "$(grep romio_cb_write report.txt)" ROMIO "4 of 4 ranks"
fi

case_is "an empty parameter file records all effective values"
echo '{"schema": "sluice.params/1", "parameters": []}' >params.json
if recorded "$(mpi_program mpich levels)" mpiexec.mpich -n 4; then
	check_words "$(cat report.txt)" "no parameter"
	check_eq "$(python3 -c 'import json
rows = json.load(open("report.json"))["parameters"]
print([r["effective"] for r in rows if r["name"] == "romio_cb_write"], any("honoured" in r for r in rows))')" \
		"['automatic'] False"
fi
