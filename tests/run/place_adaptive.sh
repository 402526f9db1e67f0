#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run --place adaptive` chooses the target of each new file by what the targets still have to write and how fast
# they were. Programs share what they know; what a killed program had open is forgotten. On throttled devices, a slow
# target gets few files.
. "$(dirname "$0")/../../bench/libbed.sh"
! bed_can 2>/dev/null || bed_enter "$0"
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_FORECAST_MODEL=$work/model SLUICE_PROBE_SITE=$work/site.ini SLUICE_SPOOL_DIR=$work/spool
mkdir spool elsewhere

# site DIRECTORY LINES: writes a site with four targets in the directory, and these lines of its policy
site() {
	local i
	targets=$1
	rm -rf data
	mkdir data
	for i in 1 2 3 4; do
		mkdir -p "$targets/t$i"
		find "$targets/t$i" -name '*.sluice.*' -delete
	done
	{
		echo "[targets]"
		for i in 1 2 3 4; do echo "t$i = $targets/t$i"; done
		printf '[placement]\n%s\n' "$2"
	} >site.ini
}

# held [PREFIX]: prints the number of files on each target, of those whose name starts with PREFIX
held() {
	local i
	for i in 1 2 3 4; do find "$targets/t$i" -type f -name "${1:-}*.sluice.*" | wc -l; done | paste -sd ' '
}

# place [ARGUMENT]...: runs a program with placement
place() {
	check_rc 0 timeout "$limit" "$sluice" run --place adaptive "$@"
}

# writer.py PREFIX PROCESSES FILES KIB: each process writes its files one after the other and synchronizes each
cat >writer.py <<'END'
import os, sys
prefix, processes, files, kib = sys.argv[1], *map(int, sys.argv[2:])
pids = []
for p in range(processes):
    pid = os.fork()
    if not pid:
        for i in range(files):
            fd = os.open("data/%s%d-%d" % (prefix, p, i), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            os.write(fd, b"x" * (kib << 10))
            os.fsync(fd)
            os.close(fd)
        os._exit(0)
    pids.append(pid)
sys.exit(any(os.waitpid(pid, 0)[1] for pid in pids))
END

# A program that has no forecast runs, and the user learns where its files are.
# On a loaded machine, a slow call may lower the mean rate, and with it what is expected of targets not yet tried, so far
# that another target gets all files for a while. So not every try has to reach every target.
for _ in $(seq 20); do
	site "$work/here" ""
	rm -rf spool/backlog trace
	place -o trace -- "$(command -v python3)" writer.py w 1 12 4
	check_words "$(cat err)" "no forecast model" "placed 12 new files in"
	read -r a b c d <<<"$(held)"
	check_eq $((a + b + c + d)) 12 "files on the targets"
	[[ " $a $b $c $d " == *" 0 "* ]] || break
done
[ "$a" -ge 1 ] && [ "$b" -ge 1 ] && [ "$c" -ge 1 ] && [ "$d" -ge 1 ] || fail "a target was never tried: $a $b $c $d"
check_words "$(cat err)" ": $a in $targets/t1" "$d in $targets/t4"
check_eq "$(cat data/* | wc -c)" $((12 * 4096)) "bytes that the program wrote"

# A duplicate of the descriptor, a stream, and a file that is removed again.
site "$work/here" ""
place -- bash -c 'dd if=/dev/zero of=data/a bs=64k count=3 2>/dev/null && sort -o data/b site.ini && rm data/a'
check_eq "$(held) $(cmp <(sort site.ini) data/b && echo same)" "$(held b) same" "what remains"
check_words "$(cat err)" "placed 2 new files"

# The limits of the site hold in each step. A pause of a second, which a loaded machine may make, begins another one.
for _ in $(seq 20); do
	site "$work/here" "most_extra = 1.1"
	place -- "$(command -v python3)" writer.py w 2 20 4
	! grep -q " new files in 1 step:" err || break
done
check_words "$(cat err)" "placed 40 new files in 1 step"
for n in $(held); do
	[ "$n" -ge 3 ] && [ "$n" -le 12 ] || fail "files where a target may get 1.1 times its equal share: $(held)"
done

# Two programs at once: the first keeps files open on three targets, so the second uses the fourth.
cat >holder.py <<'END'
import os, sys
fds = [os.open("data/%s%d" % (sys.argv[1], i), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644) for i in range(int(sys.argv[2]))]
open("pid", "w").write(str(os.getpid()))
open("ready", "w").close()
open("go").close()
END
site "$work/here" ""
rm -f spool/backlog
mkfifo ready go
timeout "$limit" "$sluice" run --place adaptive -q -o first -- "$(command -v python3)" holder.py first 3 &
first=$!
cat ready
check_eq "$(held first | tr ' ' '\n' | sort | paste -sd ' ')" "0 1 1 1" "files of the first program"
place -q -- touch data/second
check_eq "$(held second | tr 01 10)" "$(held first)" "the second program uses the target that the first does not"
# Control: without the common backlog the second program begins like the first.
SLUICE_SPOOL_DIR=$work/elsewhere place -q -- touch data/third
check_eq "$(held third)" "1 0 0 0" "a program with a backlog of its own"
check_eq "$(held first | cut -d' ' -f1)" 1 "the target that it should have avoided"

# Files of a process that was killed do not count for long.
kill -9 "$(cat pid)"
wait "$first" && fail "the first program was not killed"
for i in $(seq $polls); do
	place -q -- touch "data/next$i"
	[ "$(held "next$i")" = "1 0 0 0" ] && break
	sleep 0.1
done
check_eq "$(held "next$i")" "1 0 0 0" "the targets are free again"

# A slow target gets few files: devices of 30 MiB/s, one of 1 MiB/s.
if [ -z "${BED_INSIDE:-}" ]; then
	skip_case root "throttled devices"
	exit 0
fi
at_exit bed_stop
bed_start "$work/bed" 4 64 && bed_throttle 30 || fail "cannot make devices"
echo "$(mountpoint -d bed/t2) $((1 << 20))" >"$bed_group/blkio.throttle.write_bps_device"
site "$work/bed" ""
bed_run timeout "$limit" "$sluice" run --place adaptive -- "$(command -v python3)" writer.py w 4 12 512 2>err || fail "the program fails: $(cat err)"
read -r a b c d <<<"$(held)"
check_eq $((a + b + c + d)) 48 "files on the devices"
[ "$b" -ge 1 ] && [ "$b" -le 6 ] || fail "files of four devices, the second of which is slow: $a $b $c $d"
# The next program knows it already.
bed_run timeout "$limit" "$sluice" run --place adaptive -q -- "$(command -v python3)" writer.py v 4 3 512 || fail "the program fails"
[ "$(held v | cut -d' ' -f2)" -le 1 ] || fail "files of the next program: $(held v)"
