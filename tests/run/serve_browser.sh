#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The web application of `sluice serve` in a real browser, on real traces: serve_browser.mjs lists what is checked.
# Papers: SIOX-50, SIOX-51.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
need_browser
mkdir -p runs

# Parallel HDF5 with both MPIs, a parallel run of 16 ranks that is written by hand, a serial run, and hostile names.
programs=()
for mpi in $(mpi_list); do
	mpi_has "$mpi" hdf5 || { skip_case "libhdf5-$mpi-dev"; continue; }
	check_rc 0 "$sluice" run --quiet -o "runs/$mpi.sluice" -- "mpiexec.$mpi" -n 4 "$BUILD/mpi/$mpi/hdf5"
	programs+=("$mpi")
done
python3 "$SOURCE/tests/run/page_trace.py" >parallel.txt
check_rc 0 "$sluice" trace convert parallel.txt runs/climate.sluice
check_rc 0 "$sluice" run --quiet -o runs/serial.sluice -- sh -c 'ls -lR /usr/share/doc/b* | wc -l'
name=$'<img src=x onerror=alert(1)> \e[31m"\' \xff.dat'
printf x >"$name"
check_rc 1 "$sluice" run --quiet -o runs/hostile.sluice -- cat "$name" '</script><script>alert(2)</script>'

# Below a path, as behind a proxy: every address of the application must respect it.
serve --tcp 127.0.0.1:0 --base-path /sluice runs
browse serve_browser "${programs[@]}"
