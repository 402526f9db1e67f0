#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice trace recover` reads only data of its user, follows no symbolic links, and never changes a trace that is
# complete or belongs to another run. `sluice run` never overwrites a file that is not a trace.
. "$(dirname "$0")/libtest.sh"
mkdir spools
export SLUICE_SPOOL_DIR=$work/spools

# functions FILE: the names of the recorded functions
functions() {
	"$sluice" report --json "$1" >report.json 2>report.err || fail "no report of $1: $(cat report.err)"
	json_get report.json '["functions"]'
}

# dead_run TRACE: records a run, and keeps a copy of its spools in the directory dead, as a killed collector leaves them.
# The collector may have taken any of their records, and removes spools of processes that have ended.
dead_run() {
	rm -rf dead
	check_rc 0 "$sluice" run -q -o "$1" -- sh -c 'echo x >file; cp -a "$SLUICE_SPOOL" dead || [ -e dead/control ]'
}

# recover CODE ARGUMENTS...: must not hang either
recover() {
	local code=$1
	shift
	check_rc "$code" timeout -k 5 "$limit" "$sluice" trace recover "$@"
}

# A complete trace of the same run is not changed, and its spools are removed.
dead_run t.sluice
cp t.sluice before
recover 0 dead
cmp t.sluice before || fail "a complete trace was changed"
[ ! -e dead ] || fail "the spools of a complete trace are left"
check_has "$(cat out)" t.sluice

# Another run has written a trace of the same name: it is not changed, and the records go into a new trace.
dead_run t.sluice
check_rc 0 "$sluice" run -q -o t.sluice -- cat /dev/null
cp t.sluice before
recover 0 dead
cmp t.sluice before || fail "the trace of another run was changed"
check_words "$(cat err)" t.sluice t-recovered.sluice
functions t-recovered.sluice >/dev/null
check_eq "$(json_get report.json '["complete"]')" False "complete"
check_eq "$(stat -c %a t-recovered.sluice)" 600 "mode of the recovered trace"
# A second one gets another name. The trace may also be gone.
dead_run t.sluice
check_rc 0 "$sluice" run -q -o t.sluice -- cat /dev/null
cp t-recovered.sluice before
recover 0 dead
cmp t-recovered.sluice before || fail "an earlier recovered trace was replaced"
functions t-recovered-2.sluice >/dev/null
dead_run t.sluice
rm t.sluice
recover 0 dead
functions t.sluice >/dev/null

# The directory may be gone, too: the trace is then where traces usually are.
mkdir gone
dead_run gone/t.sluice
rm -r gone
recover 0 dead
check_words "$(cat err)" gone/t.sluice missing runs/t-recovered.sluice
functions runs/t-recovered.sluice >/dev/null

# What has the name of the trace is not followed, opened or replaced unless it is a trace.
echo precious >precious
for kind in link fifo text directory; do
	dead_run t.sluice
	rm -f t.sluice t-recovered*
	case $kind in
	link) ln -s precious t.sluice ;;
	fifo) mkfifo t.sluice ;;
	text) cp precious t.sluice ;;
	directory) mkdir t.sluice ;;
	esac
	recover 0 dead
	check_eq "$(cat precious)" precious "a file after recover"
	functions t-recovered.sluice >/dev/null
	case $kind in
	link) [ -L t.sluice ] || fail "the link was replaced" ;;
	fifo) [ -p t.sluice ] || fail "the FIFO was replaced" ;;
	text) check_eq "$(cat t.sluice)" precious "the file of that name" ;;
	esac
	rm -rf t.sluice
done

# A damaged or replaced control page is an error, and nothing is removed.
for damage in 'truncate -s 100 dead/control' 'truncate -s 0 dead/control' 'rm dead/control' \
	'rm dead/control; mkfifo -m 600 dead/control' 'rm dead/control; ln -s precious dead/control' \
	'chmod 644 dead/control' 'chmod 755 dead' 'mv dead real; ln -s real dead'; do
	rm -rf real
	dead_run t.sluice
	sh -c "$damage"
	recover 1 dead
	check_has "$(cat err)" dead
	[ -e dead ] || fail "$damage: the directory was removed"
done
rm -rf dead real

# -o replaces a trace and an empty file, and nothing else; the program runs all the same.
: >empty
for file in t.sluice empty; do
	check_rc 0 "$sluice" run -q -o $file -- cat precious
	check_eq "$(cat out)" precious "output"
	check_has "$(functions $file)" read
done
ln -s precious link
ln -s nowhere dangling
mkfifo fifo
for file in precious link dangling fifo; do
	for format in container text sqlite; do
		check_rc 7 timeout -k 5 "$limit" "$sluice" run --format $format -o $file -- sh -c 'cat precious; exit 7'
		check_eq "$(cat out)" precious "output"
		check_words "$(cat err)" $file trace
	done
	for format in container text sqlite; do
		check_rc 1 timeout -k 5 "$limit" "$sluice" trace convert --format $format t.sluice $file
	done
done
check_eq "$(cat precious)" precious "a file that is not a trace"
[ -L dangling ] && [ ! -e nowhere ] && [ -p fifo ] || fail "a file that is not a trace was replaced"
check_eq "$(ls spools)" "" "spools that are left"

# Directories of other users.
if [ "$(id -u)" != 0 ]; then
	skip_case root "directories of other users"
	exit 0
fi
. "$(dirname "$0")/libusers.sh"
unset SLUICE_SPOOL_DIR
compile_attack
echo precious >key
planted=/dev/shm/sluice-0-planted-$$
at_exit 'rm -rf "$planted"'
as b "$sluice" run -q -o t.sluice -- true "
evil key
"
as b sh -c 'mkdir -m 777 "$0" && "$1" "$0/control" "$HOME/t.sluice" && chmod 666 "$0/control" &&
	ln -s "$2/key" t.sluice.recovering && chmod 755 "$HOME"' "$planted" "$users/bin/mkcontrol" "$work"
timeout -k 5 "$limit" "$sluice" trace recover >out 2>err || true # it may find runs of other tests
check_eq "$(cat key)" precious "a file of root after recover without operands"
recover 1 "$planted"
check_words "$(cat err)" "$planted" sluice-test-b
check_eq "$(cat key)" precious "a file of root after recover"
[ -e "$planted/control" ] || fail "recover has removed files of b"
