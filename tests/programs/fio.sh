#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fio with each of its engines that works on files here: mixed random I/O with verification. The same jobs end with the
# same numbers of operations, bytes and errors. Engines that need devices or servers are not run.
. "$(dirname "$0")/libprograms.sh"
need fio fio

# The results without times, rates and settings: jobs, operations, bytes, errors.
cat >results.py <<'PYTHON'
import json, re, sys

text = open(sys.argv[1]).read()
start = re.search(r"^\{", text, re.M)
if not start:
    sys.exit("no JSON: " + text[:500])
for job in sorted(json.loads(text[start.start():])["jobs"], key=lambda job: job["jobname"]):
    print(job["jobname"], "error", job["error"])
    for way in ("read", "write", "trim"):  # how often a queue is synced depends on its timing
        print(" ", way, job[way]["total_ios"], job[way].get("io_bytes"), job[way].get("short_ios"))
PYTHON

options="--output-format=json --randrepeat=1 --randseed=7 --fallocate=none --unlink=1"
# run_engine NAME OPTION...
run_engine() {
	local name=$1
	shift
	case_begin "fio $name"
	# shellcheck disable=SC2086
	bare fio $options --name="$name" "$@" --output=result
	if [ "$bare_rc" != 0 ] && [[ $name == io_uring* ]]; then
		skip_case io_uring "$name"
		return
	fi
	[ "$bare_rc" = 0 ] || wrong "fails even without capture ($bare_rc): $(head -5 bare.err bare.out)"
	# shellcheck disable=SC2086
	captured fio $options --name="$name" "$@" --output=result
	same_code
	"$python" results.py bare/result >bare.results
	"$python" results.py captured/result >captured.results
	diff bare.results captured.results >diff || wrong "results differ: $(head -20 diff)"
	check_recorded
}

available=" $(fio --enghelp | sed 1d | tr -s '[:space:]' ' ') "
data="--size=4m --bsrange=512-64k --bs_unaligned=1 --rw=randwrite --verify=crc32c --filename=data"
for engine in sync psync vsync pvsync pvsync2 mmap libaio posixaio io_uring splice falloc ftruncate filecreate filestat \
	filedelete null; do
	case $available in
	*" $engine "*) ;;
	*) wrong "fio has no engine $engine" ;;
	esac
	case $engine in
	# shellcheck disable=SC2086
	sync | psync | vsync | pvsync | pvsync2)
		run_engine $engine --ioengine=$engine $data --fsync=64
		run_engine "$engine in 4 threads" --ioengine=$engine --thread --numjobs=4 --group_reporting --rw=randwrite \
			--size=1m --bs=4k
		;;
	# shellcheck disable=SC2086
	libaio | posixaio | io_uring)
		run_engine $engine --ioengine=$engine $data --iodepth=16
		run_engine "$engine in 4 processes" --ioengine=$engine --numjobs=4 --group_reporting --rw=randwrite --size=1m \
			--bs=4k --iodepth=8 --fsync=32
		;;
	mmap) run_engine mmap --ioengine=mmap --size=4m --bs=4k --rw=randwrite --verify=crc32c --filename=data ;;
	splice) run_engine splice --ioengine=splice --size=4m --bs=4k --rw=write --verify=crc32c --filename=data ;;
	falloc) run_engine falloc --ioengine=falloc --size=4m --bs=4k --rw=randwrite --filename=data ;;
	ftruncate) run_engine ftruncate --ioengine=ftruncate --size=4m --bs=4k --rw=write --filename=data ;;
	file*) run_engine $engine --ioengine=$engine --nrfiles=200 --filesize=4k --openfiles=1 --rw=write ;;
	null) run_engine null --ioengine=null --size=4m --bs=4k --rw=randrw ;;
	esac
done
if [[ $available == *" io_uring "* ]]; then
	run_engine "io_uring with fixed buffers and registered files" --ioengine=io_uring --fixedbufs --registerfiles \
		--size=4m --bs=4k --rw=randrw --iodepth=16 --filename=data
	run_engine "io_uring with a polling kernel thread" --ioengine=io_uring --sqthread_poll --size=1m --bs=4k \
		--rw=randwrite --iodepth=16 --filename=data
fi
