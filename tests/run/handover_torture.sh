#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that a site records behave as without it, whatever they do with descriptors, processes and system calls.
. "$(dirname "$0")/libsite.sh"
site_start

case_begin "a program that closes all descriptors"
cat >closes.py <<'END'
import os
os.closerange(3, 4096)
fd = os.open("data", os.O_CREAT | os.O_WRONLY)
assert fd == 3, fd
for i in range(60000):
    os.pwrite(fd, b"x", i)
print(sorted(os.listdir("/proc/self/fd"))[:8])
END
both "$python" "$work/closes.py"
check_rows 60000 'function == "pwrite64" or function == "pwrite"'

case_begin "descriptors of the program"
for case in $("$prog/descriptors" 2>&1 | tr ' |' '\n\n' | grep -E '^[a-z_]+$' | sort -u); do
	case $case in usage) continue ;; esac
	timeout 20 "$prog/descriptors" "$case" >/dev/null 2>&1 </dev/null || continue
	both "$prog/descriptors" "$case"
done

case_begin "a storm of processes"
both sh -c 'i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i + 1)); done; for i in 1 2 3 4 5 6 7 8; do (mkdir $i && cd $i && exec "$0") & done; wait' \
	"$prog/plain"
[ "$(json_get report.json '["run"]["processes"]')" -ge 159 ] || wrong "processes are missing"
check_sound

case_begin "a sandbox"
grep -q '^Seccomp:' /proc/self/status || skip seccomp
for function in prctl syscall; do
	both "$prog/sandbox" filter kill $function
	both "$prog/sandbox" filter error $function
done
both "$prog/sandbox" threads
both "$prog/sandbox" strict
both "$prog/sandbox" forks

case_begin "a program that starts in a sandbox makes no system call for the site"
bare "$prog/sandbox" denies kill "$prog/sandbox" failed
captured_rc=0
ends=$(site_ends)
(mkdir inner && cd inner && under_site "$prog/sandbox" denies kill "$prog/sandbox" failed) >captured.out 2>captured.err ||
	captured_rc=$?
check_eq "$captured_rc" "$bare_rc" "exit code"
# The process that installs the filter is recorded until then.
site_wait "$ends"

case_begin "a program that is linked statically"
ends=$(site_ends)
under_site "$prog/static" >/dev/null 2>&1 || true
sleep 0.5
check_eq "$(site_ends)" "$ends" "runs"

case_begin "small stacks"
both "$prog/small_stack"

if [ "$(id -u)" = 0 ]; then
	case_begin "a set-user-id program is not touched"
	cp "$prog/plain" suid
	chown 65534 suid
	chmod 4755 suid
	ends=$(site_ends)
	under_site ./suid >/dev/null 2>&1 || true
	sleep 0.5
	check_eq "$(site_ends)" "$ends" "runs"
fi

case_begin "no descriptor is left open in children"
both sh -c 'ls /proc/self/fd | sort'
spools_gone
site_stop
