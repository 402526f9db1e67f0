# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of `sluice serve`; to be sourced after libtest.sh.

# serve OPTION...: starts the server; sets $server, and $address to the first line that it prints
serve() {
	rm -f served
	"$sluice" serve "$@" >served 2>served.err &
	server=$!
	at_exit "stop_server"
	wait_for "server" server_is_ready
	address=$(head -n 1 served)
}

server_is_ready() {
	kill -0 "$server" 2>/dev/null || fail "the server has ended: $(cat served.err)"
	[ -s served ]
}

# stop_server: ends the server
stop_server() {
	[ -n "${server:-}" ] || return 0
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	server=
}

# get PATH [HEADER]...: the answer is in the file `answer`, its headers in `headers`, and its status in $status. METHOD is
# the method; $address is a socket or an URL.
get() {
	status=$(python3 - "$address" "$@" <<'END'
import http.client, os, socket, sys, urllib.parse
address, path, headers = sys.argv[1], sys.argv[2], dict(h.split(": ", 1) for h in sys.argv[3:])
if address.startswith("/"):
    connection = http.client.HTTPConnection("localhost", timeout=600)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(address)
else:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=600)
connection.putrequest(os.environ.get("METHOD", "GET"), path, skip_host="Host" in headers, skip_accept_encoding=True)
for name, value in headers.items():
    connection.putheader(name, value)
connection.endheaders()
answer = connection.getresponse()
open("answer", "wb").write(answer.read())
open("headers", "w").write(str(answer.headers))
print(answer.status)
END
	) || fail "no answer to $*"
}

# expect STATUS PATH [HEADER]...
expect() {
	local wanted=$1
	shift
	get "$@"
	check_eq "$status" "$wanted" "status of $1 ($(head -c 300 answer | tr -d "\0"))"
}

# expect_described PATH...: each is answered, and the answer is what docs/reference/openapi.json says
expect_described() {
	local path
	for path in "$@"; do
		expect 200 "/api/v1/$path"
		/usr/bin/python3 "$SOURCE/tests/run/serve_schema.py" "$SOURCE/docs/reference/openapi.json" "/api/v1/$path" answer 2>err ||
			fail "$path: $(tail -n 15 err)"
	done
}

# need_browser: skips the test if this machine has no browser, or the program no pages; needs libnpm.sh
need_browser() {
	command -v chromium-headless-shell >/dev/null || skip chromium-headless-shell
	[ -e "$BUILD/web/installed" ] || skip web
	npm_install playwright playwright-core@1 axe-core@4 || skip playwright
}

# browse NAME [ARGUMENT]...: runs NAME.mjs with the server at $address; its screenshots are in NAME/ of the build tree
browse() {
	local name=$1
	shift
	mkdir -p "$BUILD/$name"
	# Each of its many steps has a time limit of its own.
	timeout $((5 * limit)) node "$SOURCE/tests/run/$name.mjs" "$npm_modules" "$BUILD/$name" "$address" "$@"
}

# post PATH JSON: like get, for a request that changes something
post() {
	status=$(BODY=$2 python3 - "$address" "$1" <<'END'
import http.client, os, socket, sys, urllib.parse
address, path = sys.argv[1:]
if address.startswith("/"):
    connection = http.client.HTTPConnection("localhost", timeout=600)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(address)
else:
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(address).netloc, timeout=600)
connection.request("POST", path, os.environ["BODY"], {"X-Sluice": "1", "Content-Type": "application/json"})
answer = connection.getresponse()
open("answer", "wb").write(answer.read())
print(answer.status)
END
	) || fail "no answer to $1"
}
