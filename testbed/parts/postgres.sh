# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# The PostgreSQL server of the site, on head, with an empty database "sluice". It trusts the hosts of the bed.
folder=$state/postgres
address=10.99.0.254
programs=$(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin | sort -V | while read -r bin; do
	[ ! -x "$bin/postgres" ] || echo "$bin"
done | tail -n 1)

part_missing() {
	[ -n "$programs" ] || echo postgresql
	need_commands util-linux setpriv
	id -u postgres >/dev/null 2>&1 || echo user:postgres
}

as_postgres() {
	enter head setpriv --reuid postgres --regid postgres --init-groups "$@"
}

part_start() {
	mkdir -p "$folder"
	chown postgres: "$folder"
	chmod 755 "$state" "$folder"
	touch "$state/log/postgres"
	chown postgres: "$state/log/postgres"
	cd "$folder" || return
	as_postgres "$programs/initdb" -D "$folder/data" -A trust -U root --no-sync -E UTF8 --locale=C >"$state/log/initdb" 2>&1
	cat >>"$folder/data/postgresql.conf" <<END
listen_addresses = '$address'
unix_socket_directories = ''
shared_buffers = 64MB
max_connections = 200
END
	echo "host all all 10.99.0.0/24 trust" >>"$folder/data/pg_hba.conf"
	as_postgres "$programs/pg_ctl" -D "$folder/data" -l "$state/log/postgres" -w -t 300 start >"$state/log/pg_ctl"
	as_postgres "$programs/createdb" -h "$address" -U root sluice
	publish TESTBED_DATABASE "host=$address dbname=sluice user=root"
}

part_stop() {
	:
}

part_status() {
	enter head "$programs/pg_isready" -h "$address" -d sluice
}
