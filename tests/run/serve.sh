#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice serve`: the data behind the pages are those of the commands, nobody else can read them, and hostile requests
# and names do no harm.
# Papers: SIOX-50 to SIOX-52, SIOX-AC-17.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip python3-jsonschema
state() {
	cat "$work/served.err"
}

mkdir runs
# Two runs, one of them with hostile names.
evil='<script><img src=x onerror=alert(1)>'$'\n\x01\xff.dat'
check_rc 0 "$sluice" run -q -o "$work/runs/plain.sluice" -- "$prog/patterns" small_writes file
check_rc 0 "$sluice" run -q -o "$work/runs/evil.sluice" -- "$prog/patterns" small_writes "$evil"
id() {
	"$sluice" ls --json >ls.json
	python3 -c 'import json, sys
print(*[r["id"] for r in json.load(open("ls.json"))["runs"] if r["path"].endswith(sys.argv[1])])' "/$1.sluice"
}
plain=$(id plain)
hostile=$(id evil)

# A unix socket that only its owner can use.
serve --socket "$work/socket"
check_eq "$address" "$work/socket" "address"
check_eq "$(stat -c %a socket)" 600 "mode of the socket"
check_line served ssh -L "8080:$work/socket"

expect 200 /api/v1/about
check_eq "$(json_get answer '["schema"]')" sluice.about/1
expect 200 /api/v1/runs
check_eq "$(json_get answer '["total"]')" 2 "runs"
expect 200 "/api/v1/runs?search=plain"
check_eq "$(json_get answer '["total"]')" 0 "runs whose command has the name of a trace"
expect 200 "/api/v1/runs?search=SMALL_writes&sort=command&order=asc&limit=1&offset=1"
check_eq "$(json_get answer '["total"]')" 2 "runs with the word"
check_eq "$(json_get answer '["runs"].__len__()')" 1 "runs of the page"
expect 200 "/api/v1/runs/$plain"
"$sluice" report --json plain >report.json
for field in '["verdict"]' '["io"]' '["run"]["uuid"]' '["findings"][0]["code"]'; do
	check_eq "$(json_get answer "$field")" "$(json_get report.json "$field")" "$field"
done
expect 200 "/api/v1/runs/$plain/plots/bandwidth.svg?theme=dark&width=500"
check_has "$(head -c 200 answer)" "<svg"
expect 200 "/api/v1/runs/$plain/plots/bandwidth.csv"
"$sluice" plot bandwidth -f csv -o - plain >plot.csv
cmp answer plot.csv || fail "the plot differs from that of 'sluice plot'"
expect 200 "/api/v1/compare?base=$plain&with=$hostile"
check_eq "$(json_get answer '["schema"]')" sluice.compare/1
# A run may have a million files: answers have the 100 with the most time, and say how many there are.
mkdir many
check_rc 0 "$sluice" run -q -o "$work/runs/many.sluice" -- sh -c 'for i in $(seq 150); do echo >many/$i; done'
many=$(id many)
expect 200 "/api/v1/runs/$many"
check_eq "$(json_get answer '["files"].__len__()')" 100 "files of a report"
[ "$(json_get answer '["file_count"]')" -ge 150 ] || fail "the report does not say how many files there are"
expect 200 "/api/v1/compare?base=$many&with=$plain"
check_eq "$(json_get answer '["files"].__len__()')" 100 "files of a comparison"
rm "$work/runs/many.sluice"
expect 200 /api/v1/settings
check_has "$(cat answer)" '"trace.dir"'

# Figures of a window: the whole run gives the figures of the report.
wait_covered() {
	get "$1"
	[ "$(json_get answer '["covered"]')" = 1 ]
}
wait_for "complete index" wait_covered "/api/v1/runs/$plain/window"
for field in calls bytes_read bytes_written errors time_ns; do
	check_eq "$(json_get answer "[\"totals\"][\"$field\"]")" "$(json_get report.json "[\"io\"][\"$field\"]")" "$field"
done
check_eq "$(json_get answer '["bins"]["bytes_written"].__len__()')" 400 "bins"
expect 200 "/api/v1/runs/$plain/window?from_ns=1000&to_ns=10&bins=7"
check_eq "$(json_get answer '["totals"]["calls"]')" 0 "calls of a reversed window"

# Every route is described, the description is valid, and answers are what it says.
/usr/bin/python3 "$SOURCE/tests/run/serve_openapi.py" "$SOURCE/docs/reference/openapi.json" 2>err || fail "openapi.json: $(cat err)"
routes=$(python3 -c 'import re, sys
for pattern, get, post in re.findall(r"\{ \"([^\"]+)\",\s*(\w+),\s*(\w+) \}", open(sys.argv[1]).read()):
    print(*[f"{method} /{pattern}" for method, handler in (("get", get), ("post", post)) if handler != "NULL"], sep="\n")' \
	"$SOURCE/src/web/web.c" | sort -u)
described=$(python3 -c 'import json, re, sys
for path, operations in json.load(open(sys.argv[1]))["paths"].items():
    for method in operations: print(method, re.sub("{[a-z]+}", "*", path))' "$SOURCE/docs/reference/openapi.json" | sort)
check_eq "$routes" "$described" "routes"
get "/api/v1/runs/$plain/activities?limit=5"
key=$(json_get answer '["activities"][1]["key"]')
file=$(json_get report.json '["files"][0]["file"]')
expect_described about settings runs "runs/$plain" "runs/$hostile" "compare?base=$plain&with=$hostile" "runs/$plain/window" \
	"runs/$plain/window?level=all&layer=POSIX&function=write&member=0&file=$file" "runs/$plain/heatmap?of=bytes&rows=3" \
	"runs/$plain/causes" "runs/$plain/offsets?file=$file" "runs/$plain/activities?limit=7&level=all" "runs/$plain/activities/$key"
expect 200 "/api/v1/runs/$plain/activities/$key"
check_eq "$(json_get answer '["name"]')" write "function of the second activity"
check_eq "$(json_get answer '["opened_by"]["function"]')" open "call that made its handle"
check_eq "$(json_get answer '["time_stop"]')" "$(json_get answer '["time_start"] + d["duration"]')" "end of the activity"

# What is wrong is said.
for request in "400 /api/v1/runs?limit=x" "400 /api/v1/runs?sort=color" "404 /api/v1/runs/../../etc/passwd" "400 /api/v1/runs/.." \
	"404 /api/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd" "404 /api/v1/runs/000000000000" "404 /api/v1/nothing" "404 /api/v2/runs" \
	"404 /api/v1/runs/$plain/plots/nothing.svg" "404 /api/v1/runs/$plain/plots/sizes.exe" "400 /api/v1/compare" \
	"400 /api/v1/runs/$plain/window?bins=1000000" "400 /api/v1/runs/$plain/window?layer=nothing" "400 /api/v1/runs/$plain/offsets" \
	"400 /api/v1/runs/$plain/activities/x" "404 /api/v1/runs/$plain/activities/7.7" "400 /api/v1/runs/$plain/activities/-1.2" \
	"400 /api/v1/runs/$plain/window?from_ns=99999999999999999999" "404 /assets/../../../etc/passwd" "404 /assets/nothing"; do
	# shellcheck disable=SC2086 # two words
	expect $request
	! grep -q root: answer || fail "$request: a file outside"
done
METHOD=POST expect 405 /api/v1/runs
check_line headers Allow: GET
expect 403 /api/v1/runs "Sec-Fetch-Site: cross-site" "Sec-Fetch-Mode: no-cors"
METHOD=HEAD expect 200 /api/v1/runs
check_eq "$(cat answer)" "" "body of HEAD"
expect 403 /api/v1/runs "Host: evil.example"
get /api/v1/runs "X-Long: $(printf '%040000d' 0)"
[ "$status" -ge 400 ] || fail "a header of 40 kB is accepted"

# Names are data.
expect 200 "/api/v1/runs/$hostile"
python3 -c 'import json; json.load(open("answer"))' || fail "invalid JSON"
! grep -q '<img' headers || fail "a name in the headers"
check_line headers Content-Security-Policy "script-src 'self'" "default-src 'none'"
check_line headers X-Content-Type-Options nosniff
check_line headers Content-Type application/json
expect 200 "/api/v1/runs?limit=1" "Accept-Encoding: gzip"
expect 200 "/api/v1/runs/$plain" "Accept-Encoding: gzip"
check_line headers Content-Encoding gzip
python3 -c 'import gzip, json; json.load(gzip.open("answer"))' || fail "not gzip"

# Another server does not take the socket, and nobody but its owner can connect.
check_rc 1 "$sluice" serve --socket "$work/socket"
check_words "$(cat err)" "another server"
: >file
check_rc 1 "$sluice" serve --socket "$work/file"
check_words "$(cat err)" "not a socket"
[ -f file ] || fail "the file was removed"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	setpriv --reuid 65534 --regid 65534 --clear-groups python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
try: s.connect(sys.argv[1])
except PermissionError: sys.exit(0)
sys.exit("another user can connect")' "$work/socket" || fail "the socket is open to others"
fi

# A thousand requests at once, and clients that send nothing: all are served or refused, in bounded memory.
python3 - "$work/socket" <<'END' || fail "parallel requests"
import socket, sys, threading
idle = []
for i in range(30):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.send(b"GET /api/v1/runs HTTP/1.1\r\nX: ")
    idle.append(s)
good = []
def ask():
    for i in range(10):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(600)
            s.connect(sys.argv[1])
            s.send(b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            text = b""
            while True:
                part = s.recv(65536)
                if not part: break
                text += part
            if text.startswith(b"HTTP/1.1 200"): good.append(1)
            s.close()
        except OSError:
            pass
threads = [threading.Thread(target=ask) for i in range(100)]
for t in threads: t.start()
for t in threads: t.join()
print(len(good), "of 1000 answered")
sys.exit(len(good) < 100)
END
peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$server/status")
[ "$peak" -lt $((256 * 1024)) ] || fail "the server needs $peak kB"
expect 200 /api/v1/about
stop_server
[ ! -e socket ] || fail "the socket remains"

# TCP: only on loopback, only with the token.
check_rc 1 "$sluice" serve --tcp 0.0.0.0:0
check_words "$(cat err)" loopback 127.0.0.1
serve --tcp 127.0.0.1:0 --base-path /sluice
token=${address##*token=}
check_eq "${#token}" 64 "length of the token"
expect 401 /sluice/api/v1/about
expect 401 "/sluice/?token=${token%?}x"
expect 401 /sluice/api/v1/about "Authorization: Bearer ${token%?}"
expect 200 /sluice/api/v1/about "Authorization: Bearer $token"
expect 303 "/sluice/runs?token=$token"
check_line headers Location: /sluice/runs
check_line headers Set-Cookie HttpOnly SameSite=Strict Path=/sluice/
cookie=$(sed -n 's/^Set-Cookie: \([^;]*\);.*/\1/p' headers)
expect 200 /sluice/api/v1/about "Cookie: $cookie"
expect 401 /sluice/api/v1/about "Cookie: ${cookie%?}"
expect 403 /sluice/api/v1/about "Host: evil.example" "Cookie: $cookie"
expect 404 /api/v1/about "Cookie: $cookie"
expect 404 /sluiceapi/v1/about "Cookie: $cookie"
get "/sluice//evil.example?token=$token"
! grep -q "Location: //" headers || fail "a redirection to another server"
for word in sluice /sluice/ '/a b' '/"'; do
	check_rc 2 "$sluice" serve --base-path "$word"
done
check_rc 2 "$sluice" serve --tcp 127.0.0.1:0 --socket x
check_rc 1 "$sluice" serve --tcp nonsense
stop_server

# No runs yet.
serve --socket "$work/socket" "$work/empty"
expect 200 /api/v1/runs
check_eq "$(json_get answer '["total"]')" 0 "runs"
stop_server
