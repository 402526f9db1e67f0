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
