#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Metrics by job of a running daemon: two unprivileged users cannot read those of each other, neither through the port nor
# in the status nor with the token, which only the daemon can read. With the token, all jobs are there.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
. "$(dirname "$0")/libusers.sh"
cp "$BUILD/sluiced" "$prog/patterns" "$users/bin"
export SLUICE_SITE_SOCKET=$users/run/socket SLUICE_SITE_STATE=$users/state SLUICE_SITE_SPOOLS=$users/spools
printf '[policy]\nrule = mode=trace program=patterns\n' >"$work/policy"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start_daemon SLUICE_SITE_METRICS="127.0.0.1:$port" SLUICE_HEALTH_INTERVAL=200ms

# work USER JOB: records a job of the user
work() {
	as "$1" setsid env LD_PRELOAD="$users/bin/libsluice.so" SLUICE_SITE="$users/run" SLURM_JOB_ID="$2" \
		"$users/bin/patterns" small_writes file >/dev/null 2>&1 || true
}
cat >"$users/ask.py" <<'END'
import sys, urllib.request
headers = {"Authorization": "Bearer " + sys.argv[2]} if len(sys.argv) > 2 else {}
print(urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:%s/metrics" % sys.argv[1], headers=headers)).read().decode())
END
python=$(command -v /usr/bin/python3 || command -v python3)

work a 501
work b 502
for _ in $(seq $polls); do
	"$python" "$users/ask.py" "$port" "$(cat "$users/state/metrics.token")" >private
	grep -q 'sluice_job_bytes_total{job_id="501"' private && grep -q 'sluice_job_bytes_total{job_id="502"' private && break
	sleep 0.1
done
check_has "$(cat private)" 'sluice_job_bytes_total{job_id="501",user="sluice-test-a"'
check_has "$(cat private)" 'sluice_job_operations_total{job_id="502",user="sluice-test-b"'
! command -v promtool >/dev/null || check_rc 0 promtool check metrics <private
for user in a b; do
	as $user "$python" "$users/ask.py" "$port" >public
	check_has "$(cat public)" sluice_io_operations_total
	! grep -q 'sluice_job_\|"50[12]"\|sluice-test' public || fail "user $user sees jobs: $(grep 'sluice_job_' public | head -n 3)"
	as $user "$python" "$users/ask.py" "$port" guessed >public
	! grep -q sluice_job_ public || fail "user $user sees jobs with a wrong token"
	! as $user cat "$users/state/metrics.token" >/dev/null 2>&1 || fail "user $user reads the token"
	as $user SLUICE_SITE_SOCKET="$SLUICE_SITE_SOCKET" "$users/bin/sluiced" status --json >status 2>err ||
		fail "user $user gets no status: $(cat err)"
	! grep -q '50[12]"\|sluice-test' status || fail "the status names jobs to user $user: $(cat status)"
done
