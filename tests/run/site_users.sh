#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two unprivileged users of the operating system share a PostgreSQL over a unix socket: each sees and changes own rows
# only, whatever tool asks; a member of the group sees all. The server enforces it.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libusers.sh"
. "$(dirname "$0")/../libpg.sh"
pg_start fsync=off || skip postgresql

# as_db USER COMMAND...: as() with the database of the test
as_db() {
	local user=$1
	shift
	as "$user" SLUICE_SITE_DATABASE="$pg" SLUICE_SITE_ARCHIVE="$users/$user/archive" "$@"
}

export SLUICE_SITE_DATABASE=$pg
check_rc 0 "$sluice" site init
# A user without a role is told what to do.
check_rc 1 as_db a "$sluice" site status
check_words "$(cat err)" "site grant"
check_rc 0 "$sluice" site grant sluice-test-a sluice-test-b

# Each user records and imports a run.
for user in a b; do
	as_db $user "$sluice" run --quiet -o "$users/$user/run.sluice" -- sh -c 'echo secret >secret-$USER.txt' USER=$user 2>/dev/null
	check_rc 0 as_db $user "$sluice" site import --sample 1 "$users/$user/run.sluice"
done
check_eq "$(pg_psql 'SELECT count(DISTINCT owner) FROM run')" 2 "owners"
check_rc 1 as_db a "$sluice" site import --owner sluice-test-b "$users/a/run.sluice"

# rows USER SQL: the value, as the user sees it with PostgreSQL's own client
rows() {
	as "$1" "$pg_bin/psql" -qXAt -d "$pg options='-c search_path=sluice'" -c "$2"
}

for user in a b; do
	for table in run run_process run_file run_call activity aggregate note finding sample; do
		all=$(pg_psql "SELECT count(*) FROM \"$table\"")
		seen=$(rows $user "SELECT count(*) FROM \"$table\"")
		own=$(pg_psql "SELECT count(*) FROM \"$table\" WHERE $([ $table = run ] && echo "owner = 'sluice-test-$user'" ||
			echo "run IN (SELECT id FROM run WHERE owner = 'sluice-test-$user')")")
		check_eq "$seen" "$own" "rows of $table that $user sees (of $all)"
	done
	[ "$(rows $user 'SELECT count(*) FROM activity')" -gt 0 ] || fail "$user has no calls"
done
check_eq "$(rows a "SELECT count(*) FROM run WHERE owner <> current_user")" 0 "foreign runs"
check_eq "$(rows a "SELECT count(*) FROM activities WHERE owner <> current_user")" 0 "foreign calls in the view"

# Attacks: partitions, other roles, changes, functions of the owner, tricks of a leaky function.
partition=$(pg_psql "SELECT relname FROM pg_class WHERE relname LIKE 'activity\_%' AND relkind = 'r' LIMIT 1")
for sql in "SELECT count(*) FROM \"$partition\"" "SET ROLE sluice_node" "SET ROLE sluice_admin" "SET row_security = off; SELECT * FROM run" \
	"SELECT * FROM source" "SELECT * FROM forgotten" "ALTER TABLE run DISABLE ROW LEVEL SECURITY" "DROP TABLE run CASCADE" \
	"CREATE TABLE mine (x int)" "SELECT sluice_make_partition(99999999)" "SELECT sluice_drop_empty_partitions()" \
	"INSERT INTO forgotten VALUES ('user:sluice-test-b', 9e18)" "UPDATE run SET owner = 'sluice-test-b'" \
	"GRANT sluice_admin TO \"sluice-test-a\"" "INSERT INTO knowledge (program) VALUES ('x')"; do
	! rows a "$sql" >out 2>err || fail "user a may run: $sql"
	grep -q ERROR err || fail "$sql: $(cat err)"
done
rows a "DELETE FROM run; DELETE FROM activity; UPDATE run_file SET path = 'x'" >/dev/null
check_eq "$(pg_psql "SELECT count(*) FROM run WHERE owner = 'sluice-test-b'")" 1 "runs of b after a deleted all"
check_eq "$(pg_psql "SELECT count(*) FROM run_file WHERE path = 'x' AND run IN (SELECT id FROM run)")" 0 "changed paths"
[ "$(rows b 'SELECT count(*) FROM activity')" -gt 0 ] || fail "a deleted calls of b"
rows a "CREATE FUNCTION pg_temp.leak(t text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS 'BEGIN RAISE NOTICE ''leak %'', t; RETURN true; END';
	SELECT count(*) FROM run WHERE pg_temp.leak(owner)" >out 2>&1
! grep -q 'leak sluice-test-b' out || fail "a function sees foreign rows: $(cat out)"

# a cannot remove the run of b, b can; nor may a see it be archived.
run_b=$(pg_psql "SELECT uuid FROM run WHERE owner = 'sluice-test-b'")
check_rc 3 as_db a "$sluice" site forget "$run_b"
check_rc 3 as_db a "$sluice" site export "$run_b" "$users/a/stolen.sluice"
[ ! -e "$users/a/stolen.sluice" ] || fail "a has a copy of the run of b"

# The group of the setting sees all; who leaves it does not.
check_rc 0 as_db a "$sluice" site import --sample 1 "$users/a/run.sluice"
check_eq "$(rows a 'SELECT count(DISTINCT owner) FROM run')" 1 "owners that a sees"
check_rc 0 "$sluice" site grant --all sluice-test-a
check_eq "$(rows a 'SELECT count(DISTINCT owner) FROM run')" 2 "owners that a sees as an administrator"
check_rc 0 "$sluice" site grant --all --revoke sluice-test-a
check_eq "$(rows a 'SELECT count(DISTINCT owner) FROM run')" 1 "owners that a sees afterwards"
groupadd -f sluice-test-admins
at_exit 'groupdel sluice-test-admins 2>/dev/null'
usermod -a -G sluice-test-admins sluice-test-b
SLUICE_SITE_GROUP=sluice-test-admins check_rc 0 "$sluice" site init
check_eq "$(rows b 'SELECT count(DISTINCT owner) FROM run')" 2 "owners that the group sees"
gpasswd -d sluice-test-b sluice-test-admins >/dev/null 2>&1
SLUICE_SITE_GROUP=sluice-test-admins check_rc 0 "$sluice" site init
check_eq "$(rows b 'SELECT count(DISTINCT owner) FROM run')" 1 "owners that b sees afterwards"

check_rc 0 as_db b "$sluice" site forget "$run_b"
check_eq "$(pg_psql "SELECT count(*) FROM run WHERE owner = 'sluice-test-b'")" 0 "runs of b"
check_rc 0 "$sluice" site forget sluice-test-a
check_eq "$(pg_psql 'SELECT count(*) FROM run')" 0 "runs"

# The daemon's role writes by COPY.
check_rc 0 "$sluice" site grant --node sluice-test-b
cp "$users/a/run.sluice" "$users/b/of-a.sluice"
chown sluice-test-b "$users/b/of-a.sluice"
"$sluice" run --quiet -o "$work/root.sluice" -- sh -c 'cat /etc/hostname >x'
cp "$work/root.sluice" "$users/b/of-root.sluice"
chown sluice-test-b "$users/b/of-root.sluice"
check_rc 0 as_db b "$sluice" site import --sample 1 --owner root "$users/b/of-root.sluice"
check_eq "$(pg_psql 'SELECT owner FROM run')" root "owner of the imported run"
