#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of two users under `sluice run --place adaptive` take each other's outstanding bytes into account through sluiced,
# unless the site or the user has switched it off. What a hostile user claims has little effect, and harms nobody.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
. "$(dirname "$0")/libusers.sh"
cp "$BUILD/sluiced" "$users/bin"
export SLUICE_SITE_SOCKET=$users/run/socket SLUICE_SITE_STATE=$users/state SLUICE_SITE_SPOOLS=$users/spools
python=/usr/bin/python3
[ -x $python ] || python=python3
{
	echo "[targets]"
	for i in 1 2 3 4; do
		mkdir -p "$users/targets/t$i"
		chmod 1777 "$users/targets/t$i"
		echo "t$i = $users/targets/t$i"
	done
} >"$users/site.ini"
printf '[probe]\nsite = %s\n[site]\nsocket = %s\n' "$users/site.ini" "$SLUICE_SITE_SOCKET" >"$users/etc.conf"
chmod 644 "$users/site.ini" "$users/etc.conf"
# holder.py PREFIX FILES: keeps files open until the file `stop` exists
cat >"$users/holder.py" <<'PYTHON'
import os, sys, time
fds = [os.open("%s%d" % (sys.argv[1], i), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644) for i in range(int(sys.argv[2]))]
open("ready", "w").close()
while not os.path.exists("stop"):
    time.sleep(0.05)
PYTHON

# held PREFIX: prints the number of files on each target, of those whose name starts with PREFIX
held() {
	local i
	for i in 1 2 3 4; do find "$users/targets/t$i" -type f -name "$1*.sluice.*" | wc -l; done | paste -sd ' '
}

# place USER [NAME=VALUE]... [--] COMMAND...: runs the command with placement
place() {
	local user=$1 variables=()
	shift
	while [[ $1 == *=* ]]; do
		variables+=("$1")
		shift
	done
	as "$user" "${variables[@]}" timeout "$limit" "$sluice" run --place adaptive -q -o trace -- "$@"
}

# hold: user a keeps three files open; sets $free to what `held` prints for one file on the other target
count=0
hold() {
	count=$((count + 1))
	rm -rf /dev/shm/sluice-"$uid_a" /dev/shm/sluice-"$uid_b"
	as a rm -f ready stop
	place a "$python" "$users/holder.py" "hold$count-" 3 2>hold.err &
	holder=$!
	at_exit "kill $holder 2>/dev/null || true"
	wait_for "files of user a" [ -e "$users/a/ready" ]
	free=$(held "hold$count-" | tr 01 10)
	check_eq "$(tr ' ' '\n' <<<"$free" | sort | paste -sd ' ')" "0 0 0 1" "targets without a file of user a"
	[ "$free" != "1 0 0 0" ] || fail "user a does not use the first target"
}

release() {
	as a touch stop
	wait "$holder" || fail "the program of user a has failed: $(cat hold.err)"
}

# places_on HELD [NAME=VALUE]...: does a new file of user b come to this target?
tries=0
places_on() {
	local expected=$1
	shift
	tries=$((tries + 1))
	place b "$@" touch "try$tries-" || fail "the program of user b has failed"
	[ "$(held "try$tries-")" = "$expected" ]
}

# ignores_a [NAME=VALUE]...: user b uses the first target, now and later
ignores_a() {
	local i
	wait_for "file of user b on the first target: $*" places_on "1 0 0 0" "$@"
	for i in 1 2; do
		places_on "1 0 0 0" "$@" || fail "user b knows of user a: $*"
	done
}

# Without a daemon, and with one that does not let them know of each other.
hold
ignores_a
release
start_daemon SLUICE_PLACE_SHARE=off
hold
ignores_a
check_eq "$(status '["backlogs"]["messages"]')" 0 "messages that were answered with sums"
release
stop_process "$daemon"

# With a daemon, user b uses the target that user a does not; only b's own settings can prevent that.
start_daemon
worker=$(worker_of "$daemon")
hold
wait_for "file of user b on the free target" places_on "$free"
[ "$(status '["backlogs"]["messages"]')" -ge 2 ] || fail "the daemon has no messages"
[ "$(status '["backlogs"]["shared"]')" -ge 1 ] || fail "the daemon has no backlog"
ignores_a SLUICE_PLACE_SHARE=off
ignores_a SLUICE_SITE_USE=no
wait_for "file of user b on the free target" places_on "$free"
release
# When the runs have ended, nothing is known of them, and nobody asks.
nobody_asks() {
	[ "$(status '["backlogs"]["shared"]')" = 0 ]
}
wait_for "daemon without backlogs" nobody_asks
before=$(status '["backlogs"]["messages"]')
sleep 1
check_eq "$(status '["backlogs"]["messages"]')" "$before" "messages while nobody places files"

# The run goes on asking after the daemon was killed.
hold
wait_for "file of user b on the free target" places_on "$free"
kill -9 "$worker"
wait_for "file of user b on the free target" places_on "$free"
new_worker() {
	worker=$(worker_of "$daemon") && [ "$(status '["backlogs"]["messages"]')" -ge 1 ]
}
wait_for "new worker" new_worker
wait_for "file of user b on the free target" places_on "$free"

# User a writes into his own backlog what he likes: b's files are placed, and the daemon does not notice.
cat >hostile.c <<'CODE'
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "contract/backlog.h"
/* hostile BACKLOG huge|garbage|empty */
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR);
	struct backlog *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (argc < 3 || b == MAP_FAILED)
		return 1;
	if (*argv[2] == 'e')
		return ftruncate(fd, 0) != 0;
	for (size_t i = 0; *argv[2] == 'g' && i < sizeof(*b); i++)
		((unsigned char *)b)[i] = (unsigned char)(i * 2654435761u >> 13);
	for (int i = 0; *argv[2] == 'h' && i < BACKLOG_FILES; i++)
		if (b->files[i].owner)
			b->files[i].expected = b->files[i].call_bytes = UINT64_MAX, b->files[i].call_ns = 1;
	return 0;
}
CODE
"${CC:-cc}" -D_GNU_SOURCE -I"$SOURCE/src" -I"$SOURCE/include" -o "$users/bin/hostile" hostile.c

# many: user b keeps 44 files open at once; sets $on to their number on each target. Files of the run before must not
# count: it takes a second until they are known to be closed.
many() {
	tries=$((tries + 1))
	rm -rf /dev/shm/sluice-"$uid_b"
	as b rm -f ready
	as b touch stop
	place b "$python" "$users/holder.py" "many$tries-" 44 || fail "the program of user b has failed"
	on=$(held "many$tries-")
	check_eq $((${on// / + })) 44 "files of user b on $on"
}
# Three targets seem to have exabytes to write. They get files, but fewer than the fourth.
avoids_them() {
	local n most=0
	many
	for n in $on; do
		[ "$n" -ge 3 ] || fail "user a keeps user b away from a target: $on"
		[ "$n" -le $most ] || most=$n
	done
	[ $most -ge 24 ]
}
as a "$users/bin/hostile" "/dev/shm/sluice-$uid_a/backlog" huge
wait_for "effect of the claims" avoids_them
for attack in garbage empty; do
	as a "$users/bin/hostile" "/dev/shm/sluice-$uid_a/backlog" $attack
	many
done
as a touch stop
wait "$holder" || true
check_eq "$(worker_of "$daemon")" "$worker" "the worker, which must not have been replaced"
status '["backlogs"]' >/dev/null
