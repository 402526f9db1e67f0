#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run --place` places new files according to the forecast and the policy of the site. Without a site, a model
# or recent probes, the program runs as without Sluice, and one warning gives the reason. The parameters that `sluice
# forecast place --params` writes have the same effect with --params.
# Papers: WAN-39.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_FORECAST_MODEL=$work/model SLUICE_PROBE_SITE=$work/site.ini

# site LINES: writes a site with four directories and these lines of its policy
site() {
	rm -rf t0 t1 t2 t3 data
	mkdir t0 t1 t2 t3 data
	{
		echo "[targets]"
		for i in 0 1 2 3; do echo "t$i = $work/t$i"; done
		printf '[placement]\n%s\n' "$1"
	} >site.ini
}

# held: prints the number of files on each target
held() {
	for i in 0 1 2 3; do find "t$i" -type f | wc -l; done | paste -sd ' '
}

# probes END: prints three hours of probes until END. Targets take turns being busy; in the last half hour only t0 is.
probes() {
	python3 - "$1" <<'END'
import random, sys
end = int(sys.argv[1])
random.seed(5)
print("System: here")
for time in range(end - 3 * 3600, end + 1, 60):
    print("\nTimestamp: %d\nPerformance:\nOSS id 1MB 64MB" % time)
    for i in range(4):
        busy = i == 0 if time > end - 1800 else random.Random((end - time) // 1200 * 4 + i).random() < 0.4
        noise = random.lognormvariate(0, 0.1)
        print("t%d %.5fs %.5fs" % (i, (0.05 if busy else 0.01) * noise, (3 if busy else 1) * random.lognormvariate(0, 0.1)))
END
}

files='for i in {1..40}; do echo $i >data/$i.h5; done; echo log >data/log.txt; cat data/7.h5'

# placed [ARGUMENT...]: creates forty files and a log
placed() {
	check_rc 0 "$sluice" run "$@" -o trace -- bash -c "$files"
	check_eq "$(cat out)" 7 "what the program sees"
}

# Missing data: the program runs, and one warning says what to do.
site ""
placed --place hedged
check_eq "$(grep -c warning err) $(held)" "1 0 0 0 0" "without a model: $(cat err)"
check_words "$(cat err)" "sluice forecast train" "not placed"
SLUICE_PROBE_SITE='' placed --place hedged
check_words "$(cat err)" probe.site
check_rc 2 "$sluice" run --place best -- true
check_has "$(cat err)" "place.rule"

# With a forecast, the busy target gets less: by 1 / E[t] about a third of what the others get.
now=$(date +%s)
probes "$now" >rows
check_rc 0 "$sluice" forecast import rows
check_rc 0 "$sluice" forecast train --system here --method logistic -k 0
site "files = *.h5"
placed --place expected
check_eq "$(cat err)" "" "stderr"
read -r a b c d <<<"$(held)"
[ "$a" -ge 2 ] && [ "$a" -le 6 ] && [ $((a + b + c + d)) = 40 ] && [ "$b" -ge 11 ] && [ "$c" -ge 11 ] && [ "$d" -ge 11 ] ||
	fail "files of the targets, the first of which is busy: $a $b $c $d"
[ ! -L data/log.txt ] || fail "a file was placed that the site does not name"
check_has "$("$sluice" report trace)" "origin forecast" "origin of the parameters"

# The policies of the site and of parameters apply.
site "files = *.h5
allow = t1, t2"
placed --place equal
check_eq "$(held)" "0 20 20 0" "files where the site allows two targets"
site "most_extra = 1.1"
placed --place expected
read -r a b c d <<<"$(held)"
[ "$b" -le 12 ] && [ "$a" -ge 7 ] || fail "files where a target may get 1.1 times its equal share: $a $b $c $d"
site ""
SLUICE_PARAMS_FORBID=spread_directories placed --place expected
check_has "$(cat err)" "params.forbid"
check_eq "$(held)" "0 0 0 0" "files that were placed though it is forbidden"

# A parameter file has the same effect, and takes precedence over the forecast.
site "files = *.h5"
check_rc 0 "$sluice" forecast place --rule expected --total 1G --params out.json
SLUICE_PARAMS_ALLOW=semantics placed -p out.json
read -r a b c d <<<"$(held)"
[ "$a" -le 6 ] && [ $((a + b + c + d)) = 40 ] || fail "files by parameters: $a $b $c $d"
site ""
printf '{"schema": "sluice.params/1", "parameters": [{"name": "spread_directories", "value": "%s", "file": "*.h5"}]}' \
	"$work/t3" >mine.json
SLUICE_PARAMS_ALLOW=semantics placed -p mine.json --place equal
check_eq "$(held)" "0 0 0 40" "files where a file of parameters says so"
"$sluice" report trace >report
check_line report user: spread_directories "(user: mine.json) instead of" "(placement: forecast)"
"$sluice" report --json trace >report.json
check_eq "$(json_get report.json '["conflicts"][0]["source"]')" user

# A program that asks gets the same forecast: the busy target gets less. A path finds its target.
for name in t0 "$work/t0/some/file" t1 none; do
	check_rc 0 "$sluice" run -- "$prog/instrument" ask "$name" none none
	cat out
done >answers
python3 - <<'END' || fail "answers: $(cat answers)"
lines = open("answers").read().split("\n")
t0, path, t1, none = [line.split() for line in lines if line.startswith("target ")]
assert t0 == path and t0[1:3] == ["1", "t0"] and float(t0[3]) > 0.5 and 0 <= float(t0[4]) < 0.25, t0
assert t1[1:3] == ["1", "t1"] and float(t1[3]) < 0.5 and float(t1[4]) > float(t0[4]), t1
assert none[1] == "0" and none[2] == "unchanged", none
assert lines.count("targets 4") == 4, lines
END
SLUICE_INSTRUMENT_FORECAST=off check_rc 0 "$sluice" run -- "$prog/instrument" ask t0 none none
check_has "$(cat out)" "target 0 unchanged"

# A program that asks before a step is advised to write less, but not without a forecast. One of four targets is busy, and
# then takes three times as long.
export PYTHONPATH=$SOURCE/bindings/python PYTHONDONTWRITEBYTECODE=1
for ask in "$prog/instrument advise" "$(command -v python3) $work/advise.py"; do
	echo 'import sluice, sys; print(sluice.advise(int(sys.argv[1])))' >advise.py
	check_rc 0 "$sluice" run -- $ask 1000000
	[ "$(cat out)" -ge 750000 ] && [ "$(cat out)" -lt 990000 ] || fail "$ask: bytes of 1000000 where one of four targets is busy: $(cat out)"
	check_rc 0 "$sluice" run -- $ask $((2 ** 63 - 1))
	[ "$(cat out)" -gt $((2 ** 62)) ] || fail "$ask: a large number of bytes: $(cat out)"
	check_eq "$($ask 1000000)" 1000000 "advice without Sluice"
	SLUICE_INSTRUMENT_FORECAST=off check_rc 0 "$sluice" run -- $ask 1000000
	check_eq "$(cat out)" 1000000 "advice without a forecast"
done

# Probes that are too old are not used.
rm store.db
probes $((now - 7200)) >rows
check_rc 0 "$sluice" forecast import rows
site ""
placed --place expected
check_eq "$(grep -c warning err) $(held)" "1 0 0 0 0" "with old probes"
check_words "$(cat err)" "not placed"
