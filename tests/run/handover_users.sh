#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A daemon of a user of its own records the processes of two users. They cannot read what is recorded of each other, and
# the daemon gets no more than what they hand over.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libusers.sh"

daemon=nobody
id -u $daemon >/dev/null 2>&1 || skip nobody
site=$(mktemp -d /run/sluice-test.XXXXXX) || skip root
traces=$users/traces
driver=
at_exit '[ -z "$driver" ] || kill "$driver" 2>/dev/null; rm -rf "$site"'
chmod 755 "$site"
mkdir -m 700 "$traces"
chown $daemon "$site" "$traces"
cp "$prog/handover" "$prog/plain" "$users/bin"
cat >"$users/policy" <<END
[policy]
rule = mode=off user=root
rule = mode=trace
END
chmod 644 "$users/policy"

runuser -u $daemon -- env -i PATH="$PATH" "$users/bin/handover" "$site" "$site/spools" "$traces" "$users/policy" 300 \
	>"$work/log" 2>"$work/log.err" {users_lock}>&- &
driver=$!
for try in $(seq $polls); do
	! grep -q ^ready "$work/log" || break
	kill -0 $driver 2>/dev/null || fail "the driver does not start: $(cat "$work/log.err")"
	sleep 0.05
done

# recorded USER COMMAND...: runs the command as a site does it
recorded() {
	local user=$1
	shift
	as "$user" setsid env LD_PRELOAD="$users/bin/libsluice.so" SLUICE_SITE="$site" "$@"
}

# ended NUMBER: waits for that many complete runs
ended() {
	for try in $(seq $polls); do
		[ "$(grep -c '^end ' "$work/log")" -lt "$1" ] || return 0
		sleep 0.05
	done
	fail "only $(grep -c '^end ' "$work/log") runs are complete: $(cat "$work/log" "$work/log.err")"
}

recorded a sh -c 'touch running; while [ ! -e stop ]; do sleep 0.05; done; echo secret-of-a >note' &
for try in $(seq $polls); do
	[ ! -e "$users/a/running" ] || break
	sleep 0.05
done
spool=
for try in $(seq $polls); do
	spool=$(cd "$site/spools" && ls | grep "^$uid_a-.*\.spool$" | head -1)
	[ -z "$spool" ] || break
	sleep 0.05
done
control=$(cd "$site/spools" && ls | grep "^$uid_a-.*\.control$")
[ -n "$spool" ] && [ -n "$control" ] || fail "a has no spool: $(ls -l "$site/spools")"
check_eq "$(cd "$site/spools" && stat -c %a:%u "$spool" "$control" | sort -u)" "600:$uid_a" "modes of the files of a"
for file in "$spool" "$control"; do
	as b cat "$site/spools/$file" >/dev/null 2>&1 && fail "b can read $file"
	as b sh -c 'echo x >>"$0"' "$site/spools/$file" 2>/dev/null && fail "b can write $file"
	as b rm -f "$site/spools/$file" 2>/dev/null || true
	[ -e "$site/spools/$file" ] || fail "b has removed $file"
	runuser -u $daemon -- cat "$site/spools/$file" >/dev/null 2>&1 && fail "the daemon can open $file by its name"
done
as b ls "$site/spools" >/dev/null 2>&1 && fail "b can list the spools"
as b sh -c 'echo x >"$0"' "$site/policy" 2>/dev/null && fail "b can change the policy"
as b ls "$traces" >/dev/null 2>&1 && fail "b can list the traces"

# What b creates under the names of a does not affect a.
recorded b "$users/bin/plain" >/dev/null 2>&1 || true
ended 1
as a touch stop
ended 2
wait %2 2>/dev/null || true
check_eq "$(sed -n 's/^end \([0-9]*\) trace .*/\1/p' "$work/log" | sort | tr '\n' ' ')" \
	"$(printf '%s\n' "$uid_a" "$uid_b" | sort | tr '\n' ' ')" "users of the runs"
for user in a b; do
	uid=uid_$user
	trace=$(ls "$traces/${!uid}"/*.sluice) || fail "$user has no trace"
	check_eq "$(stat -c %a "$trace" "$traces/${!uid}" | tr '\n' ' ')" "600 700 " "modes of the trace of $user"
	"$sluice" report --json "$trace" >report.json 2>/dev/null || fail "no report of $trace"
	[ "$(json_get report.json '["functions"].__len__()')" -gt 0 ] || fail "the trace of $user is empty"
	check_eq "$(json_get report.json '["run"]["user"]')" sluice-test-$user "user of the run"
done
# A file is removed after the end of the run is reported.
nothing_is_left() {
	[ -z "$(ls "$site/spools")" ]
}
wait_for "empty directory of spools: $(ls "$site/spools")" nothing_is_left

# Processes of root are not recorded by this policy.
setsid env LD_PRELOAD="$users/bin/libsluice.so" SLUICE_SITE="$site" "$users/bin/plain" >/dev/null 2>&1 || true
sleep 0.5
check_eq "$(grep -c '^end ' "$work/log")" 2 "runs"

# Neither a directory that b owns nor one below it makes processes of a record.
mkdir "$users/b/site"
cp "$site/policy" "$users/b/site/policy"
chmod 755 "$users/b" "$users/b/site"
chown -R sluice-test-b "$users/b/site"
as a setsid env LD_PRELOAD="$users/bin/libsluice.so" SLUICE_SITE="$users/b/site" "$users/bin/plain" >/dev/null 2>&1 || true
sleep 0.5
check_eq "$(grep -c '^end ' "$work/log")" 2 "runs"
check_eq "$(ls "$site/spools")" "" "files that are left"
