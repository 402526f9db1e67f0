#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The kernels under every MPI of this machine: they read what they wrote, with any transfer, number of ranks and MPI;
# they detect wrong data; their output and exit codes. `sluice lab kernel` starts them, and has a dry run without MPI.
# Papers: KRN-1, KRN-2, KRN-4, KRN-5, KRN-8, ATE-5, HYB-7.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# word KEY FILE: the value of KEY in the last line that has it
word() {
	sed -n "s/.*\\b$1=\\([^ ]*\\).*/\\1/p" "$2" | tail -1
}

# A dry run prints the volumes of the papers.
check_rc 0 "$sluice" lab kernel vpic --dry-run --paper --json
check_json out sluice.kernel/1
check_eq "$(json_get out '["kernels"][0]["plans"][0]["bytes"]')" 34359738368
check_eq "$(json_get out '["kernels"][0]["plans"][2]["bytes"]')" 1099511627776
check_rc 0 "$sluice" lab kernel --dry-run --ranks 2048 vorpal --paper
check_has "$(tail -1 out)" "480 x 1600 x 1600"
check_has "$(tail -1 out)" "589824000000  549.32"
check_rc 0 "$sluice" lab kernel gcrm --dry-run --paper --ranks=4096
check_has "$(tail -1 out)" "1300.00"
check_rc 0 "$sluice" kernel
check_has "$(grep '^vpic ' out | tr -s ' ')" " 32.00 512.00 1024.00 "
check_rc 0 "$sluice" lab kernel --json
check_json out sluice.kernel/1
check_rc 2 "$sluice" lab kernel vpick
check_has "$(cat err)" 'unknown kernel "vpick"'
check_rc 2 "$sluice" lab kernel vpic --dry-run --ranks
check_rc 2 "$sluice" lab kernel vpic --dry-run --ranks many
check_rc 2 "$sluice" lab kernel vpic --ranks 0
check_rc 2 "$sluice" lab kernel vpic --dry-run --ranks 2 --particles 0
check_has "$(cat err)" "each rank must have at least one value"
check_rc 2 "$sluice" lab kernel vorpal --dry-run --block 3x3
check_has "$(cat err)" '--block: "3x3" is not 3 numbers'
check_rc 2 "$sluice" lab kernel strided --dry-run

# kernel MPI RANKS NAME OPTION...: writes NAME.h5, reads it in another run and checks the data
kernel() {
	local mpi=$1 ranks=$2 name=$3 program=${3}_io
	shift 3
	check_rc 0 mpi_run "$mpi" "$ranks" "$program" -f "$name.h5" "$@"
	cp out written
	check_eq "$(wc -l <written)" 1 "lines of $program under $mpi"
	check_has "$(cat written)" "$program direction=write transfer="
	check_rc 0 mpi_run "$mpi" "$ranks" "$program" -f "$name.h5" --read --verify "$@"
	check_has "$(cat out)" "$program direction=read transfer="
	check_eq "$(word bytes out)" "$(word bytes written)" "bytes read by $program"
	python3 - written out <<'PYTHON' || fail "figures of $program do not fit: $(cat written out)"
import re, sys
for path in sys.argv[1:]:
    of = dict(re.findall(r"(\w+)=([0-9.]+)", open(path).read()))
    phases = [float(of[p]) for p in ("open_s", "transfer_s", "close_s")]
    seconds, rate = float(of["seconds"]), float(of["mib_per_s"])
    # `seconds` is the sum of the phases of one rank; each phase is that of the slowest rank.
    assert max(phases) - 2e-6 <= seconds <= sum(phases) + 2e-6
    # Printed times are rounded to 1 us, printed rates to 0.1 MiB/s.
    assert abs(rate - int(of["bytes"]) / 2**20 / seconds) <= max(0.06, rate * (1e-3 + 1e-6 / seconds))
PYTHON
}

# planned NAME RANKS OPTION...: prints the number of bytes that the dry run announces
planned() {
	local name=$1 ranks=$2
	shift 2
	"$sluice" lab kernel "$name" --dry-run --json --ranks "$ranks" "$@" >plan.json
	json_get plan.json '["kernels"][0]["plans"][0]["bytes"]'
}

# everywhere NAME RANKS OPTION...: checks that all MPIs write the same file, of the announced volume
everywhere() {
	local name=$1 ranks=$2 mpi
	shift 2
	rm -f first.h5
	for mpi in $mpis; do
		kernel "$mpi" "$ranks" "$name" "$@"
		check_eq "$(word bytes written)" "$(planned "$name" "$ranks" "$@")" "bytes of $name $*"
		[ -e first.h5 ] || cp "$name.h5" first.h5
		cmp "$name.h5" first.h5 || fail "$name $*: the file differs under $mpi"
	done
}

# spoiled NAME RANKS OPTION...: changes one byte of the last file and checks that its rank reports the difference
spoiled() {
	local name=$1 ranks=$2 size
	shift 2
	cp "$name.h5" spoiled.h5
	size=$(stat -c %s spoiled.h5)
	# Not at the end, where HDF5 stores metadata.
	printf '\125' | dd of=spoiled.h5 bs=1 seek=$((size - 1000)) conv=notrunc status=none
	cmp -s "$name.h5" spoiled.h5 && fail "nothing was changed in $name.h5"
	check_rc 1 mpi_run "${mpis##* }" "$ranks" "${name}_io" -f spoiled.h5 --read --verify "$@"
	grep -q "^${name}_io: rank [0-9]: spoiled.h5: " err || fail "$name: $(cat err)"
}

mpis=
for mpi in $(mpi_list); do
	mpi_has "$mpi" vpic_io && mpis="$mpis $mpi"
done
[ -n "$mpis" ] || skip libhdf5-mpich-dev

everywhere vpic 4 --scale 0.001 --steps 2 --transfer independent
cp vpic.h5 other.h5
everywhere vpic 2 --particles 16778 --steps 2 # the same data with twice the particles on half the ranks
cmp vpic.h5 other.h5 || fail "the data of vpic depends on the number of ranks"
spoiled vpic 2 --particles 16778 --steps 2
everywhere vorpal 4 --block 10x9x7 --steps 2
cp vorpal.h5 uniform.h5
everywhere vorpal 4 --block 10x9x7 --steps 2 --non-uniform
cmp vorpal.h5 uniform.h5 || fail "the field of vorpal depends on the block sizes"
spoiled vorpal 4 --block 10x9x7 --steps 2 --non-uniform
everywhere vorpal 4 --block 10x9x7 --steps 2 --components 5
check_eq "$(planned vorpal 4 --block 10x9x7 --steps 2 --components 5)" $((4 * 10 * 9 * 7 * 2 * 5 * 8)) "bytes of five components"
everywhere gcrm 3 --resolution 3 --subdomain 1 --levels 7
check_eq "$(planned gcrm 3 --cells 100 --levels 7)" $((3 * 100 * 8 * 10 * 4)) "bytes of seven levels"
check_rc 2 "$sluice" lab kernel gcrm --dry-run --levels 0
check_has "$(cat err)" "--levels"
check_rc 2 "$sluice" lab kernel vorpal --dry-run --components 0
everywhere gcrm 3 --resolution 3 --subdomain 1
spoiled gcrm 3 --resolution 3 --subdomain 1
cp gcrm.h5 unchunked.h5
everywhere gcrm 3 --resolution 3 --subdomain 1 --transfer collective --chunk 1x26x200
h5diff gcrm.h5 unchunked.h5 || fail "chunks change the data"
everywhere small 4 --count 20 --values 33
spoiled small 4 --count 20 --values 33

# The posix driver writes one file per rank; --remove deletes the files.
mpi=${mpis##* }
check_rc 0 mpi_run "$mpi" 2 gcrm_io -f own --driver posix -n 100 --verify
check_eq "$(grep -c direction= out)" 2 "lines of a run that verifies"
[ -s own.0 ] && [ -s own.1 ] || fail "a rank has no file"
check_rc 0 mpi_run "$mpi" 2 gcrm_io -f own --driver posix -n 100 --read --verify --remove
check_eq "$(ls own* 2>/dev/null || true)" "" "files left after --remove"

# Reading another shape than the written one is an error.
check_rc 1 mpi_run "$mpi" 2 vpic_io -f vpic.h5 --read --particles 16778 --steps 3
check_has "$(cat err)" "vpic_io: rank 0: Step#2/x: "

check_rc 2 mpi_run "$mpi" 2 vorpal_io --block 0x1x1
check_rc 2 mpi_run "$mpi" 2 gcrm_io --resolution 2 --subdomain 3
check_has "$(cat err)" "gcrm_io: --subdomain"
check_rc 2 mpi_run "$mpi" 2 gcrm_io --chunk 1x26
check_rc 2 mpi_run "$mpi" 2 gcrm_io --chunk 1x27x10
check_has "$(cat err)" "--chunk: 1x27x10 is larger than a dataset"
check_rc 2 mpi_run "$mpi" 2 small_io --hint nothing
check_rc 2 mpi_run "$mpi" 2 small_io operand

# Collective MPI-IO without a library: all MPIs write the same bytes, contiguous or strided, in one call or many; a file
# of cases sets sizes and hints.
rm -f first.dat
printf '# size, hints\n40000 cb_buffer_size=9999\n\n24K cb_nodes=1 romio_cb_write=enable\n' >cases
for mpi in $mpis; do
	check_rc 0 mpi_run "$mpi" 3 collective_io -s 100000 -o whole.dat --repeat 2 --verify -H romio_cb_write=enable
	check_eq "$(grep -c '^collective_io direction=write ranks=3 size=100000 transfer=100000 repetition=[01] bytes=300000 ' out)" 2
	check_eq "$(grep -c '^collective_io direction=read ' out)" 2 "lines of the read phase"
	check_rc 0 mpi_run "$mpi" 3 collective_io -s 100000 -t 30001 --strided 100 -o turns.dat --verify
	cmp whole.dat turns.dat || fail "$mpi: strided pieces give another file"
	[ -e first.dat ] || cp whole.dat first.dat
	cmp whole.dat first.dat || fail "collective: the file differs under $mpi"
	check_rc 0 mpi_run "$mpi" 2 collective_io --read --verify -o first.dat -s 7 -t 2
	check_rc 1 mpi_run "$mpi" 2 collective_io --read -o first.dat -s 150001
	check_has "$(cat err)" "first.dat"
	check_rc 0 mpi_run "$mpi" 2 collective_io --cases cases --repeat 3 --verify -o cases.dat --remove
	check_eq "$(grep -c "direction=write.* size=40000 .* case=2 .* bytes=80000" out)" 3 "the first case under $mpi"
	check_eq "$(grep -c "direction=write.* size=24576 .* case=4 " out)" 3 "the second case under $mpi"
	[ ! -e cases.dat ] || fail "collective: --remove leaves the file"
done
printf '\125' | dd of=first.dat bs=1 seek=299999 conv=notrunc status=none
check_rc 1 mpi_run "$mpi" 3 collective_io -s 100000 -o first.dat --read --verify
check_has "$(cat err)" "collective_io: rank 2: read of first.dat: byte 299999 "
check_rc 2 mpi_run "$mpi" 2 collective_io -s 100 --strided 33
check_has "$(cat err)" must divide
check_rc 2 mpi_run "$mpi" 2 collective_io -s 3G
check_has "$(cat err)" "use --transfer"
printf '1K cb_nodes\n' >cases
check_rc 2 mpi_run "$mpi" 2 collective_io --cases cases
check_has "$(cat err)" 'cases:1: --hint: "cb_nodes" is not KEY=VALUE'
check_rc 2 mpi_run "$mpi" 2 collective_io --cases nowhere

# `sluice lab kernel` starts the launcher, or runs inside one.
for mpi in $mpis; do
	check_rc 0 "$sluice" lab kernel small --mpi "$mpi" --ranks 3 --count 4 --verify --file by.h5
	check_has "$(cat out)" "small_io direction=read transfer=collective ranks=3"
	check_rc 0 timeout "$limit" "mpiexec.$mpi" -n 2 "$sluice" lab kernel vpic -n 10 --file by.h5
	check_has "$(cat out)" "vpic_io direction=write transfer=collective ranks=2"
	check_rc 0 "$sluice" lab kernel strided --mpi "$mpi" --ranks 2 --count 100
	check_has "$(cat out)" "level=collective-noncontiguous direction=read ranks=2 block=64 count=100 bytes=12800"
	check_eq "$(stat -c %s strided.dat)" 12800 "size of the strided file"
	check_rc 0 "$sluice" lab kernel collective --mpi "$mpi" --ranks 2 --size 10K --verify --remove
	check_has "$(cat out)" "collective_io direction=read ranks=2 size=10240 transfer=10240"
	check_rc 0 "$sluice" lab kernel vpic --mpi "$mpi" --ranks 1 --help
	check_has "$(cat out)" "--particles N"
done
