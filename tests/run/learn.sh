#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice lab learn on small tables: fit, predict, select and show, and the errors for damaged tables and models.
. "$(dirname "$0")/libtest.sh"

# line.csv: a linear function without noise, with one text feature. state.csv: a class that a tree can separate.
# repeats.csv: four repetitions of each configuration.
python3 - <<'PYTHON'
import random
random.seed(1)
with open("line.csv", "w") as line, open("state.csv", "w") as state, open("repeats.csv", "w") as repeats:
    line.write("a,b,kind,y\n")
    state.write("t,load,wait,label\n")
    repeats.write("nodes,size,bw\n")
    for i in range(80):
        a, b, kind = random.randint(1, 50), random.random(), random.choice(["read", "write"])
        line.write("%d,%r,%s,%r\n" % (a, b, kind, 3 * a + 2 * b + (10 if kind == "write" else 0) + 1))
    for i in range(200):
        load, wait = random.random(), random.random()
        state.write("%d,%r,%r,%s\n" % (i * 30, load, wait, "busy" if load > 0.5 else "idle"))
    for c in range(25):
        nodes, size, level = c % 5 + 1, c // 5 + 1, random.uniform(50, 150)
        for repetition in range(4):
            repeats.write("%d,%d,%.3f\n" % (nodes, size, level * random.uniform(0.99, 1.01)))
PYTHON

# same FILE COLUMN COLUMN: checks that two columns agree to nine digits
same() {
	python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert rows
for r in rows:
    a, b = float(r[sys.argv[2]]), float(r[sys.argv[3]])
    assert abs(a - b) <= 1e-9 * max(1, abs(a)), (a, b)' "$@" || fail "$2 and $3 of $1 differ"
}

# misuse
check_rc 2 "$sluice" learn
check_rc 2 "$sluice" lab learn teach line.csv
check_has "$(cat err)" 'unknown subcommand "teach"'
check_rc 2 "$sluice" lab learn fit
check_has "$(cat err)" "usage: sluice lab learn fit DATA"
check_rc 2 "$sluice" lab learn fit line.csv
check_has "$(cat err)" "--response"
check_rc 2 "$sluice" lab learn fit line.csv --response y --learner nope
check_has "$(cat err)" '"nope"'
check_rc 2 "$sluice" lab learn fit line.csv --response y --learner forest:twigs=3
check_has "$(cat err)" 'twigs'
check_rc 2 "$sluice" lab learn fit line.csv --response y --learner bayes
check_rc 2 "$sluice" lab learn fit line.csv --response y --recipe polish
check_rc 2 "$sluice" lab learn select line.csv --response y --learners linear,nope
check_rc 2 "$sluice" lab learn fit line.csv --response y --classify --log
check_rc 2 "$sluice" lab learn predict m line.csv --coverage 90
check_rc 2 "$sluice" lab learn fit line.csv --response y --threads 0
# An option of another subcommand is an error.
check_rc 2 "$sluice" lab learn fit line.csv --response y --candidates 3
check_rc 2 "$sluice" lab learn predict m line.csv --seed 1

# fit and predict
check_rc 0 "$sluice" lab learn fit line.csv --response y --learner linear -o line.model
check_has "$(cat out)" "linear predicts y"
check_has "$(cat out)" "trained on   80 rows, 3 features, 4 inputs"
check_has "$(cat out)" "validation   R2 1.0000, median error 0.0%"
check_has "$(cat err)" "line.model"
check_rc 0 "$sluice" lab learn predict line.model line.csv
mv out predicted.csv
check_eq "$(head -1 predicted.csv)" "a,b,kind,y,prediction,low,high" "columns of the predictions"
check_eq "$(wc -l <predicted.csv)" 81 "lines of the predictions"
same predicted.csv y prediction
check_has "$(cat err)" "80 rows: RMSE"
check_has "$(cat err)" "R2 1.0000, median error 0.0%"

# columns in another order, without the response, compressed, from standard input, and to a compressed file
python3 -c 'import csv
rows = list(csv.DictReader(open("line.csv")))
with open("other.csv", "w") as out:
    out.write("kind;extra;b;a\n")
    for r in rows:
        out.write("%s;%s;%s;%s\n" % (r["kind"], "x", r["b"], r["a"]))'
gzip -k other.csv
check_rc 0 "$sluice" lab learn predict line.model other.csv.gz -o with.csv.gz
check_eq "$(cat out err)" "" "messages"
gzip -dc with.csv.gz >with.csv || fail "the output is not compressed"
check_rc 0 sh -c "'$sluice' learn predict line.model - <other.csv"
check_eq "$(cut -d, -f5 out)" "$(cut -d, -f5 predicted.csv)" "predictions by name of column"
cmp -s out with.csv || fail "the compressed output is another"

# unknown and missing values
printf 'a,b,kind\n1,0.5,append\n2,,read\n' >strange.csv
check_rc 0 "$sluice" lab learn predict line.model strange.csv
check_has "$(cat err)" "unknown to the model"
check_has "$(cat err)" "1 value is missing"
printf 'a,kind\n1,read\n' >lacking.csv
check_rc 1 "$sluice" lab learn predict line.model lacking.csv
check_has "$(cat err)" "b"
check_rc 1 "$sluice" lab learn predict line.model predicted.csv
check_has "$(cat err)" 'already has a column "prediction"'

# classes
check_rc 0 "$sluice" lab learn fit state.csv --response label --classify --learner forest:trees=20 --features load,wait \
	--calibrate isotonic -o busy.model
check_has "$(cat out)" "forest (trees=20) predicts label: busy, idle"
check_has "$(cat out)" "isotonic regression"
check_rc 0 "$sluice" lab learn predict busy.model state.csv
check_eq "$(head -1 out)" "t,load,wait,label,prediction,chance_busy,chance_idle"
check_has "$(cat err)" "200 rows: accuracy 1.0000, AUC 1.0000"
python3 -c 'import csv
for r in csv.DictReader(open("out")):
    assert r["prediction"] == r["label"], r
    assert abs(float(r["chance_busy"]) + float(r["chance_idle"]) - 1) < 1e-12' || fail "chances"
check_rc 0 "$sluice" lab learn predict busy.model state.csv --json
check_json out sluice.learn/1
check_eq "$(json_get out '["rows"][0]["prediction"]')" "$(sed -n 2p state.csv | cut -d, -f4)"
check_rc 1 "$sluice" lab learn fit state.csv --response label --learner linear
check_has "$(cat err)" '"busy"'
check_rc 0 "$sluice" lab learn fit repeats.csv --response nodes --classify --learner tree -o nodes.model
check_has "$(cat out)" "predicts nodes: 1, 2, 3, 4, 5"
check_rc 0 "$sluice" lab learn predict nodes.model repeats.csv
same out nodes prediction

# time: the model keeps its time range, and some methods can be updated with further rows
head -101 state.csv >early.csv
(head -1 state.csv && tail -100 state.csv) >late.csv
check_rc 0 "$sluice" lab learn fit early.csv --response label --classify --learner bayes --time-column t -o early.model
check_has "$(cat out)" "time range   t from 0 to 2970"
check_has "$(cat out)" "100 rows, 2 features"
check_rc 2 "$sluice" lab learn fit late.csv --refresh early.model
check_rc 0 "$sluice" lab learn fit late.csv --refresh early.model -o both.model
check_has "$(cat out)" "time range   t from 0 to 5970"
check_has "$(cat out)" "updated with 100 rows"
check_rc 0 "$sluice" lab learn fit line.csv --response y --learner tree -o tree.model
check_rc 1 "$sluice" lab learn fit line.csv --refresh tree.model -o x.model
check_has "$(cat err)" "tree cannot"
[ ! -e x.model ] || fail "a model that could not be refreshed was written"

# show
check_rc 0 "$sluice" lab learn describe line.model
check_has "$(cat out)" "line.model: linear predicts y"
check_rc 0 "$sluice" lab learn show busy.model --json
check_json out sluice.learn/1
check_eq "$(json_get out '["classes"]')" "['busy', 'idle']"
check_eq "$(json_get out '["importance"][0]["input"]')" load
check_eq "$(json_get out '["settings"]')" trees=20
check_rc 0 "$sluice" lab learn show line.csv
check_eq "$(sed -n 1p out)" "line.csv: 80 rows, 4 columns"
check_has "$(cat out)" "read, write"
check_rc 0 "$sluice" lab learn show line.csv --json
check_json out sluice.learn/1
check_eq "$(json_get out '["columns"][2]["levels"]')" "['read', 'write']"
check_rc 0 "$sluice" lab learn show
for method in linear logistic bayes tree rules gaussian svm forest boosting perceptron; do
	grep -q "^$method " out || fail "show does not name $method"
done
check_rc 0 "$sluice" lab learn show --json
check_json out sluice.learn/1
check_eq "$(json_get out '["methods"][0]["name"]')" linear

# The first line of a model file is JSON, for people and other programs.
head -1 busy.model >head.json
check_json head.json sluice.model/1
check_eq "$(json_get head.json '["features"]')" "['load', 'wait']"

# damaged tables and models
printf 'a,b\n1,2\n3\n' >short.csv
check_rc 1 "$sluice" lab learn fit short.csv --response b
check_has "$(cat err)" "short.csv"
check_has "$(cat err)" "3" "number of the line"
check_rc 1 "$sluice" lab learn fit nowhere.csv --response b
check_has "$(cat err)" "No such file"
check_rc 1 "$sluice" lab learn fit line.csv --response z
check_has "$(cat err)" "z"
printf 'a,b\n1,\n2,\n' >nothing.csv
check_rc 3 "$sluice" lab learn fit nothing.csv --response b
check_has "$(cat err)" "no row has a value"
printf 'a,b\n1,2\n2,\n3,4\n4,5\n5,6.5\n6,7\n' >gaps.csv
check_rc 0 "$sluice" lab learn fit gaps.csv --response b --learner linear --folds 2
check_has "$(cat err)" "1 row without a value of b"
check_rc 1 "$sluice" lab learn predict line.csv line.csv
check_has "$(cat err)" "line.csv is n"
head -c 300 line.model >cut.model
check_rc 1 "$sluice" lab learn predict cut.model line.csv
check_has "$(cat err)" "cut.model is damaged or incomplete"
check_has "$(cat err)" "fit it again"
python3 -c 'b = bytearray(open("line.model", "rb").read()); b[-20] ^= 4; open("flipped.model", "wb").write(b)'
check_rc 1 "$sluice" lab learn show flipped.model
check_has "$(cat err)" "flipped.model is damaged or incomplete"
sed '1s,sluice.model/1,sluice.model/9,' line.model >later.model
check_rc 1 "$sluice" lab learn show later.model
check_has "$(cat err)" "later version of Sluice"
check_rc 1 "$sluice" lab learn fit line.csv --response y --learner linear -o /nonexistent/x.model
check_has "$(cat err)" "/nonexistent/x.model"

# select: nearest neighbors score well if repetitions are in different folds, and badly if they are not
quick="--learners linear,neighbours,tree --candidates 4 --folds 5"
check_rc 0 "$sluice" lab learn select repeats.csv --response bw $quick
check_has "$(head -1 out)" "RMSE"
check_has "$(cat out)" "5 plain folds of 100 rows"
check_rc 0 "$sluice" lab learn select repeats.csv --response bw $quick --json -T 1
check_json out sluice.learn/1
mv out one.json
check_rc 0 "$sluice" lab learn select repeats.csv --response bw $quick --json -T 4
mv out four.json
python3 - <<'PYTHON' || fail "the leaderboard depends on the threads"
import json
one, four = (json.load(open(n)) for n in ("one.json", "four.json"))
for d in one, four:
    for c in d["candidates"]:
        c.pop("cpu_seconds")
assert one == four
assert one["planned"] == len(one["candidates"]) and one["candidates"][0]["rmse"] <= one["candidates"][1]["rmse"]
assert len(one["candidates"][0]["fold_rmse"]) == 5
PYTHON
check_rc 0 "$sluice" lab learn select repeats.csv --response bw $quick --by nodes,size --json
python3 - <<'PYTHON' || fail "grouped folds split repetitions"
import json
plain, grouped = json.load(open("one.json")), json.load(open("out"))
assert grouped["split"] == "grouped"
assert plain["median_error"] < 0.02 < 0.1 < grouped["median_error"], (plain["median_error"], grouped["median_error"])
PYTHON
check_rc 0 "$sluice" lab learn select line.csv --response y --learners linear,tree --candidates 2 --recipes 'none;centre,scale' \
	--score median-error -o best.model
check_has "$(cat out)" "best: linear"
check_has "$(cat err)" "best.model"
check_rc 0 "$sluice" lab learn predict best.model line.csv
same out y prediction
check_rc 0 "$sluice" lab learn select state.csv --response label --classify --learners bayes,tree --candidates 3 --score auc --all
check_has "$(head -1 out)" "AUC"
check_has "$(cat out)" "stratified folds of 200 rows"
check_rc 1 "$sluice" lab learn select line.csv --response y --score auc
check_has "$(cat err)" "class"
# select --output writes the model that fit with the same plan writes.
check_rc 0 "$sluice" lab learn fit line.csv --response y --learner linear -o a.model
check_rc 0 "$sluice" lab learn select line.csv --response y --learners linear --candidates 1 -o b.model
check_rc 0 "$sluice" lab learn predict a.model other.csv
mv out a.csv
check_rc 0 "$sluice" lab learn predict b.model other.csv
cmp -s a.csv out || fail "select writes another model than fit"

# Adaptive intervals keep their coverage if the noise grows after the fit; fixed ones do not.
python3 -c 'import random
random.seed(4)
for name, first, rows, noise in ("before", 0, 400, 1), ("after", 400, 3000, 3):
    with open(name + ".csv", "w") as f:
        print("t,a,y", file=f)
        lines = [(i, (a := random.random()), a + noise * random.gauss(0, 1)) for i in range(first, first + rows)]
        if name == "after":
            random.shuffle(lines)
        for line in lines:
            print(*line, sep=",", file=f)'
# covered: percentage of the rows of out whose y is inside its interval; NA has no bounds.
covered() {
	python3 -c 'import csv
rows = list(csv.DictReader(open("out")))
print(round(100 * sum(r["low"] == "NA" or float(r["low"]) <= float(r["y"]) <= float(r["high"]) for r in rows) / len(rows)))'
}
check_rc 0 "$sluice" lab learn fit before.csv --response y --features a --time-column t --learner linear -o drift.model
check_rc 0 "$sluice" lab learn predict drift.model after.csv
[ "$(covered)" -lt 60 ] || fail "fixed intervals cover $(covered) % of noise that they cannot know"
check_rc 0 "$sluice" lab learn predict drift.model after.csv --adaptive
[ "$(covered)" -ge 88 ] && [ "$(covered)" -le 92 ] || fail "adaptive intervals cover $(covered) % instead of 90 %"
check_has "$(cat err)" "inside their adaptive interval"
check_rc 0 "$sluice" lab learn fit state.csv --response label --classify --learner bayes -o class.model
check_rc 2 "$sluice" lab learn predict class.model state.csv --adaptive

# Levels that depend on each other, an empty column and numbers that cannot be squared.
(echo t,a,y; for i in $(seq 1000); do echo "l$((i * 7919 % 200)),$((i * 37 % 11)),$((i % 13))"; done) >levels.csv
check_rc 0 "$sluice" lab learn fit levels.csv --response y --learner linear --folds 5 --json
python3 -c 'import json; o = json.load(open("out")); assert o["rmse"] > 0 and o["margin"] > 0, o' || fail "no RMSE: $(cat out)"
(echo a,b,y; for i in $(seq 50); do echo "$i,,$((i * 2))"; done) >empty.csv
check_rc 0 "$sluice" lab learn fit empty.csv --response y --learner linear
check_has "$(cat err)" "column b"
(echo a,y; for i in $(seq 50); do echo "$i,${i}e300"; done) >huge.csv
check_rc 1 "$sluice" lab learn fit huge.csv --response y --learner linear
check_has "$(cat err)" "logarithm"
check_rc 0 "$sluice" lab learn fit huge.csv --response y --log --learner tree

# Ctrl-C: the completed candidates are shown, and the exit code is 1.
python3 -c 'import random
random.seed(2)
print("a,b,c,y")
for i in range(3000):
    print(random.random(), random.random(), random.random(), random.random(), sep=",")' >large.csv
rc=0
python3 - "$sluice" <<'PYTHON' || rc=$?
import os, signal, subprocess, sys, time
with open("out", "w") as out, open("err", "w") as err:
    # A shell would start it with the signal ignored.
    p = subprocess.Popen([sys.argv[1], "learn", "select", "large.csv", "--response", "y", "--learners", "linear,forest",
                          "--candidates", "1000", "--threads", "2"], stdout=out, stderr=err)
    while sum(map(int, open("/proc/%d/stat" % p.pid).read().split()[13:15])) < 3 * os.sysconf("SC_CLK_TCK"):
        time.sleep(0.05)
    p.send_signal(signal.SIGINT)
    sys.exit(p.wait())
PYTHON
check_eq "$rc" 130 "exit code after an interrupt"
check_has "$(cat err)" "interrupted after "
check_has "$(cat out)" "linear"
check_has "$(cat out)" "best: "
