# SPDX-License-Identifier: BSD-3-Clause
# A private PostgreSQL server for tests and measurements; to be sourced after libtest.sh or libbench.sh. It runs on a unix
# socket in a directory of its own, as an unprivileged user, and ends with the shell that started it, also if that is
# killed.
#   pg_start [SETTING=VALUE]...   starts the server; sets $pg, the connection string of an empty database
#   pg_stop                       stops it and removes everything; at_exit does it anyway
#   pg_kill                       kills all its processes at once, as a power failure does
#   pg_again                      starts it again with the same data
#   pg_psql SQL                   runs SQL as a superuser and prints the rows
#   pg_under=(COMMAND...)         the server is started by this command, which must forward signals and exec or wait for it
# Users are those of the operating system (peer authentication). The user of the test is a superuser of the server.

# The programs of the newest server that is installed, or of the one in the path. A folder in the path may have links to
# some of them only.
pg_bin=
pg_under=()
for pg_try in "$(dirname "$(readlink -f "$(command -v pg_ctl)")")" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do
	[ ! -x "$pg_try/postgres" ] || [ ! -x "$pg_try/initdb" ] || [ ! -x "$pg_try/pg_isready" ] || pg_bin=$pg_try
done

# pg_as COMMAND...: runs a command as the user who owns the server; it refuses to run as root
pg_as() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u "$pg_user" -- "$@"
	else
		"$@"
	fi
}

# pg_run: starts the server process. The death of its parent ends it, so no orphan is left behind.
pg_run() {
	local ids=()
	[ "$(id -u)" != 0 ] || ids=(--reuid "$pg_user" --regid "$(id -g "$pg_user")" --init-groups)
	(
		cd "$pg_dir"
		exec setpriv "${ids[@]}" --pdeathsig QUIT "${pg_under[@]}" "$pg_bin/postgres" -D "$pg_dir/data" >>"$pg_dir/log" 2>&1
	) &
	pg_pid=$!
	local try
	for try in $(seq 6000); do
		"$pg_bin/pg_isready" -q -h "$pg_dir" -d postgres && return
		kill -0 "$pg_pid" 2>/dev/null || break
		sleep 0.1
	done
	echo "PostgreSQL did not start: $(tail -n 5 "$pg_dir/log")" >&2
	return 1
}

pg_start() {
	local setting
	[ -n "$pg_bin" ] && command -v setpriv >/dev/null || return 1
	pg_user=$(id -un)
	if [ "$(id -u)" = 0 ]; then
		pg_user=postgres
		id -u $pg_user >/dev/null 2>&1 || pg_user=nobody
	fi
	# A socket has a path of at most 107 bytes.
	pg_dir=$(mktemp -d /tmp/sluice-pg.XXXXXX)
	at_exit pg_stop
	chmod 755 "$pg_dir"
	[ "$(id -u)" != 0 ] || chown "$pg_user" "$pg_dir"
	(cd "$pg_dir" && pg_as "$pg_bin/initdb" -D "$pg_dir/data" -A peer -E UTF8 --locale=C --no-sync >"$pg_dir/initdb.log" 2>&1) ||
		{ cat "$pg_dir/initdb.log" >&2 && return 1; }
	{
		echo "listen_addresses = ''"
		echo "unix_socket_directories = '$pg_dir'"
		echo "max_connections = 50"
		for setting; do
			echo "${setting%%=*} = '${setting#*=}'"
		done
	} >>"$pg_dir/data/postgresql.conf"
	pg_run || return 1
	if [ "$pg_user" != "$(id -un)" ]; then
		(cd "$pg_dir" && pg_as "$pg_bin/psql" -qX -h "$pg_dir" -d postgres -c "CREATE ROLE \"$(id -un)\" LOGIN SUPERUSER") || return 1
	fi
	"$pg_bin/createdb" -h "$pg_dir" sluice || return 1
	pg="host=$pg_dir dbname=sluice"
}

pg_stop() {
	[ -n "${pg_dir:-}" ] || return 0
	if [ -n "${pg_pid:-}" ] && kill -QUIT "$pg_pid" 2>/dev/null; then
		wait "$pg_pid" 2>/dev/null || true
	fi
	rm -rf "$pg_dir"
	pg_dir= pg_pid=
}

pg_kill() {
	local pid
	for pid in $(pgrep -P "$pg_pid") "$pg_pid"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	wait "$pg_pid" 2>/dev/null || true
}

pg_again() {
	local try
	# Processes of the killed server may still hold its shared memory.
	for try in $(seq 600); do
		rm -f "$pg_dir/data/postmaster.pid"
		pg_run 2>/dev/null && return
		sleep 0.1
	done
	return 1
}

pg_psql() {
	"$pg_bin/psql" -qXAt -v ON_ERROR_STOP=1 -d "$pg options='-c search_path=sluice'" -c "$1"
}
