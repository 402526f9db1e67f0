#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice serve --portal` behind nginx, which authenticates: PostgreSQL shows each user own runs only, nobody but the proxy can
# name a user, and no role stays in a connection that the next user gets.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libusers.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/../libpg.sh"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip python3-jsonschema
command -v nginx >/dev/null || skip nginx-light
id -u nobody >/dev/null 2>&1 || skip nobody
pg_start fsync=off || skip postgresql
state() {
	cat "$work/served.err" "$users/b/nginx.log" 2>/dev/null || true
}

# User a runs the server, user b the proxy. The users of the site are roles of PostgreSQL.
export SLUICE_SITE_DATABASE=$pg
check_rc 0 "$sluice" site init
check_rc 0 "$sluice" site grant alice bob carol
check_rc 0 "$sluice" site grant --all carol
check_rc 0 "$sluice" site grant --node daemon
check_rc 0 "$sluice" site grant --web sluice-test-a
check_rc 2 "$sluice" site grant --web --all sluice-test-a
for owner in alice bob; do
	for i in 1 2; do
		"$sluice" run --quiet -o "$work/$owner$i.sluice" -- sh -c "echo secret >secret-of-$owner-$i"
		check_rc 0 "$sluice" site import --owner $owner "$work/$owner$i.sluice"
	done
done
pg_psql "INSERT INTO anomaly (node, subject, owner, job, target, started_ns, cause, detail, value)
	VALUES ('n1', 'node', 'alice', '7', '/scratch', 1, 'likely target', '<b>slow</b>', 3), ('n2', 'node', 'bob', '8', '/scratch', 2, '', 'x', 2);
	INSERT INTO node_load (node, owner, job, target, bytes_read, bytes_written, operations, updated_ns)
	VALUES ('n1', 'alice', '7', '/scratch', 10, 20, 3, extract(epoch FROM now() + interval '1 hour') * 1e9)" >/dev/null

# The server needs a database, a proxy, and a group that lets the proxy in.
as_web() {
	as a SLUICE_SITE_DATABASE="$pg" SLUICE_SITE_PROXY_USER="${proxy_user-sluice-test-b}" "$sluice" serve --portal "$@"
}
socket=$users/web/socket
mkdir -m 755 "$users/web"
chown sluice-test-a "$users/web"
check_rc 2 as_web
check_rc 2 as_web --socket "$socket" directory
check_rc 2 as_web --tcp 127.0.0.1:0 --socket "$socket"
proxy_user='' check_rc 1 as_web --socket "$socket"
check_words "$(cat err)" site.proxy_user
proxy_user=nonsense check_rc 1 as_web --socket "$socket"
check_words "$(cat err)" nonsense
check_rc 1 as_web --socket "$socket"
check_words "$(cat err)" member
[ ! -e "$socket" ] || fail "a socket remains"
usermod -a -G sluice-test-b sluice-test-a
check_rc 1 as a SLUICE_SITE_DATABASE="$users/a/file.db" SLUICE_SITE_PROXY_USER=sluice-test-b "$sluice" serve --portal --socket "$socket"
check_words "$(cat err)" PostgreSQL

start_server() {
	as_web --socket "$socket" >served 2>served.err &
	server=$!
	at_exit stop_server
	wait_for "server" server_is_ready
}
start_server
check_eq "$(stat -c '%a %U %G' "$socket")" "660 sluice-test-a sluice-test-b" "mode of the socket"

# nginx knows passwords, and says who has given one.
cat >"$users/b/nginx.conf" <<END
daemon off;
error_log $users/b/nginx.log;
pid $users/b/nginx.pid;
events {}
http {
	access_log off;
	$(for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $users/b/$kind;"; done)
	server {
		listen unix:$users/b/nginx.socket;
		auth_basic "Sluice";
		auth_basic_user_file $users/b/passwords;
		location /io/ {
			proxy_pass http://unix:$socket:/;
			proxy_set_header Host \$http_host;
			proxy_set_header X-Remote-User \$remote_user;
		}
	}
}
END
for user in alice bob carol daemon root postgres none sluice_admin sluice_web sluice-test-a nobody; do
	echo "$user:{PLAIN}of-$user"
done >"$users/b/passwords"
as b nginx -e "$users/b/nginx.log" -c "$users/b/nginx.conf" 2>nginx.err &
nginx=$!
at_exit 'kill $nginx 2>/dev/null; wait $nginx 2>/dev/null || true'
nginx_is_ready() {
	[ -S "$users/b/nginx.socket" ]
}
wait_for nginx nginx_is_ready
address=$users/b/nginx.socket
login() {
	echo "Authorization: Basic $(printf '%s:of-%s' "$1" "$1" | base64)"
}

expect 401 /io/api/v1/runs
expect 401 /io/api/v1/runs "Authorization: Basic $(printf alice:wrong | base64)"
for user in alice bob; do
	expect 200 /io/api/v1/about "$(login $user)"
	check_eq "$(json_get answer '["user"]')" $user "user"
	check_eq "$(json_get answer '["is_site"]')" True "kind of server"
	expect 200 "/io/api/v1/runs?sort=started" "$(login $user)"
	check_eq "$(json_get answer '["total"]')" 2 "runs of $user"
	check_eq "$(python3 -c 'import json; print(*{r["user"] for r in json.load(open("answer"))["runs"]})')" $user "owners"
	expect 200 "/io/api/v1/runs?search=secret-of-bob" "$(login $user)"
	check_eq "$(json_get answer '["total"]')" $([ $user = bob ] && echo 2 || echo 0) "runs of bob that $user finds"
done
expect 200 /io/api/v1/runs "$(login carol)"
check_eq "$(json_get answer '["total"]')" 4 "runs that an administrator sees"

# The answers are what the description says.
described() {
	expect 200 "/io/api/v1/$1" "$(login "$2")"
	/usr/bin/python3 "$SOURCE/tests/run/serve_schema.py" "$SOURCE/docs/reference/openapi.json" "/api/v1/$1" answer 2>err ||
		fail "$1: $(tail -n 15 err)"
}
described about alice
described site alice
check_eq "$(json_get answer '["anomalies"][0]["detail"]') $(json_get answer '["anomalies"].__len__()') $(json_get answer '["loads"][0]["bytes_written_per_s"]')" \
	"<b>slow</b> 1 20" "anomalies and loads of alice"
for order in asc desc; do
	for sort in started duration calls size command; do
		described "runs?sort=$sort&order=$order&limit=1&offset=1" alice
		check_eq "$(json_get answer '["runs"].__len__()')" 1 "runs of a page"
	done
done
run=$(json_get answer '["runs"][0]["id"]')
described "runs/$run/sums" alice
"$sluice" site query --json "SELECT sum(a.calls) AS calls, sum(a.bytes_written) AS bytes FROM aggregate a JOIN run r ON r.id = a.run
	WHERE uuid = '$run' AND layer = 'POSIX'" >query.json
check_eq "$(python3 -c 'import json
print(*[(l["calls"], l["bytes_written"]) for l in json.load(open("answer"))["layers"] if l["layer"] == "POSIX"])')" \
	"($(json_get query.json '["rows"][0]["calls"]'), $(json_get query.json '["rows"][0]["bytes"]'))" "sums of the layer POSIX"
check_has "$(cat answer)" secret-of-alice "files"
described "runs/$(echo "$run" | cut -c 1-12)/sums" alice
described "runs/$run/sums" carol
expect 404 "/io/api/v1/runs/$run/sums" "$(login bob)"
! grep -q secret-of-alice answer || fail "bob sees a run of alice"
for request in "404 runs/$run" "404 settings" "404 compare" "404 runs/$run/activities" "400 runs/x/sums" "400 runs?limit=0" "400 runs?sort=x" "405 runs"; do
	set -- $request
	METHOD=$([ "$1" = 405 ] && echo POST || echo GET) expect "$1" "/io/api/v1/$2" "$(login alice)"
done
expect 200 "/io/api/v1/runs?search=%27%3B%20RESET%20ROLE%3B%20--" "$(login alice)"

# A header of the client is replaced by the proxy.
expect 200 /io/api/v1/runs "$(login alice)" "X-Remote-User: bob"
check_eq "$(python3 -c 'import json; print(*{r["user"] for r in json.load(open("answer"))["runs"]})')" alice "owners"

# Users without a role, roles that no policy restricts, and roles that are not users see nothing.
for user in daemon root postgres none sluice_admin sluice_web sluice-test-a nobody; do
	expect 403 /io/api/v1/runs "$(login $user)"
	! grep -q secret answer || fail "$user sees a run"
done

# The kernel says who connects: not even the server's own user, or root, may name a user.
ask_as() {
	setpriv "${@:2}" /usr/bin/python3 - "$socket" "$1" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
except PermissionError:
    sys.exit(print("no"))
s.sendall(b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + sys.argv[2].encode().decode("unicode_escape").encode("latin-1") + b"\r\n")
text = b""
while part := s.recv(65536): text += part
print(text[9:12].decode())
END
}
header='X-Remote-User: alice\r\n'
as_b=(--reuid "$uid_b" --regid "$(id -g sluice-test-b)" --clear-groups)
check_eq "$(ask_as "$header" "${as_b[@]}")" 200 "answer to the proxy"
check_eq "$(ask_as "$header")" 403 "answer to root"
check_eq "$(ask_as "$header" --reuid "$uid_a" --regid "$(id -g sluice-test-a)" --clear-groups)" 403 "answer to the server's user"
check_eq "$(ask_as "$header" --reuid nobody --regid "$(id -g sluice-test-b)" --clear-groups)" 403 "answer to a member of the group"
check_eq "$(ask_as "$header" --reuid nobody --regid "$(id -g nobody)" --clear-groups)" no "answer to nobody"
for wrong in '' 'X-Remote-User: \r\n' 'X-Remote-User: alice\r\nX-Remote-User: bob\r\n' 'X-Remote-User: alice\r\nx-remote-user: alice\r\n'; do
	check_eq "$(ask_as "$wrong" "${as_b[@]}")" 401 "answer to \"$wrong\""
done
for wrong in 'alice"; RESET ROLE; --' "alice'" 'alice bob' 'NONE' '../alice' '-alice' 'alice\xff' "$(printf 'a%.0s' $(seq 64))"; do
	check_eq "$(ask_as "X-Remote-User: $wrong\\r\\n" "${as_b[@]}")" 403 "answer to \"$wrong\""
done

# The role of the server alone can read nothing.
for sql in "SELECT count(*) FROM run" "SELECT count(*) FROM activities" "SELECT * FROM knowledge" "SET ROLE daemon" "SET ROLE root"; do
	! as a "$pg_bin/psql" -qXAt -d "$pg options='-c search_path=sluice'" -c "$sql" >out 2>err || fail "the web server may run: $sql"
	grep -q "permission denied" err || fail "$sql: $(cat err)"
done

# Users who share connections, some of whose requests fail: everybody sees own runs only.
cat >many.py <<'END'
import http.client, json, random, socket, sys, threading
path, own = sys.argv[1], {"alice": {"alice"}, "bob": {"bob"}, "carol": {"alice", "bob"}}
run, wrong, done = sys.argv[2], [], []
def ask(seed):
    dice = random.Random(seed)
    for i in range(25):
        user = dice.choice(["alice", "bob", "carol", "nobody", "root"])
        what = dice.choice(["runs", f"runs/{run}/sums", "runs?sort=x", "site", "nothing"])
        connection = http.client.HTTPConnection("localhost", timeout=600)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(path)
        connection.request("GET", "/api/v1/" + what, headers={"X-Remote-User": user})
        answer = connection.getresponse()
        text, status = answer.read(), answer.status
        seen = set()
        if what == "runs" and status == 200:
            seen = {r["user"] for r in json.loads(text)["runs"]}
            if seen != own.get(user): wrong.append((user, what, status, seen))
        expected = 404 if what == "nothing" else 403 if user not in own else \
            400 if what == "runs?sort=x" else 404 if what.endswith("sums") and user == "bob" else 200
        if status != expected: wrong.append((user, what, status, text[:200]))
        done.append(1)
threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(16)]
for t in threads: t.start()
for t in threads: t.join()
if wrong: sys.exit(f"{len(wrong)} of {len(done)} requests: {wrong[:3]}")
sys.exit(len(done) != 400)
END
setpriv "${as_b[@]}" /usr/bin/python3 - "$socket" "$run" <many.py 2>err || fail "$(tail -n 5 err)"
connections=$(pg_psql "SELECT count(*) FROM pg_stat_activity WHERE usename = 'sluice-test-a'")
[ "$connections" -ge 1 ] && [ "$connections" -le 8 ] || fail "$connections connections"
check_eq "$(pg_psql "SELECT count(*) FROM pg_stat_activity WHERE usename = 'sluice-test-a' AND state <> 'idle'")" 0 "open transactions"

# A user who loses the role sees nothing at once; a new user sees own runs.
check_rc 0 "$sluice" site grant --revoke bob
expect 403 /io/api/v1/runs "$(login bob)"
check_rc 0 "$sluice" site grant bob
expect 200 /io/api/v1/runs "$(login bob)"
check_rc 0 "$sluice" site grant --node bob
expect 403 /io/api/v1/runs "$(login bob)"

# The database is away for a while.
pg_kill
get /io/api/v1/runs "$(login alice)"
check_eq "$status" 503 "status without the database ($(cat answer))"
pg_again
expect 200 /io/api/v1/runs "$(login alice)"
check_eq "$(json_get answer '["total"]')" 2 "runs of alice"
