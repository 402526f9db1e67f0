# SPDX-License-Identifier: BSD-3-Clause
# The flight recorder writes no calls to the trace without an anomaly, and after one exactly the calls that it held.
# Papers: SIOX-30, SIOX-64.
. "$(dirname "$0")/libtest.sh"
: "${SOURCE:?names the source tree}" "${CC:=cc}"
# A killed collector leaves its spools behind.
export SLUICE_SPOOL_DIR=$work/spool
mkdir "$SLUICE_SPOOL_DIR"

"$CC" -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE/include" -o detector.so \
	"$SOURCE/tests/prog/plugins/detector.c"
# The program makes 1000 writes and an anomaly, pauses until the test lets it continue, and makes 500 more writes.
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
int main(void)
{
	writes("early", 1000);
	close(open("trigger", O_WRONLY | O_CREAT, 0600));
	close(open("go", O_RDONLY));
	writes("late", 500);
	return 5;
}
EOF
"$CC" -O1 -o program program.c
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugins]
load = $work/detector.so
[capture]
mode = flight
[flight]
ring = 300
[reason]
cycle = 100ms
# On a node that is known to be busy, slow calls would not be an anomaly.
[stats]
period = 0
EOF

# flight NAME: prints a number of the recorder's report
flight() {
	"$sluice" trace convert --format text t.sluice t.txt
	sed -n "s|^#note.*source=flight_recorder.*name=$1	value=||p" t.txt
	rm t.txt
}

# Without an anomaly, the trace has files and processes, but no calls.
mkfifo go
(sleep 0.2 && : >go) &
sed -i 's/trigger/nothing/' program.c && "$CC" -O1 -o calm program.c
check_rc 5 timeout "$limit" "$sluice" run -o t.sluice -- ./calm
check_eq "$("$sluice" print t.sluice | wc -l)" 0
check_eq "$(flight calls/shipped)" 0
check_eq "$(flight shipments)" 0
check_eq "$(flight 'calls/held')" 300
[ "$(flight calls/seen)" -ge 1500 ] || fail "calls seen: $(flight calls/seen)"
check_eq "$(($(flight calls/overwritten) + 300))" "$(flight calls/seen)"

# shipped_wait: starts the program and waits until its calls have been shipped; sets $run to its pid
shipped_wait() {
	rm -f t.sluice
	timeout "$limit" "$sluice" run -o t.sluice -- ./program &
	run=$!
	for _ in $(seq $polls); do
		[ "$("$sluice" print t.sluice 2>/dev/null | wc -l)" -lt 300 ] && kill -0 $run 2>/dev/null || break
		sleep 0.05
	done
}

# With an anomaly, the trace has the 300 calls before it, in order, and none after it.
shipped_wait
: >go
rc=0
wait $run || rc=$?
check_eq "$rc" 5 "exit code"
"$sluice" print t.sluice >printed
check_eq "$(wc -l <printed)" 300
check_eq "$(grep -c 'pwrite(' printed)" 297
check_eq "$(grep -o 'file/position=[0-9]*' printed | cut -d= -f2 | tr '\n' ' ')" "$(seq -s ' ' 703 999) "
check_has "$(tail -n 2 printed | head -n 1)" "/trigger"
check_has "$(tail -n 1 printed)" "close("
check_eq "$(flight calls/shipped)" 300
check_eq "$(flight shipments)" 1
check_eq "$(flight 'calls/held')" 300
check_eq "$(($(flight calls/overwritten) + 600))" "$(flight calls/seen)"
"$sluice" trace convert --format text t.sluice t.txt
grep -q 'kind=anomaly.*name=process bad' t.txt || fail "the anomaly is not noted: $(grep '#note' t.txt)"
grep -q 'kind=anomaly.*name=system bad' t.txt || fail "the anomaly did not reach the system"

# If the collector is killed, only the shipped calls are recovered.
shipped_wait 2>err
kill -KILL "$(recorder_of "$(pgrep -P $run -x sluice)")"
: >go
rc=0
wait $run || rc=$?
check_eq "$rc" 5 "exit code"
check_has "$(cat err)" "300 calls"
check_eq "$("$sluice" print t.sluice | wc -l)" 300

# Without a plug-in that detects anomalies, the user gets a warning.
timeout "$limit" "$sluice" --set plugins.load= run --mode flight -o t.sluice -- true 2>err
check_words "$(cat err)" plug-in anomalies
