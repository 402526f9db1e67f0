#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A site records processes by its policy: without any action of theirs, with the same trace as `sluice run`, and only
# those that the policy names.
. "$(dirname "$0")/libsite.sh"

# functions FILE: name, calls and bytes of all functions
functions() {
	"$sluice" report --json "$1" >functions.json 2>/dev/null || wrong "no report of $1"
	"$python" -c 'import json
for f in sorted(json.load(open("functions.json"))["functions"], key=lambda f: (f["layer"], f["function"])):
    print(f["layer"], f["function"], f["calls"], f["errors"], f["bytes_read"], f["bytes_written"])'
}

# unrecorded_run COMMAND...: runs the command; the site keeps nothing of it
unrecorded_run() {
	local ends
	ends=$(site_ends)
	under_site "$@" >out 2>err || true
	sleep 0.5
	[ "$(site_ends)" = "$ends" ] || wrong "\"$*\" was recorded: $(tail -n 1 "$site_log")"
	spools_gone
}

case_begin "a site without a policy"
under_site "$prog/plain" >out 2>err || true
spools_gone
check_eq "$(ls "$site")" "" "files of the site"

site_start
case_begin "the same trace as that of sluice run"
for program in plain patterns streams pipes; do
	mkdir one
	(cd one && "$sluice" run -q -o "$work/one.sluice" -- "$prog/$program" >/dev/null 2>&1) || true
	rm -rf one
	both "$prog/$program"
	functions "$work/one.sluice" >one.txt
	functions "$work/trace" >site.txt
	diff one.txt site.txt >diff || wrong "$program: calls differ: $(cat diff)"
	check_sound
	check_eq "$(json_get report.json '["complete"]')" True "complete"
done

case_begin "what sluice run starts is its own"
ends=$(site_ends)
env SLUICE_SITE="$site" "$sluice" run -q -o own.sluice -- "$prog/plain" >/dev/null 2>&1 || true
sleep 0.5
check_eq "$(site_ends)" "$ends" "runs of the site"
[ "$(functions own.sluice | wc -l)" -gt 0 ] || wrong "sluice run has recorded nothing"

case_begin "opt-out"
unrecorded_run SLUICE_DISABLE=1 "$prog/plain"

case_begin "processes of one job are one run"
ends=$(site_ends)
processes=()
for i in 1 2 3; do
	mkdir "process$i"
	(cd "process$i" && under_site SLURM_JOB_ID=4711 SLURM_JOB_PARTITION=debug "$prog/writes" steady 1 10 "$work/stop" >out 2>&1) &
	processes+=($!)
done
# None ends before the last one has started: a run is over when it has had no processes for some time.
for i in 1 2 3; do
	wait_for "process $i" grep -q ready "process$i/out"
done
touch stop
wait "${processes[@]}"
site_wait "$ends"
check_eq "$(json_get report.json '["run"]["processes"]')" 3 "processes"
check_has "$(tail -n 1 "$site_log")" " 4711 " "job"
spools_gone

case_begin "children are followed through fork and exec"
both sh -c "'$prog/plain'; '$prog/plain' & wait; (exec '$prog/plain')"
check_sound
check_least 3 'function == "open" or function == "openat"'

site_stop
cat >"$site_policy" <<END
[policy]
skip=cat, dd
rule = mode=off program=*/streams
rule = mode=counters partition=count*
rule = mode=trace user=$(id -u) program=plain
rule = mode=trace program=sampled sample=0%
rule = mode=off program=oth?r
rule = mode=flight partition=flight
rule = mode=trace group=$(id -g)
END
site_start

case_begin "rules"
unrecorded_run "$prog/streams"
cp "$prog/plain" other
unrecorded_run ./other
unrecorded_run cat /dev/null
cp "$prog/plain" sampled
unrecorded_run ./sampled
both "$prog/plain"
check_sound
both "$prog/patterns"
check_sound

case_begin "counters"
ends=$(site_ends)
(mkdir count && cd count && under_site PBS_JOBID=7.host PBS_QUEUE=counting "$prog/writes" >/dev/null 2>&1) || true
site_wait "$ends"
check_has "$(tail -n 1 "$site_log")" " counters " "mode"
check_rows 0 'function == "write"'
"$sluice" report --json "$work/trace" >report.json 2>/dev/null
"$python" - <<'END' || wrong "the counters are missing"
import json
d = json.load(open("report.json"))
assert sum(f["bytes_written"] for f in d["files"]) > 0, d["files"]
END
spools_gone

case_begin "errors in the policy name file and line"
site_stop
while IFS='|' read -r line words; do
	printf '[policy]\n\n%s\n' "$line" >bad
	check_rc 1 "$prog/handover" "$site" "$spools" "$site_traces" bad 300
	check_has "$(cat err)" "bad:3:"
	check_words "$(cat err)" $words
done <<'END'
rule = user=root|mode
rule = mode=most|most
rule = mode=off user=nobody-has-this-name|nobody-has-this-name
rule = mode=off color=red|color
rule = mode=off mode=off|twice
rule = mode=off sample=200%|200%
rule = mode=off program=|program
key = value|key
limit = 1|limit
END

case_begin "a policy that others can write is not used"
site_start
chmod 666 "$site/policy"
unrecorded_run "$prog/plain"
chmod 644 "$site/policy"
chmod 777 "$site"
unrecorded_run "$prog/plain"
chmod 755 "$site"
both "$prog/plain"
site_stop
