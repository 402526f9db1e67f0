#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Nothing is missing silently: processes that cannot be recorded and lost calls are counted with their cause, and every
# command shows them.
. "$(dirname "$0")/libtest.sh"

case_is() {
	this=$*
}

wrong() {
	fail "$this: $*"
}

# record CODE COMMAND...: records the command, which must exit with this code, into $trace
run_options=
trace=trace.sluice
record() {
	local expected=$1 rc=0
	shift
	# shellcheck disable=SC2086
	timeout "$limit" "$sluice" run $run_options -o "$trace" -- "$@" >run.out 2>run.err || rc=$?
	check_eq "$rc" "$expected" "$this: exit code ($(cat run.err))"
	"$sluice" report --json "$trace" >report.json 2>/dev/null
}

# unrecorded CAUSE: the number of processes that were not recorded because of it
unrecorded() {
	python3 - report.json "$1" <<'PYTHON'
import json, sys
losses = json.load(open(sys.argv[1]))["losses"]
print(sum(u["processes"] for u in losses["unrecorded"] if u["cause"] == sys.argv[2]))
PYTHON
}

# lost CAUSE: the number of calls that were lost because of it
lost() {
	json_get report.json "[\"losses\"][\"causes\"].get(\"$1\", 0)"
}

# check_shown WORDS...: run, its summary, report and print say so, and ls marks the run
check_shown() {
	check_words "$(cat run.err)" "$@"
	check_words "$("$sluice" report "$trace" 2>&1)" "$@"
	check_words "$("$sluice" print "$trace" 2>&1 >/dev/null)" "$@"
	mkdir -p listed
	cp "$trace" listed/trace.sluice
	case $("$sluice" ls listed) in
	*partial* | *"with losses"*) ;;
	*) wrong "ls shows a complete run" ;;
	esac
	"$sluice" print --json "$trace" >print.json 2>/dev/null
	"$sluice" ls --json listed >ls.json
	check_eq "$(json_get print.json '["losses"]')" "$(json_get report.json '["losses"]')" "$this: print --json"
	check_eq "$(json_get ls.json '["runs"][0]["losses"]')" "$(json_get report.json '["losses"]')" "$this: ls --json"
}

# check_unrecorded CAUSE COUNT WORDS...: exactly this many processes, all because of this
check_unrecorded() {
	local cause=$1 count=$2
	shift 2
	check_eq "$(unrecorded "$cause")" "$count" "$this: processes of cause $cause in $(json_get report.json '["losses"]')"
	check_eq "$(json_get report.json '["losses"]["unrecorded_processes"]')" "$count" "$this: unrecorded processes"
	check_shown "$count process$([ "$count" = 1 ] || echo es)" "not be recorded" "$@"
}

# check_lost CAUSE WORDS...: calls were lost, all because of this
check_lost() {
	local cause=$1 n
	shift
	n=$(json_get report.json '["losses"]["activities"]')
	[ "$n" -gt 0 ] || wrong "nothing was lost, so this tests nothing"
	check_eq "$(lost "$cause")" "$n" "$this: calls of cause $cause in $(json_get report.json '["losses"]')"
	check_shown "$n calls" lost "$@"
}

cp "$prog/static" "$prog/losses" "$prog/limits" .

case_is "complete"
record 0 sh -c 'i=0; while [ $i -lt 50 ]; do /bin/true; env true; (:) & i=$((i + 1)); done; wait; ! /nonexistent 2>/dev/null'
check_eq "$(json_get report.json '["losses"]["unrecorded"]')" "[]" "$this: unrecorded"
check_eq "$(cat run.err)" "" "$this: stderr"
record 127 ./nonexistent
check_eq "$(json_get report.json '["losses"]["unrecorded"]' 2>/dev/null || echo "[]")" "[]" "$this: a program that does not exist"
record 0 ./losses each /bin/true
check_eq "$(json_get report.json '["losses"]["unrecorded"]')" "[]" "$this: unrecorded"

case_is "static"
./losses each "$PWD/static" >bare.out 2>/dev/null
record 0 ./losses each "$PWD/static"
check_eq "$(cat run.out)" "$(cat bare.out)" "$this: output"
check_unrecorded static 14 "statically linked" "$PWD/static"
record 23 sh -c ./static
check_unrecorded static 1 "statically linked" "dynamically"
record 23 ./static
check_unrecorded static 1 "statically linked"
timeout "$limit" "$sluice" run --summary -o "$trace" -- sh -c './static; ./static; env -i ./limits busy 1' 2>summary >/dev/null
check_words "$(grep incomplete summary)" "3 processes" "2 statically linked" "1 cleared environment"

case_is "other formats keep the counts"
for to in text sqlite; do
	"$sluice" trace convert --format $to "$trace" converted.$to 2>convert.err
	check_words "$(cat convert.err)" "2 processes" "statically linked"
	"$sluice" trace convert --format container converted.$to back.$to 2>/dev/null
	"$sluice" report --json "$trace" >report.json 2>/dev/null
	for path in converted.$to back.$to; do
		"$sluice" report --json $path >other.json 2>/dev/null
		check_eq "$(json_get other.json '["losses"]')" "$(json_get report.json '["losses"]')" "$this: $path"
	done
done
for rank in 0 1 2 3; do
	env PMI_RANK=$rank PMI_SIZE=4 MPI_LOCALNRANKS=2 SLUICE_JOB=losses SLUICE_SPOOL_DIR="$work" \
		"$sluice" run -o merged.sluice -- sh -c "./static; sleep 0.2" >/dev/null 2>&1 &
	[ $rank != 1 ] || wait
done
wait
"$sluice" report --json merged.sluice >report.json 2>/dev/null
check_eq "$(unrecorded static)" 4 "$this: merged"

case_is "cleared environment"
record 0 sh -c 'env -i ./limits busy 10; true'
check_unrecorded environment 1 environment LD_PRELOAD
record 0 ./losses shells
check_eq "$(cat run.out)" "system 3
popen 4" "$this: output"
check_unrecorded environment 2 environment /bin/sh

case_is "disabled on purpose"
record 0 sh -c 'SLUICE_DISABLE=1 ./static; env -i SLUICE_DISABLE=1 ./limits busy 10'
check_eq "$(json_get report.json '["losses"]["unrecorded"]')" "[]" "$this: unrecorded"

case_is "musl"
if command -v musl-gcc >/dev/null; then
	printf '#include <stdio.h>\nint main(void) { FILE *f = fopen("musl.out", "w"); return fputs("x", f) < 0 || fclose(f) ? 1 : 5; }\n' >musl.c
	musl-gcc -o musl musl.c
	record 5 ./musl
	check_unrecorded musl 1 musl
	record 5 sh -c './musl; exit $?'
	check_unrecorded musl 1 musl
else
	skip_case musl-tools "$this"
fi

# gosu is linked statically, fzf dynamically.
for go in gosu fzf; do
	case_is "Go: $go"
	if command -v $go >/dev/null; then
		record 0 sh -c "$go --version; true"
		check_unrecorded go 1 Go
	else
		skip_case $go "$this"
	fi
done

case_is "another machine type"
if printf '.globl _start\n_start: mov $1, %%eax\nmov $7, %%ebx\nint $0x80\n' | as --32 -o foreign.o - 2>/dev/null &&
	ld -m elf_i386 -o foreign foreign.o 2>/dev/null && (./foreign || [ $? = 7 ]); then
	record 7 sh -c './foreign; exit $?'
	check_unrecorded machine 1 "machine type"
else
	skip_case i386 "$this"
fi

case_is "the limit of the spool"
run_options="--spool-limit 64K" record 0 ./limits busy 1000
check_lost spool_limit spool.limit

case_is "the limit on file sizes"
record 0 ./limits file_size 1000 100000
check_eq "$(unrecorded file_size)" 2 "$this: the forked child and the executed program"
check_lost file_size "ulimit -f" "2 processes"

# The command runs while the recorder is stopped, which could otherwise make room in time for all calls of a slow program.
hurried='recorder=$(SLUICE_DISABLE=1 pgrep -P $PPID -x sluice-recorder) && kill -STOP $recorder || exit 98
"$@"
code=$?
kill -CONT $recorder
exit $code'

case_is "the limit on address space"
record 0 sh -c "$hurried" sh ./losses memory 300000
check_lost address_space "ulimit -v"

case_is "a seccomp filter"
rc=0
./losses sandbox 1 || rc=$?
if [ $rc = 0 ]; then
	record 0 sh -c "$hurried" sh ./losses sandbox 300000
	check_lost sandbox seccomp
else
	skip_case seccomp "$this"
fi

[ "$(id -u)" = 0 ] || skip root "other users and file systems"

case_is "exec as another user"
chmod 755 "$work"
record 0 ./limits drop 65534 10
check_unrecorded user 2 "another user"

case_is "a set-user-id program"
cp "$BUILD/sluice" "$BUILD/libsluice.so" .
cp limits suid
chmod 4755 suid
mkdir theirs
chown 65534:65534 theirs
as_nobody() {
	(cd theirs && exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/theirs" \
		SLUICE_TRACE_DIR="$work/theirs/runs" SLUICE_STORE_PATH="$work/theirs/store" XDG_CONFIG_HOME=/nonexistent "$@")
}
rc=0
as_nobody "$work/suid" who >bare.out || rc=$?
check_eq $rc 19 "$this: exit code of the bare program"
if grep -q "effective 1" bare.out; then
	rc=0
	as_nobody "$work/sluice" run -o "$work/theirs/trace" -- sh -c "$work/suid who; exit \$?" >run.out 2>run.err || rc=$?
	check_eq $rc 19 "$this: exit code"
	cp theirs/trace "$trace"
	"$sluice" report --json "$trace" >report.json 2>/dev/null
	check_unrecorded privileges 1 set-user-id "$work/suid"
else
	skip_case setuid "$this"
fi

case_is "a mount namespace with a /dev/shm of its own"
if unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	run_options="--spool-dir /dev/shm" record 0 unshare -m sh -c 'mount -t tmpfs none /dev/shm; ./limits busy 10; (./limits busy 10); true'
	check_unrecorded namespace 2 "mount namespace" spool.dir
else
	skip mounts "$this"
fi

case_is "no space for records"
mkdir small
control=$("$sluice" run -q -o "$trace" -- sh -c 'stat -c %s "$SLUICE_SPOOL/control"')
pages=$(((control + 4095) / 4096))
mount -t tmpfs -o size=$((pages * 4 + 60))k none small
at_exit 'umount "$work/small" 2>/dev/null'
run_options="--spool-dir $work/small" record 0 ./limits busy 1000
check_lost no_space space spool.dir
umount small

case_is "no space for a spool"
mount -t tmpfs -o size=$((pages * 4 + 12))k none small
run_options="--spool-dir $work/small" record 0 ./limits busy 1000
check_unrecorded no_space 1 space spool.dir
