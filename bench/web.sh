#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The web application of `sluice serve` on large runs, which are generated (bench/report_trace.c). WEB_STEPS selects them:
#   one      1 million activities of 64 ranks
#   ten      10 million
#   files    10 million, of which a third are reads of a million files
#   hundred  100 million; needs 400 MB of disk space and several minutes
# The default is "one ten files". Each run gets a server for the interface (bench/web_api.py) and a new one, without an
# index, for Chromium (bench/web.mjs), which is left out if this machine does not have it. Bars are compared with the
# wall-clock time, so the machine must be idle; the CPU time of the server is printed as well.
# BUILD names the build tree, WEB_DIR the directory of the traces.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
. "$here/../tests/libnpm.sh"
sluice=$BUILD/sluice generate=$BUILD/bench/bench_report_trace
paint_bar=1000   # ms
step_bar=200     # ms, per request and per key
bundle_bar=250   # KiB
memory_bar=1024  # MiB
workspace "" "${WEB_DIR:-${TMPDIR:-/tmp}}"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; cd /; rm -rf "$work"' EXIT

has_browser() {
	command -v chromium >/dev/null && [ -e "$BUILD/web/installed" ] && npm_install playwright playwright-core@1 axe-core@4
}

# start_server: sets server and address
start_server() {
	rm -f served
	"$sluice" serve --tcp 127.0.0.1:0 runs >served 2>served.err &
	server=$!
	for _ in $(seq 600); do
		[ ! -s served ] || break
		sleep 0.1
	done
	address=$(head -n 1 served)
	[ -n "$address" ] || { cat served.err >&2; exit 1; }
}

stop_server() {
	kill "$server"
	wait "$server" || true
	server=
}

# keep STEP FILE: adds the figures of a file to the closing line, and sets them as variables
keep() {
	local name value
	while read -r name value; do
		key "$1_$name" "$value"
		printf -v "$name" %s "$value"
	done <"$2"
}

# bar STEP WHAT VALUE LIMIT
bar() {
	less "$3" "$4" || miss "$1: $2 took $3 ms, not $4"
}

# measure STEP ACTIVITIES FILES-OF-A-RANK
measure() {
	local step=$1 id
	"$generate" "runs/$step.sluice" "$2" 64 0 64 "$3"
	say "$step: $2 activities, $(($(stat -c %s "runs/$step.sluice") / 1000000)) MB"
	start_server
	/usr/bin/python3 "$here/web_api.py" "$address" "$server" "$step.sluice" small.sluice figures || miss "$step: web_api.py failed"
	stop_server
	keep "$step" figures
	bar "$step" "a window with new edges" "$edge_max_ms" $step_bar
	bar "$step" "a chart of a window" "$new_max_ms" $step_bar
	bar "$step" "a chart of the same window" "$repeated_max_ms" $step_bar
	bar "$step" "a list of long activities" "$min_ns_max_ms" $step_bar
	[ "$memory_mib" -le $memory_bar ] || miss "$step: the server needed $memory_mib MiB, not $memory_bar"
	if has_browser; then
		start_server
		id=$("$sluice" ls --json runs | python3 -c 'import json, sys
print(next(run["id"] for run in json.load(sys.stdin)["runs"] if run["path"].endswith("/" + sys.argv[1])))' "$step.sluice")
		timeout 600 node "$here/web.mjs" "$npm_modules" "$address" "$id" figures || miss "$step: web.mjs failed"
		stop_server
		keep "$step" figures
		bar "$step" "the first paint" "$first_paint_ms" $paint_bar
		bar "$step" "a zoom" "$zoom_max_ms" $step_bar
		bar "$step" "a pan" "$pan_max_ms" $step_bar
	fi
	rm "runs/$step.sluice"
}

one() {
	measure one 1000000 1
}

ten() {
	measure ten 10000000 1
}

files() {
	measure files 10000000 15625
}

hundred() {
	measure hundred 100000000 1
}

# The size of the application, compressed as it is sent.
bundle() {
	local bytes
	[ -e "$BUILD/web/installed" ] || return 0
	bytes=$(cat "$BUILD/web/dist"/* | wc -c)
	say "bundle: $bytes bytes"
	key bundle_bytes "$bytes"
	[ "$bytes" -le $((bundle_bar * 1024)) ] || miss "the bundle has $bytes bytes, not $bundle_bar KiB"
}

mkdir runs
"$generate" runs/small.sluice 100000 64
bundle
for step in ${WEB_STEPS:-one ten files}; do
	"$step"
done
finish web
