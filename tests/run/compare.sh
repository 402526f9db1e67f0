#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice compare` finds what differs between runs, groups of runs and commands, and claims nothing that may be noise.
. "$(dirname "$0")/libtest.sh"

# figure FILE TABLE NAME MEASURE KEY: a value of the JSON
figure() {
	python3 - "$@" <<'PYTHON'
import json, sys
path, table, name, measure, key = sys.argv[1:]
rows = [r for r in json.load(open(path))[table] if r["name"].rsplit("/")[-1] == name]
print(rows[0][measure][key] if rows and measure in rows[0] else "none")
PYTHON
}

# Two traces with a known difference: the same bytes in 10 times as many calls.
check_rc 0 "$sluice" run -q -o few.sluice -- dd if=/dev/zero of=x bs=10240 count=10 status=none
check_rc 0 "$sluice" run -q -o many.sluice -- dd if=/dev/zero of=x bs=1024 count=100 status=none
check_rc 0 "$sluice" compare few.sluice many.sluice
check_words "$(head -n 1 out)" "run time" "not significant" repetitions
check_line out "write (POSIX)" 100 "instead of 10" "10.0 times"
check_line out size "1.00 KiB" "10.0 KiB"
check_rc 0 "$sluice" compare few.sluice many.sluice --json
check_json out sluice.compare/1
check_eq "$(figure out functions write calls verdict)" different
check_eq "$(figure out functions write calls ratio)" 10
check_eq "$(figure out functions write bytes_written verdict)" same
check_eq "$(figure out functions write time verdict)" "too few runs" "times of single runs"
check_eq "$(figure out files x calls verdict)" different
check_rc 0 "$sluice" compare --csv many.sluice few.sluice
check_line out "functions,write,POSIX,calls,different,100,10,"

# Functions on pipes are one row behind all others, unless all are asked for.
for size in 10240 1024; do
	check_rc 0 "$sluice" run -q -o piped$size.sluice -- \
		bash -c "dd if=/dev/zero bs=$size count=$((102400 / size)) status=none | dd of=x iflag=fullblock status=none"
done
# network FILE: the functions of the layer POSIX.Network, and the name of the last function
network() {
	python3 -c 'import json
rows = json.load(open("out"))["functions"]
print(*sorted({r["name"] for r in rows if r["layer"] == "POSIX.Network"}), "|", rows[-1]["name"])'
}
check_rc 0 "$sluice" compare --top 100 --json piped10240.sluice piped1024.sluice
check_eq "$(network)" "(sockets and pipes) | (sockets and pipes)" "functions on pipes"
check_eq "$(figure out functions "(sockets and pipes)" bytes_read verdict)" same
check_rc 0 "$sluice" compare --top 100 --all --json piped10240.sluice piped1024.sluice
check_words "$(network)" read write

# The order of access.
head -c 400000 /dev/zero >input
check_rc 0 "$sluice" run -q -o in_order.sluice -- "$prog/strides" forward input 1024 50
check_rc 0 "$sluice" run -q -o strided.sluice -- "$prog/strides" forward input 4096 50
check_rc 0 "$sluice" compare in_order.sluice strided.sluice
check_line out order "100.0%" "2.0%" sequential

# A run is the same as itself.
check_rc 0 "$sluice" compare --json few.sluice few.sluice
check_eq "$(grep -c '"verdict": *"\(different\|significant\)"' out)" 0 "differences of a run from itself"

# Counts decide about the exit code without repetitions, times do not.
check_rc 4 "$sluice" compare --metric calls --fail-above 10% few.sluice many.sluice
check_rc 0 "$sluice" compare --metric calls --fail-above 10% many.sluice few.sluice
check_rc 0 "$sluice" compare --fail-above 0 few.sluice many.sluice

# Groups of runs with known times: the runs of B take 1.5 times as long.
check_rc 0 "$sluice" trace convert few.sluice few.txt
python3 - <<'PYTHON'
lines = open("few.txt", encoding="utf-8").read().split("\n")
def write(path, factor):
    out, columns = [], None
    for line in lines:
        fields = line.split("\t")
        if line.startswith("#"):
            fields = ["duration_ns=%d" % (1e9 * factor) if f.startswith("duration_ns=") else f for f in fields]
        elif columns is None:
            columns = fields
        elif line:
            at = columns.index("duration_ns")
            fields[at] = str(int(10000 * factor))
        out.append("\t".join(fields))
    open(path, "w", encoding="utf-8").write("\n".join(out))
for i in range(5):
    write("a%d.txt" % i, 1 + i / 100)
    write("b%d.txt" % i, 1.5 * (1 + i / 100))
    write("c%d.txt" % i, 1.01 * (1 + i / 100))
PYTHON
check_rc 0 "$sluice" compare a?.txt --versus b?.txt
check_words "$(head -n 1 out)" slower "95% interval" "1.50"
check_rc 0 "$sluice" compare b?.txt --versus a?.txt
check_words "$(head -n 1 out)" faster
check_rc 4 "$sluice" compare --json a?.txt --versus b?.txt --fail-above 40%
check_eq "$(json_get out '["result"]["verdict"]')" significant
check_eq "$(figure out functions write time verdict)" significant
check_eq "$(figure out functions write calls verdict)" same
check_rc 0 "$sluice" compare --fail-above 50% a?.txt --versus b?.txt
check_rc 0 "$sluice" compare --fail-above 0 a?.txt --versus c?.txt
check_words "$(head -n 1 out)" "No significant difference"
check_rc 0 "$sluice" compare --hyperfine a?.txt --versus b?.txt
check_eq "$(json_get out '["results"][0]["times"].__len__()')" 5

# It fits the width.
COLUMNS=60 check_rc 0 "$sluice" compare a?.txt --versus b?.txt
check_eq "$(awk 'length > 60' out)" "" "lines of more than 60 columns"

# Two commands, one of which makes 10 times as many calls. All runs are recorded.
check_rc 0 "$sluice" compare --json --runs 2 --warmup 1 --prepare 'echo >>prepared' -- \
	dd if=/dev/zero of=x bs=10240 count=10 status=none --versus dd if=/dev/zero of=x bs=1024 count=100 status=none
check_eq "$(figure out functions write calls ratio)" 10
check_eq "$(wc -l <prepared)" 6 "prepared runs"
check_eq "$(ls runs/*-compare-*.sluice | wc -l)" 4 "recorded runs"
# The counts of equal commands never differ.
check_rc 0 "$sluice" compare --json --runs 2 -- dd if=/dev/zero of=x bs=1024 count=10 status=none --versus \
	dd if=/dev/zero of=x bs=1024 count=10 status=none
check_eq "$(grep -c '"verdict": *"different"' out)" 0 "differences between equal commands"
# The order alternates, and nothing is recorded on request.
check_rc 0 "$sluice" compare --no-record --runs 3 -- sh -c 'echo a >>order' --versus sh -c 'echo b >>order'
check_eq "$(tr -d '\n' <order)" abbaab "order of the runs"
check_eq "$(ls runs/*-compare-*.sluice | wc -l)" 8 "recorded runs"

# Names that differ from run to run are compared by their pattern.
check_rc 0 "$sluice" compare --runs 1 -- sh -c 'echo 1 >part.$$' --versus sh -c 'echo 1 >part.$$; echo 2 >>part.$$'
check_has "$(cat out)" "part.{pid}"

# Failures
check_rc 1 "$sluice" compare --runs 1 -- sh -c 'echo oops; exit 3' --versus true
check_words "$(cat err)" A oops 3
check_rc 0 "$sluice" compare --runs 1 --ignore-failure -- false --versus true
check_words "$(cat out)" failed
for record in "" --no-record; do
	check_rc 127 "$sluice" compare $record --runs 1 -- true --versus ./missing
	check_rc 126 "$sluice" compare $record --runs 1 -- /etc/passwd --versus true
done
check_rc 1 "$sluice" compare --runs 1 --prepare 'exit 7' -- true --versus true

# Garbage
echo garbage >garbage
check_rc 1 "$sluice" compare few.sluice garbage
check_rc 1 "$sluice" compare few.sluice missing.sluice
for words in "few.sluice" "few.sluice few.sluice few.sluice" "--versus few.sluice" "few.sluice --versus" \
	"--versus --versus" "-- true" "-- true --versus" "few.sluice -- true --versus true" \
	"--runs 0 -- true --versus true" "--fail-above x few.sluice few.sluice" "--fail-above -1 few.sluice few.sluice" \
	"--metric x few.sluice few.sluice" "--no-record --metric calls -- true --versus true" \
	"--json --csv few.sluice few.sluice"; do
	check_rc 2 "$sluice" compare $words
done

# Ctrl-C ends the fifth run; the four before are compared.
rc=0
env --default-signal=INT "$sluice" compare --no-record --runs 100 -- sh -c 'echo >>ran; [ $(wc -l <ran) -lt 5 ] || sleep 1000' \
	--versus sh -c 'echo >>ran; [ $(wc -l <ran) -lt 5 ] || sleep 1000' >out 2>err &
for try in $(seq $polls); do
	[ "$(cat ran 2>/dev/null | wc -l)" -lt 5 ] || break
	sleep 0.05
done
kill -INT $!
wait $! || rc=$?
check_eq "$rc" 130 "exit code after Ctrl-C"
check_line out A "2 runs"
