#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: no space, no permissions, no memory. The program is not affected, and losses are counted and reported.
. "$(dirname "$0")/libtorture.sh"

# The calls of `busy N`: N pwrites of 10 bytes, N/10 preads, N fputs of 5 bytes. The report adds recorded and counted.
check_busy_report() {
	python3 - "$work/report.json" "$1" <<'PYTHON' || wrong "the report's sums are not those of the program"
import json, sys
report, n = json.load(open(sys.argv[1])), int(sys.argv[2])
layers = {layer["layer"]: layer for layer in report["layers"]}
posix, stdio = layers["POSIX"], layers["STDIO"]
assert posix["bytes_written"] == n * 10, posix["bytes_written"]
assert posix["bytes_read"] == n, posix["bytes_read"]
assert stdio["bytes_written"] >= n * 5, stdio["bytes_written"]
assert posix["calls"] >= n + n // 10, posix["calls"]
PYTHON
}

# check_loss_reported: run, print and report show the loss
check_loss_reported() {
	[ "$(lost)" -gt 0 ] || wrong "nothing was lost, so this tests nothing"
	grep -q "lost" captured.err || wrong "run does not report the loss: $(cat captured.err)"
	grep -q "lost" print.err || wrong "print does not report the loss"
	"$sluice" report trace 2>&1 | grep -q "lost" || wrong "report does not show the loss"
}

case_begin "a spool of 1 MiB"
bare "$prog/limits" busy 300000
run_options="--spool-limit 1M" captured "$prog/limits" busy 300000
same_code
same_out
same_files
if [ "$(lost)" -gt 0 ]; then
	check_loss_reported
	check_busy_report 300000
fi

case_begin "the disk of the spool is full"
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=1200k,mode=700 none small 2>/dev/null; then
	at_exit 'umount "$work/small" 2>/dev/null'
	run_options="--spool-dir $work/small" captured "$prog/limits" busy 300000
	same_code
	same_out
	same_files
	check_loss_reported
	check_busy_report 300000
	check_eq "$(ls small)" "" "left on the small disk"

	control=$("$sluice" run -q -o trace -- sh -c 'stat -c %s "$SLUICE_SPOOL/control"')
	case_begin "the disk of the spool has no room for counters"
	# Besides the control page, there is room for the header and the first chunks.
	dd if=/dev/zero of=small/fill bs=1k count=$((1200 - (control + 4095) / 4096 * 4 - 200)) status=none
	run_options="--spool-dir $work/small" captured "$prog/limits" busy 300000
	same_code
	same_out
	same_files
	check_loss_reported
	rm small/fill

	case_begin "the disk of the spool has no room for the header"
	# Besides the control page, there is room for half a header.
	dd if=/dev/zero of=small/fill bs=1k count=$((1200 - (control + 4095) / 4096 * 4 - 16)) status=none || true
	run_options="--spool-dir $work/small" captured "$prog/limits" busy 1000
	same_code
	check_eq "$(cat captured.out)" 1000 "output"
	rm small/fill

	case_begin "the disk of the trace is full"
	dd if=/dev/zero of=small/fill bs=1k count=990 status=none || true
	rm -rf captured && mkdir captured
	rc=0
	(cd captured && "$sluice" run -o "$work/small/trace" -- "$prog/limits" busy 300000) >out 2>err || rc=$?
	check_eq $rc 0 "exit code"
	check_eq "$(cat out)" 300000 "output"
	check_has "$(cat err)" "sluice run: warning: " "stderr"
	spools_gone
	umount small
else
	skip_case mounts "$case"
fi

case_begin "a spool directory that cannot be written"
mkdir -p locked
if [ "$(id -u)" = 0 ]; then
	spool_dir=/proc/self
else
	chmod 500 locked
	spool_dir=$work/locked
fi
bare "$prog/plain"
rm -rf captured && mkdir captured
check_rc 23 env -C captured "$sluice" run --spool-dir "$spool_dir" -o "$work/none" -- "$prog/plain"
check_eq "$(cat out)" "$(cat bare.out)" "stdout"
check_words "$(cat err)" unrecorded
check_has "$(cat err)" "to stderr" "stderr"

case_begin "a trace directory that cannot be written"
rm -rf captured && mkdir captured
check_rc 23 env -C captured "$sluice" run -o /nonexistent/trace -- "$prog/plain"
check_eq "$(cat out)" "$(cat bare.out)" "stdout"
check_words "$(cat err)" unrecorded
check_rc 23 env -C captured SLUICE_TRACE_DIR=/proc/nonexistent "$sluice" run -- "$prog/plain"
check_words "$(cat err)" unrecorded
spools_gone

for bytes in 1000 40000 100000 1000000; do
	case_begin "files are limited to $bytes bytes: Sluice causes no SIGXFSZ"
	bare "$prog/limits" file_size $bytes 10000
	captured "$prog/limits" file_size $bytes 10000
	same_code
	same_out
	same_files
	n=$(rows 'function == "pwrite" and file == "file" and error == 0')
	check_eq $((n + $(lost) >= 40000)) 1 "recorded and lost are all"
done

for mb in 200 64; do
	case_begin "the address space is limited to $mb MB"
	both "$prog/limits" memory $mb 1000
done
check_least 1 'function == "pwrite"'

case_begin "all memory is locked"
both "$prog/limits" locked
check_sound
check_rows 20000 'function == "pwrite" and file == "file"'

case_begin "a program drops root privileges"
need_root
unrecorded=2
both "$prog/limits" drop 65534 1000
check_eq "$(lost)" 0 "lost"
check_rows 1000 'function == "pwrite" and file == "before" and p == 0'
bare "$prog/limits" drop 65534 50000
captured "$prog/limits" drop 65534 50000
same_code
same_out
same_files
n=$(($(rows 'function == "pwrite"') + $(lost))) # other calls may be lost as well
[ $n -ge 50000 ] && [ $n -le 50020 ] || wrong "$n of 50000 writes recorded or lost"

as_nobody() {
	(cd theirs && exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/theirs" \
		SLUICE_TRACE_DIR="$work/theirs/runs" SLUICE_SPOOL_DIR= XDG_CONFIG_HOME=/nonexistent "$@")
}
# set_user_id_program: the body of a case
set_user_id_program() {
	cp "$prog/limits" suid
	chown root suid
	chmod 4755 suid
	chmod 755 "$work"
	id -u nobody >/dev/null 2>&1 || skip nobody "$case"
	cp -r "$BUILD/sluice" "$BUILD/libsluice.so" . 2>/dev/null || true
	mkdir theirs
	chown 65534:65534 theirs
	if as_nobody "$work/sluice" version >/dev/null 2>&1; then
		rc=0
		as_nobody "$work/suid" who >bare.out 2>bare.err || rc=$?
		check_eq $rc 19 "exit code of the bare program"
		check_has "$(cat bare.out)" "effective 1" "the set-user-id bit"
		rc=0
		as_nobody env -u SLUICE_SPOOL_DIR SLUICE_STORE_PATH="$work/theirs/store" "$work/sluice" run -o "$work/theirs/trace" -- "$work/suid" who >captured.out 2>captured.err || rc=$?
		check_eq $rc 19 "exit code"
		check_eq "$(cat captured.out)" "$(cat bare.out)" "stdout"
		check_has "$(cat captured.err)" "set-user-id" "stderr"
		cp theirs/trace "$work/trace"
		trace_read
		check_rows 0 'True'
		# The same program without the bit is recorded for that user.
		chmod 755 suid
		rc=0
		as_nobody env -u SLUICE_SPOOL_DIR SLUICE_STORE_PATH="$work/theirs/store" "$work/sluice" run -o "$work/theirs/trace2" -- "$work/suid" who >captured.out 2>captured.err || rc=$?
		check_eq $rc 19 "exit code"
		check_eq "$(cat captured.err)" "" "stderr"
		cp theirs/trace2 "$work/trace"
		trace_read
		check_rows 1 'function == "write"'
	else
		skip_case nobody "$case"
	fi
}
# binfmt_misc ignores the bit, unless the emulator was registered with the flag C.
if case_on_hardware "another user runs a set-user-id program"; then
	set_user_id_program
fi

case_begin "a program runs in another pid namespace"
if unshare -pf true 2>/dev/null; then
	both unshare -pf sh -c 'for i in 1 2 3; do echo $i >f$i; cat f$i; done; exit 5'
	check_eq "$(lost)" 0 "lost"
	for i in 1 2 3; do
		check_rows 1 "function == 'write' and file == 'f$i'"
	done
	# One after the other, there are more processes than the spool can hold at the same time. Not too many of them are
	# ahead of the collector, however slow it is.
	run_options="--spool-limit 12M" captured unshare -pf sh -c 'i=0; while [ $i -lt 60 ]; do
		/bin/true; cat /dev/null; i=$((i + 1)); sleep 0.01
		while set -- "$SLUICE_SPOOL"/*.spool && [ $# -gt 30 ]; do SLUICE_DISABLE=1 sleep 0.02; done
	done'
	check_eq "$(lost)" 0 "lost"
else
	skip_case namespaces "$case"
fi
