#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice serve` shows the tunings and the knowledge base of the user as the commands do, follows a tuning that runs, stops
# it as Ctrl-C does and resumes it.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip python3-jsonschema
state() {
	cat "$work/served.err"
	cat "$store.tunings/1.log" "$work/tune.out" 2>/dev/null || true
}
store=$XDG_DATA_HOME/sluice/store.db

# change ID WORD: POST; the answer is in `answer`, the status in $status
change() {
	status=$(python3 - "$address" "/api/v1/tunings/$1/$2" <<'END'
import http.client, socket, sys
connection = http.client.HTTPConnection("localhost", timeout=600)
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
connection.request("POST", sys.argv[2], "{}", {"Content-Type": "application/json", "X-Sluice": "1"})
answer = connection.getresponse()
open("answer", "wb").write(answer.read())
print(answer.status)
END
	) || fail "no answer to $*"
}

# A program that waits until it may write, and is slow with small blocks, so that a gain can be proven.
cat >'a <b>program' <<-'END'
	#!/bin/sh
	SLUICE_DISABLE=1 sh -c 'echo run >>"$1"' sh "$0.count"
	while [ -e "$0.hold" ] && [ "$(wc -l <"$0.count")" -gt 5 ]; do sleep 0.05; done
	exec dd if=/dev/zero of=out "bs=$1" count=1M iflag=count_bytes status=none
END
chmod +x 'a <b>program'
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "{block}", "values": [1024, 65536, 524288], "default": 1024},
	{"name": "env:HINT", "values": [null, "<i>a</i>"]}]}' >space.json
cat >tune.sh <<-END
	exec "$sluice" tune --space space.json --search random --runs 8 --repeat 2 --pairs 5 --no-ablation --timeout-factor 1000 -- './a <b>program' {block}
END

# Before the first tuning there is neither a store nor an error.
serve --socket "$work/socket"
expect_described tunings knowledge
check_eq "$(json_get answer '["entries"]')" "[]" "entries"
expect 404 /api/v1/tunings/1
check_has "$(cat answer)" "there is none yet"
for bad in 0 x -1 99999999999999999999 %2e%2e; do
	expect 404 "/api/v1/tunings/$bad"
done

# A tuning in the background: a shell would let it ignore SIGINT, so python starts it.
: >'a <b>program.hold'
python3 -c 'import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
subprocess.Popen(["sh", "tune.sh"], stdout=open("tune.out", "w"), stderr=subprocess.STDOUT, start_new_session=True)'
is_state() {
	get /api/v1/tunings
	[ "$(json_get answer '["tunings"][0]["state"] if d["tunings"] else None')" = "$1" ]
}
at_exit "rm -f '$work/a <b>program.hold'"
wait_for "running tuning" is_state running
expect_described tunings tunings/1 tunings/1/outcome
check_eq "$(json_get answer '["complete"]')" False "a running tuning is not complete"
check_words "$(json_get answer '["verdict"]')" unfinished
expect 200 /api/v1/tunings/1
check_eq "$(json_get answer '["can_stop"], d["can_resume"], d["gain"]')" "(True, False, None)" "a running tuning"
pid=$(json_get answer '["process"]["pid"]')
check_has "$(tr '\0' ' ' <"/proc/$pid/cmdline")" tune
check_eq "$(json_get answer '["program"]')" "a <b>program"
change 1 resume
check_eq "$status" 409 "status of resuming a tuning that runs ($(cat answer))"

# The events of the tuning, until it is finished.
python3 - "$address" >events <<'END' &
import http.client, json, socket, sys
connection = http.client.HTTPConnection("localhost", timeout=600)
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
connection.request("GET", "/api/v1/tunings/1/events?after=2")
name = None
for line in connection.getresponse():
    line = line.decode().rstrip("\n")
    if line.startswith("event: "):
        name = line[7:]
    if line.startswith("data: ") and name == "runs":
        print("runs", *[run["number"] for run in json.loads(line[6:])["runs"]], flush=True)
    if line.startswith("data: ") and name == "status":
        print("status", json.loads(line[6:])["state"], flush=True)
    if name == "end":
        print("end", flush=True)
        break
END
follower=$!
has_event() {
	grep -q "^$1" events
}
wait_for "events" has_event "status running"

# Stop: what Ctrl-C does to this process, and to no other.
change 1 stop
check_eq "$status" 202 "status of stop ($(cat answer))"
wait_for "interrupted tuning" is_state interrupted
has_ended() {
	[ -z "$(tr -d '\0' <"/proc/$1/cmdline" 2>/dev/null)" ]
}
wait_for "end of the tuner" has_ended "$pid"
check_has "$(cat tune.out)" "sluice tune --resume"
[ ! -e out ] || fail "the file of the aborted run was left"
wait_for "event" has_event "status interrupted"
change 1 stop
check_eq "$status" 409 "status of stopping it again ($(cat answer))"
METHOD=GET expect 405 /api/v1/tunings/1/stop

# A lock that names a process which does not hold it protects that process.
sleep 600 &
bystander=$!
at_exit "kill $bystander 2>/dev/null"
digest=$(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT digest FROM study").fetchone()[0])' \
	"$store")
printf 'process %d on host %s\ntuning 1\n' "$bystander" "$(hostname)" >"$store.tunings/$digest.lock"
change 1 stop
check_eq "$status" 409 "status of stopping a bystander ($(cat answer))"
kill -0 $bystander || fail "a process without the lock was stopped"
is_state interrupted || fail "a process without the lock counts"

# Resume: it runs to its end, and the page shows what it prints.
rm 'a <b>program.hold'
change 1 resume
check_eq "$status" 202 "status of resume ($(cat answer))"
wait_for "finished tuning" is_state finished
wait $follower || fail "follower"
check_has "$(tail -n 1 events)" end
runs=$(json_get answer '["tunings"][0]["runs"]')
check_eq "$(sed -n 's/^runs //p' events | tr ' ' '\n' | sort -nu | wc -l)" $((runs - 2)) "runs of the stream"
expect_described tunings tunings/1 tunings/1/outcome knowledge
change 1 resume
check_eq "$status" 409 "status of resuming a finished tuning ($(cat answer))"

# The verdict is that of the tuner, word for word, and so is the knowledge base.
get /api/v1/tunings/1
check_has "$(json_get answer '["log"]')" "runs in total"
expect 200 /api/v1/tunings/1/outcome
cp answer outcome.json
python3 - "$store.tunings/1.log" <<'END' || fail "the verdict is not that of the tuner"
import json, sys
verdict, printed = json.load(open("outcome.json"))["verdict"], open(sys.argv[1]).read()
words = lambda text: " ".join(text.split())
if words(verdict) not in words(printed):
    sys.exit(verdict + "\n" + printed)
END
get /api/v1/tunings
if [ "$(json_get answer '["tunings"][0]["gain"]')" = None ]; then
	check_eq "$(json_get outcome.json '["proof"]["holds"], d["apply"]')" "(False, None)" "no gain is claimed"
else
	check_has "$(json_get outcome.json '["apply"]')" "sluice run --tune=apply --"
fi
"$sluice" kb list --json >kb.json
get /api/v1/knowledge
python3 - <<'END' || fail "the knowledge base differs"
import json
listed, served = json.load(open("kb.json"))["entries"], json.load(open("answer"))["entries"]
for entry in served:
    del entry["parameter_line"], entry["used"]
raise SystemExit(listed != served)
END
