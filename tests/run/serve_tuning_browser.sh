#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages about tunings in a real browser, with real tunings that run meanwhile: serve_tuning_browser.mjs lists what is
# checked.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
need_browser
store=$XDG_DATA_HOME/sluice/store.db
state() {
	cat "$work"/*.out "$store".tunings/*.log 2>/dev/null || true
}

# Pages without data.
serve --tcp 127.0.0.1:0 --base-path /sluice
browse serve_tuning_browser empty

# A tuning on a simulated platform is calculated within seconds.
check_rc 0 "$sluice" tune --simulate hopper --kernel vpic --ranks 2048

# Its entry is shown as one that turned out to be slower; run_tuned_guard.sh tests how that is found.
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE knowledge SET demoted = 1794912854505713225, reason = ?", ("3 runs took longer than <b>all</b> without it",))' "$store"

# A program that is slow with small blocks; it waits after its fifth run until the browser lets it go on.
name='<img src=x onerror=alert(1)>'
cat >"$name" <<-'END'
	#!/bin/sh
	SLUICE_DISABLE=1 sh -c 'echo run >>"$1"' sh "$2.count"
	while [ -e "$2.hold" ] && [ "$(wc -l <"$2.count")" -gt 5 ]; do sleep 0.05; done
	exec dd if=/dev/zero of="$2" "bs=$1" count=1M iflag=count_bytes status=none
END
chmod +x "$name"
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "{block}", "values": [1024, 4096, 65536, 524288], "default": 1024},
	{"name": "env:HINT", "values": [null, "</script><script>alert(2)</script>"]}]}' >space.json

# start NAME: starts a tuning as a terminal would; a shell would let it ignore SIGINT in the background.
start() {
	: >"$1.hold"
	at_exit "rm -f '$work/$1.hold'"
	python3 -c 'import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "w"), stderr=subprocess.STDOUT, start_new_session=True)' "$1.out" \
		"$sluice" tune --space space.json --search random --runs 12 --repeat 2 --pairs 6 --timeout-factor 1000 -- "./$name" {block} "$1"
	wait_for "runs of $1" has_runs "$1.count"
}
has_runs() {
	[ -e "$1" ] && [ "$(wc -l <"$1")" -gt 5 ]
}
start followed
browse serve_tuning_browser follow "$work/followed.hold"
start stopped
browse serve_tuning_browser stop "$work/stopped.hold"
browse serve_tuning_browser looks
