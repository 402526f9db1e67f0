#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Placement by forecasts: shares and bytes add up, the policy of the site applies, a real program's files are placed
# according to the parameters that it writes, and the simulation reports all metrics.
. "$(dirname "$0")/libtest.sh"
export SLUICE_STORE_PATH=$work/store.db
# A simulated Cori with four targets, in the middle of its second day.
of="--simulate cori --max-targets 4"

check_rc 0 "$sluice" forecast train $of --method logistic -k 4 -o model
now="$of -m model --until 2018-03-12T00:00"
mkdir d0 d1 d2 d3
cat >site.ini <<END
[site]
name = here
[targets]
cscratch-0 = $work/d0
cscratch-1 = $work/d1
cscratch-2 = $work/d2
cscratch-3 = $work/d3
[placement]
most_extra = 1.2
least = 0.5
END

# Shares sum up to 1, stay within the limits, and follow the probabilities.
for rule in equal classes expected hedged; do
	check_rc 0 "$sluice" forecast place $now --site site.ini --total 1000000007 --stripe 64K --rule $rule --json
	check_json out sluice.forecast/1
	python3 - out $rule <<'END' || fail "placement by $rule is wrong: $(cat out)"
import json, sys
d = json.load(open(sys.argv[1]))
p = d["placement"]
assert d["rule"] == sys.argv[2] and d["site"] == "here" and len(p) == 4
assert sum(t["bytes"] for t in p) == 1000000007
assert sum(t["bytes"] % 65536 != 0 for t in p) == 1
assert abs(sum(t["share"] for t in p) - 1) < 1e-6
assert all(0.5 - 1e-6 <= t["of_equal"] <= 1.2 + 1e-6 for t in p)
p.sort(key=lambda t: t["busy"])
assert p[0]["busy"] < 0.5 < p[-1]["busy"]
if sys.argv[2] == "equal":
    assert all(abs(t["share"] - 0.25) < 1e-9 for t in p)
else:
    assert all(a["share"] >= b["share"] for a, b in zip(p, p[1:])) and p[0]["share"] > p[-1]["share"]
m = {r["metric"]: r for r in d["sheets"][0]["rows"]}
assert list(m) == ["slower group", "95th percentile target", "slowest target"]
assert sys.argv[2] == "equal" or m["slower group"]["gain"] > 0
END
done
check_rc 0 "$sluice" forecast place $now --site site.ini --total 4G
check_has "$(cat out)" 'rule "expected"'
check_words "$(cat out)" "site here" "0.5 to 1.2 times"

# Policy: targets that are not allowed get nothing. It is an error if no target is allowed or the limits are infeasible.
sed 's/^least = .*/allow = cscratch-[123]/' site.ini >some.ini
check_rc 0 "$sluice" forecast place $now --site some.ini --total 3G --json
check_eq "$(json_get out '["allowed"]')" 3
check_eq "$(json_get out '["placement"][0]["bytes"]')" 0
sed 's/^least = .*/allow = nowhere/' site.ini >none.ini
check_rc 1 "$sluice" forecast place $now --site none.ini --total 3G
check_words "$(cat err)" target allowed
check_rc 2 "$sluice" forecast place $now --site site.ini
check_has "$(cat err)" "--total"
check_rc 2 "$sluice" forecast place $now --total 1G --busy-threshold 2
check_rc 3 "$sluice" forecast place $now --total 1G --size 3M
check_has "$(cat err)" "3.00 MiB"
check_rc 3 "$sluice" forecast place $of --total 1G
check_words "$(cat err)" "no model"

# Placement: 40 new files are distributed according to the shares.
check_rc 0 "$sluice" forecast place $now --site some.ini --total 4G --rule expected --params params.json --json
cp out shares.json
mkdir data
check_rc 0 env SLUICE_PARAMS_ALLOW=semantics "$sluice" run -p params.json -o trace -- \
	bash -c 'for i in {1..40}; do echo $i >data/$i; done'
for i in 0 1 2 3; do find d$i -type f | wc -l; done >held
python3 - <<'END' || fail "files lie elsewhere: $(paste -sd' ' held) $(cat params.json)"
import json
p = json.load(open("shares.json"))["placement"]
held = [int(line) for line in open("held")]
assert sum(held) == 40
assert all(abs(n - 40 * t["share"]) < 2 for n, t in zip(held, p))
END

# One shared file on Lustre: 11 stripes are divided by the shares, rounded by the largest remainders.
for i in 0 1 2 3; do echo "cscratch-$i = lustre:$work/data,ost=$((i + 3))"; done >osts
sed -e '/^cscratch/d' -e '/^\[targets\]/r osts' site.ini >lustre.ini
check_rc 0 "$sluice" forecast place $now --site lustre.ini --total 4G --rule expected --params params.json --json
cp out shares.json
rm -rf data
mkdir data lib
ln -s "$prog/lustreapi.so" lib/liblustreapi.so.1
sed -i 's/"parameters": *\[/&{"name": "striping_factor", "value": 11},/' params.json
check_rc 0 env LD_PRELOAD="$prog/lustreapi.so" LD_LIBRARY_PATH="$work/lib" STANDIN_MAGIC=0x0BD00BD0 STANDIN_ROOT="$work/data" \
	STANDIN_LOG="$work/log" "$sluice" run -p params.json -o trace -- bash -c 'echo >data/shared'
python3 - <<'END' || fail "stripes lie elsewhere: $(cat log params.json shares.json)"
import json
p = json.load(open("shares.json"))["placement"]
stripes = open("log").read().split()[3:]
quotas = [11 * t["share"] for t in p]
held = [stripes.count(str(3 + i)) for i in range(4)]
left = 11 - sum(int(q) for q in quotas)
up = sorted(range(4), key=lambda i: int(quotas[i]) - quotas[i])[:left]
assert held == [int(q) + (i in up) for i, q in enumerate(quotas)], (held, quotas)
assert len(set(held)) > 1 and all(a != b for a, b in zip(stripes, stripes[1:] + stripes[:1]))
END

# Simulation: the report has every metric, and the oracle is faster.
check_rc 0 "$sluice" forecast simulate $of --method logistic -k 4 --days 1 --repeat 5 --feedback 0,1 --json
check_json out sluice.forecast/1
python3 - out <<'END' || fail "the simulation is wrong: $(head -c 3000 out)"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["moments"] > 200 and d["targets"] == 4 and d["repetitions"] == 5
assert [s["name"] for s in d["sheets"]] == ["slower_group", "late", "slowest"]
for s in d["sheets"]:
    rows = {(r["rule"], r["source"], r["feedback"]): r for r in s["rows"]}
    assert len(rows) == 30
    assert rows["classes", "true states", 0]["gain_percent"] > 2
    assert rows["classes", "random labels", 0]["gain_percent"] < rows["classes", "true states", 0]["gain_percent"]
    assert rows["expected", "measured times", 0]["slower_percent"] == 0
    assert rows["adaptive", "forecast", 0]["seconds"] >= rows["expected", "measured times", 0]["seconds"] or s["name"] != "slowest"
    assert rows["classes", "forecast", 1]["gain_percent"] < rows["classes", "forecast", 0]["gain_percent"]
END
check_rc 2 "$sluice" forecast simulate $of --days 3
check_has "$(cat err)" --days
check_rc 2 "$sluice" forecast simulate $of --feedback x
