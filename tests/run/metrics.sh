#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Metrics: promtool accepts what is rendered, the Prometheus of the distribution scrapes it, and metrics of jobs are seen
# only by those who may see all jobs: with the token over TCP, by the group over a unix socket.
. "$(dirname "$0")/libtest.sh"
command -v promtool >/dev/null && command -v prometheus >/dev/null || skip prometheus

# serve ADDRESS TOKEN GROUP: starts a server; its port is in $port
serve() {
	coproc server { exec "$prog/metrics_server" "$@" 2>server.err; }
	server_pid=$!
	read -r port <&"${server[0]}" || fail "no server: $(cat server.err)"
}
stop() {
	local input=${server[1]}
	exec {input}>&-
	wait "$server_pid" || fail "the server failed: $(cat server.err)"
}
# get URL [HEADER]: prints the answer; code has the status
get() {
	python3 - "$@" <<'END'
import http.client, socket, sys, urllib.parse
url, headers = sys.argv[1], dict(h.split(": ", 1) for h in sys.argv[2:])
if url.startswith("/"):
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(url)
    path = "/metrics"
else:
    parts = urllib.parse.urlsplit(url)
    connection, path = http.client.HTTPConnection(parts.netloc, timeout=600), parts.path
connection.request(headers.pop("Method", "GET"), path, headers=headers)
answer = connection.getresponse()
sys.stderr.write("%d %s\n" % (answer.status, answer.getheader("Content-Type")))
sys.stdout.write(answer.read().decode())
END
}

# Over TCP, without and with the token.
serve 127.0.0.1:0 "$work/token" -1
check_eq "$(stat -c %a token)" 600 "mode of the token"
get "http://127.0.0.1:$port/metrics" >public 2>status
check_eq "$(cat status)" "200 text/plain; version=0.0.4; charset=utf-8"
check_has "$(cat public)" 'sluice_io_bytes_total{filesystem="lustre"'
check_has "$(cat public)" 'target="a \"quoted\\ \n name"} 0.25'
! grep -q 'alice\|sluice_job' public || fail "jobs are seen without a token"
get "http://127.0.0.1:$port/metrics" "Authorization: Bearer $(cat token)" >private 2>status
check_has "$(cat private)" 'sluice_job_bytes_total{job_id="42",user="alice"'
for wrong in "Bearer wrong" "Bearer " "Basic $(cat token)" "Bearer $(cat token)x"; do
	get "http://127.0.0.1:$port/metrics" "Authorization: $wrong" >answer 2>status
	! grep -q alice answer || fail "jobs are seen with \"$wrong\""
done
get "http://127.0.0.1:$port/other" >answer 2>status
check_has "$(cat status)" 404
get "http://127.0.0.1:$port/metrics" "Method: POST" >answer 2>status
check_has "$(cat status)" 405

# The format is what promtool expects. It has opinions about names, too.
for file in public private; do
	promtool check metrics <$file >lint 2>&1 || fail "promtool: $(cat lint)"
	check_eq "$(cat lint)" "" "promtool"
done

# A real scrape, with the token, and queries of the dashboard.
cat >prometheus.yml <<END
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: sluice
    authorization: {credentials_file: $work/token}
    static_configs: [{targets: ["127.0.0.1:$port"]}]
END
check_rc 0 promtool check config prometheus.yml
# start_prometheus: on a port that is free; another process may take it meanwhile
start_prometheus() {
	free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	prometheus --config.file=prometheus.yml --storage.tsdb.path="$work/tsdb" --web.listen-address=127.0.0.1:"$free" \
		>prometheus.log 2>&1 &
	prometheus_pid=$!
}
start_prometheus
at_exit 'kill $prometheus_pid 2>/dev/null; wait $prometheus_pid 2>/dev/null'
query() {
	python3 -c 'import json, sys, urllib.parse, urllib.request
url = "http://127.0.0.1:%s/api/v1/query?query=%s" % (sys.argv[1], urllib.parse.quote(sys.argv[2]))
for row in json.load(urllib.request.urlopen(url))["data"]["result"]: print(row["metric"], row["value"][1])' "$free" "$1" 2>/dev/null
}
# answers QUERY TEXT: waits until the answer has the text. A scrape of a loaded machine may take longer than a second, and
# nothing is known then until the next one.
answer_has() {
	if ! kill -0 $prometheus_pid 2>/dev/null; then
		grep -q "address already in use" prometheus.log || fail "Prometheus: $(tail -5 prometheus.log)"
		start_prometheus
	fi
	[[ $(query "$1") == *"$2"* ]]
}
answers() {
	wait_for "\"$2\" in the answer to $1" answer_has "$1" "$2"
}
answers 'rate(sluice_daemon_activities_total[5m]) > 0' " "
answers 'up{job="sluice"}' " 1"
answers 'sluice_job_bytes_total' "'job_id': '42'"
answers 'sum(sluice_io_operations_total)' " 100"
answers 'count(sluice_io_bytes_total{target="other"}) > 0' " "
answers 'histogram_quantile(0.99, sum by (le) (sluice_io_duration_seconds_bucket))' "0.0"
answers 'sluice_metrics_overflow_total{metric="sluice_io_bytes_total"}' " 36"
# Prometheus understands each query of the dashboard.
python3 - "$SOURCE/packaging/grafana/sluice.json" >queries <<'END'
import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel["targets"]:
        print(target["expr"].replace("$__rate_interval", "1m").replace("$filesystem", ".*"))
END
[ -s queries ] || fail "the dashboard has no query"
while read -r line; do
	python3 -c 'import json, sys, urllib.parse, urllib.request
url = "http://127.0.0.1:%s/api/v1/query?query=%s" % (sys.argv[1], urllib.parse.quote(sys.argv[2]))
assert json.load(urllib.request.urlopen(url))["status"] == "success"' "$free" "$line" || fail "query: $line"
done <queries
kill $prometheus_pid
wait $prometheus_pid 2>/dev/null || true
stop

# What is wrong is said.
check_rc 1 "$prog/metrics_server" nowhere "" -1
check_words "$(cat err)" nowhere 127.0.0.1:9464
chmod 644 token
check_rc 1 "$prog/metrics_server" 127.0.0.1:0 token -1
check_words "$(cat err)" token users

# A hostile client does not keep others from reading.
serve 127.0.0.1:0 "" -1
python3 - "$port" <<'END' || fail "hostile client"
import os, socket, sys, time, urllib.request
port = int(sys.argv[1])
slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
for s in slow:
    s.send(b"GET /metrics HTTP/1.1\r\nX: ")
for text in (os.urandom(5000), b"GET /" + b"x" * 100000, b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 50000,
             b"\r\n" * 10000, b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 20000):
    s = socket.create_connection(("127.0.0.1", port))
    try:
        s.sendall(text)
        s.settimeout(1)
        s.recv(100)
    except OSError:
        pass
    s.close()
assert b"sluice_io_bytes_total" in urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=600).read()
END
stop

# On a unix socket, the mode keeps other users out, and the group sees jobs.
. "$(dirname "$0")/libusers.sh"
group=$(id -g sluice-test-a)
cp "$prog/metrics_server" "$users/bin"
serve "$users/socket" "" "$group"
check_eq "$(stat -c '%a %g' "$users/socket")" "660 $group" "mode of the socket"
cat >"$users/ask.py" <<'END'
import http.client, socket, sys
connection = http.client.HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
connection.request("GET", "/metrics")
print(connection.getresponse().read().decode())
END
python=$(command -v /usr/bin/python3 || command -v python3)
check_has "$(as a "$python" "$users/ask.py" "$users/socket")" alice "metrics for the group"
! as b "$python" "$users/ask.py" "$users/socket" >answer 2>&1 || fail "another user is connected"
check_has "$(cat answer)" PermissionError
stop
[ ! -e "$users/socket" ] || fail "the socket is left"

# A server removes only its own socket.
serve "$users/socket" "" "$group"
mv "$users/socket" "$users/moved"
echo mine >"$users/socket"
stop
check_eq "$(cat "$users/socket")" mine "the file that took the path of the socket"
