#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# From the stored calls of one run to the report of the next one: the site learns how long the writes of a program take,
# the daemon serves it, and a run whose writes are much slower is told so, with the expectation. A run like the first one
# is not.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
export SLUICE_SITE_DATABASE=$work/site.db SLUICE_SITE_KNOWLEDGE=100ms
: >policy
chmod 755 "$work"

options=
# record NAME [VARIABLE=VALUE]...: a run of 400 writes; the first one has no file position to continue
record() {
	local name=$1
	shift
	mkdir -p place
	(cd place && exec env "$@" "$sluice" --set plugins.load=expected $options run -q -o "$work/$name.sluice" -- "$prog/writes" alike 400) \
		>out 2>err || fail "$name: $(cat err)"
	"$sluice" report --all "$name.sluice" >"$name.txt"
}

check_rc 0 "$sluice" site init
record first SLUICE_SITE_SOCKET="$work/nowhere/socket"
! grep -q "site expects" first.txt || fail "a site that does not exist expects something: $(cat first.txt)"
check_rc 0 "$sluice" site import --sample 1 first.sluice
check_rc 0 "$sluice" site learn

# What was measured here and now depends on the load of the machine: all calls took 6 us.
python3 - "$SLUICE_SITE_DATABASE" <<'PYTHON' || fail "no durations were learned"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
keys = db.execute("SELECT DISTINCT program, filesystem, pattern, layer, call, size FROM expectation").fetchall()
assert any(k[0] == "writes" and k[1].startswith("/") and k[2] == "sequential" for k in keys), keys
db.execute("DELETE FROM expectation")
db.executemany("INSERT INTO expectation VALUES (?, ?, ?, ?, ?, ?, 100, 1000)", keys)
db.commit()
PYTHON
start_daemon
wait_for "knowledge page" test -e "$work/run/knowledge"

# The last 100 of 400 writes take 20 ms longer.
record slow LD_PRELOAD="$prog/slow.so" SLOW_FROM=300 SLOW_MS=20
grep "POSIX pwrite.* calls took more than" slow.txt >line || fail "slower calls are not reported: $(cat slow.txt)"
check_words "$(cat line)" expected us "1000 calls of writes"
check_has "$(cat line)" " on /"
"$sluice" report --all --json slow.sluice >slow.json
check_has "$(cat slow.json)" "slower than the site expects"

# Calls that are not slow enough are not named; they are compared.
options="--set plugin.expected.floor=1h" record same
! grep -q "calls took more than" same.txt || fail "calls are slow that are below the limit: $(cat same.txt)"
grep -q compared same.txt || fail "calls are not compared: $(cat same.txt)"
