#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of `sluice serve --portal` in a real browser, behind nginx: serve_site_browser.mjs lists what is checked. Who sees
# what is the subject of serve_site.sh.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/../libpg.sh"
need_browser
command -v nginx >/dev/null || skip nginx-light
pg_start fsync=off || skip postgresql
state() {
	cat "$work/served.err" "$work/nginx.log" 2>/dev/null || true
}

export SLUICE_SITE_DATABASE=$pg SLUICE_SITE_PROXY_USER
SLUICE_SITE_PROXY_USER=$(id -un)
check_rc 0 "$sluice" site init
check_rc 0 "$sluice" site grant alice bob
python3 "$SOURCE/tests/run/page_trace.py" >parallel.txt
check_rc 0 "$sluice" trace convert parallel.txt climate.sluice
name=$'<img src=x onerror=alert(1)> \e[31m"\'.dat'
check_rc 0 "$sluice" run --quiet -o hostile.sluice -- sh -c 'echo x >"$1"' sh "$name"
check_rc 0 "$sluice" run --quiet -o other.sluice -- true of-bob
check_rc 0 "$sluice" site import --owner alice climate.sluice
check_rc 0 "$sluice" site import --owner alice hostile.sluice
check_rc 0 "$sluice" site import --owner bob other.sluice
pg_psql "INSERT INTO anomaly (node, subject, owner, job, target, started_ns, ended_ns, cause, detail, value)
	VALUES ('n1', 'node', 'alice', '7', '/scratch', 1763000000000000000, NULL, 'likely target', '<b>slow</b>', 3),
	('n2', 'system', 'alice', '7', '/scratch', 1763000000000000000, 1763000100000000000, 'possible job', 'over', 2);
	INSERT INTO node_load (node, owner, job, target, bytes_read, bytes_written, operations, updated_ns)
	VALUES ('n1', 'alice', '7', '/scratch', 1e9, 2e8, 300, extract(epoch FROM now() + interval '1 hour') * 1e9)" >/dev/null
serve --portal --socket "$work/socket" --base-path /io

# A port that is free now may be taken before nginx has it: another one is tried.
start_nginx() {
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
	cat >nginx.conf <<-END
		daemon off;
		master_process off;
		error_log $work/nginx.log;
		pid $work/nginx.pid;
		events {}
		http {
			access_log off;
			$(for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $work/$kind;"; done)
			server {
				listen 127.0.0.1:$port;
				auth_basic "Sluice";
				auth_basic_user_file $work/passwords;
				location /io/ {
					proxy_pass http://unix:$work/socket:;
					proxy_set_header Host \$http_host;
					proxy_set_header X-Remote-User \$remote_user;
				}
			}
		}
	END
	nginx -e "$work/nginx.log" -c "$work/nginx.conf" 2>>nginx.err &
	nginx=$!
}
stop_nginx() {
	kill "$nginx" 2>/dev/null || true
	wait "$nginx" 2>/dev/null || true
}
nginx_is_ready() {
	kill -0 "$nginx" 2>/dev/null || start_nginx
	python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$port" 2>/dev/null
}
echo 'alice:{PLAIN}secret' >passwords
start_nginx
at_exit stop_nginx
wait_for nginx nginx_is_ready
address=http://127.0.0.1:$port/io/?
browse serve_site_browser
