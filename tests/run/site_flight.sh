#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With mode=flight in the policy, the daemon keeps the latest calls of a run, and writes them to the trace when the
# detector signals an anomaly, as `sluice run` does with capture.mode=flight. 'sluice site forget' removes the traces of
# the daemon, too.
# Papers: SIOX-30, SIOX-AC-8.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
: "${SOURCE:?names the source tree}" "${CC:=cc}"
kept=$work/state/traces/$(id -u)
database=$work/site.db

"$CC" -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE/include" -o detector.so "$SOURCE/tests/prog/plugins/detector.c"
# 1000 writes, the anomaly if the argument is "trigger", a pause, and 500 writes.
cat >program.c <<'EOF'
#include <fcntl.h>
#include <unistd.h>
static void writes(const char *name, int count)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < count; i++)
		if (pwrite(fd, "x", 1, i) != 1)
			_exit(1);
	close(fd);
}
int main(int argc, char **argv)
{
	writes("early", 1000);
	close(open(argv[argc - 1], O_WRONLY | O_CREAT, 0600));
	close(open("go", O_RDONLY));
	writes("late", 500);
	return 0;
}
EOF
"$CC" -O1 -o program program.c
mkfifo go
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugins]
load = $work/detector.so
[flight]
ring = 300
[reason]
cycle = 100ms
[stats]
period = 0
EOF

state() {
	ls -l "$kept"
	"$sluiced" status
	cat "$work/daemon.log"
}

# start WORD: starts the program below the site; sets $program
start() {
	setsid env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" SLURM_JOB_ID="$1" ./program "$1" &
	program=$!
}

# notes_of TRACE NAME: a number of the recorder's report
notes_of() {
	"$sluice" trace convert --format text "$1" t.txt
	sed -n "s|^#note.*source=flight_recorder.*name=$2	value=||p" t.txt
	rm t.txt
}

newest() {
	ls -t "$kept"/*.sluice | head -n 1
}

chmod 755 "$work"
printf '[policy]\nrule = mode=flight program=program\n' >"$work/policy"
start_daemon SLUICE_SITE_DATABASE="$database"

# Without an anomaly, no call is written.
start calm
: >go
wait $program
wait_for "trace" traces_are 1
check_eq "$("$sluice" print "$(newest)" | wc -l)" 0 "calls without an anomaly"
check_eq "$(notes_of "$(newest)" calls/held)" 300 "calls that were held"

# With an anomaly, the calls before it are written while the program runs.
start trigger
partial_has_calls() {
	local file
	for file in "$kept"/*.partial*; do
		cp "$file" "$work/partial.sluice" 2>/dev/null && [ "$("$sluice" print "$work/partial.sluice" 2>/dev/null | wc -l)" -gt 0 ] &&
			return 0
	done
	return 1
}
wait_for "calls before the anomaly" partial_has_calls
: >go
wait $program
wait_for "second trace" traces_are 2
check_eq "$("$sluice" print "$(newest)" | wc -l)" 300 "calls with an anomaly"
check_eq "$("$sluice" print "$(newest)" | grep -c late)" 0 "calls after the anomaly"
check_eq "$(notes_of "$(newest)" calls/shipped)" 300 "calls that were shipped"

# What is forgotten in the database disappears from the node.
wait_for "runs in the database" row_is "SELECT count(*) FROM run" 2
trace=$(newest)
uuid=${trace##*-}
check_rc 0 "$sluice" site forget --database "$database" "${uuid%.sluice}"
stop_process $daemon
start_daemon SLUICE_SITE_DATABASE="$database"
wait_for "removal of the run's trace" traces_are 1
[ ! -e "$trace" ] || fail "the wrong trace was removed"
check_eq "$(ls "$kept" | grep -c "${uuid%.sluice}")" 0 "files of the run"
check_rc 0 "$sluice" site forget --database "$database" "$(id -un)"
stop_process $daemon
start_daemon SLUICE_SITE_DATABASE="$database"
wait_for "removal of the user's traces" traces_are 0
wait_for "end of the queue" frames_are 0
