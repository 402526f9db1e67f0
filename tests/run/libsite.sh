# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers for tests in which the policy of a site makes processes record; sources libtorture.sh. The collecting half of
# the daemon is the driver prog/handover. Traces of runs are in $site_traces, and $site_log has what the driver prints.
. "$(dirname "${BASH_SOURCE[0]}")/libtorture.sh"

site=$work/site
site_traces=$work/traces
site_log=$work/site.log
site_policy=$work/policy
site_pid=
mkdir -m 755 "$site" "$work/own"
# Spools of `sluice run` are elsewhere, so that spools_gone shows what the site has left.
export SLUICE_SPOOL_DIR=$work/own
: >"$site_log"
printf '[policy]\nrule = mode=trace\n' >"$site_policy"
at_exit 'site_stop'

# site_start [LINGER_MS]: starts the driver and waits until it is ready
site_start() {
	local ready try
	ready=$(grep -c ^ready "$site_log" || true)
	setsid "$prog/handover" "$site" "$spools" "$site_traces" "$site_policy" "${1:-300}" >>"$site_log" 2>>"$work/site.err" &
	site_pid=$!
	for try in $(seq $polls); do
		[ "$(grep -c ^ready "$site_log" || true)" = "$ready" ] || return 0
		kill -0 $site_pid 2>/dev/null || fail "the driver does not start: $(cat "$work/site.err")"
		sleep 0.05
	done
	fail "the driver is not ready"
}

# site_stop [SIGNAL]: runs that are not over are left to the next driver
site_stop() {
	[ -n "$site_pid" ] || return 0
	kill -"${1:-TERM}" $site_pid 2>/dev/null || true
	wait $site_pid 2>/dev/null || true
	site_pid=
}

# under_site COMMAND...: the command, preloaded as a site does it, in a session of its own
under_site() {
	setsid env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$site" "$@"
}

site_ends() {
	grep -c '^end ' "$site_log" || true
}

# site_wait NUMBER: waits until the driver has completed more than NUMBER runs, and copies the last trace to $work/trace
site_wait() {
	local try
	for try in $(seq $polls); do
		[ "$(site_ends)" -le "$1" ] || break
		kill -0 $site_pid 2>/dev/null || wrong "the driver died: $(cat "$work/site.err")"
		sleep 0.05
	done
	[ "$(site_ends)" -gt "$1" ] || wrong "no run was completed: $(cat "$work/site.err")"
	cp "$(grep "^end " "$site_log" | tail -n 1 | sed 's/^end [0-9]* [a-z]* [0-9]* [0-9]* [^ ]* //')" "$work/trace"
	trace_read
}

# Replaces the function of libtorture.sh: `both COMMAND...` compares a run without Sluice with one that the site records.
captured() {
	local ends
	ends=$(site_ends)
	rm -rf "$work/captured" "$work/trace"
	mkdir "$work/here"
	captured_rc=0
	(cd "$work/here" && exec timeout -k 5 "$limit" setsid env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$site" "$@") \
		</dev/null >"$work/captured.out" 2>"$work/captured.err" || captured_rc=$?
	mv "$work/here" "$work/captured"
	[ "$captured_rc" != 124 ] || wrong "\"$*\" hangs under capture"
	site_wait "$ends"
	spools_gone
}
