#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Names, commands, hosts and notes from outside never reach a terminal, CSV or JSON as control characters, whichever
# command prints them. Readable UTF-8 stays as it is.
. "$(dirname "$0")/libtest.sh"

# check_clean FILE...: valid UTF-8 without controls (C0, DEL, C1) and without marks that change the direction of text;
# line breaks are allowed.
check_clean() {
	python3 - "$@" <<'END' || fail "controls or invalid UTF-8 in $*: $(cat -v "$@" | head -c 3000)"
import sys
for name in sys.argv[1:]:
    text = open(name, "rb").read().decode("utf-8")
    bad = {c for c in text if (c < " " and c != "\n") or "\x7f" <= c < "\xa0" or c in "\u061c\u200e\u200f"
           or "\u2028" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"}
    assert not bad, (name, bad)
END
}

# check_command RC COMMAND...: the command ends with that code and prints nothing dangerous.
check_command() {
	check_rc "$@"
	check_clean out err
}

red=$'\e[31m'
title=$'\e]0;PWNED\a'
c1=$'\xc2\x9b31m'
raw=$'\x9b31m'
bidi=$'\xe2\x80\xae'
broken=$'\xff\xc3'
lines=$'\nsluice: forged\tline\r'
name="gr$(printf '\xc3\xbc')n$red$title$c1$raw$bidi$broken$lines$(printf '\x7f').dat"
printf x >"$name"

# The summary of a run, and everything that reads its trace.
cp "$(type -P cat)" "cat$red$raw"
check_command 0 "$sluice" run --summary -o t.sluice -- sh -c '"./$0" "$1" >"$1.copy"' "cat$red$raw" "$name"
check_has "$(cat err)" '\x1b'
check_command 0 "$sluice" report t.sluice
check_has "$(cat out)" "gr$(printf '\xc3\xbc')n\\x1b[31m"
check_command 0 "$sluice" report --survey t.sluice
check_command 0 "$sluice" report --json t.sluice
check_json out sluice.report/1
check_command 0 "$sluice" report --plugin file_surveyor,histogram t.sluice
for option in "" --csv --tree --json; do
	check_command 0 "$sluice" print $option t.sluice
	check_has "$(cat out)" "gr$(printf '\xc3\xbc')n"
	check_eq "$(grep -c '^sluice: forged' out || true)" 0 "forged lines of print $option"
done
check_json out sluice.print/1
check_rc 0 "$sluice" print --csv t.sluice
check_eq "$(python3 -c 'import csv; print({len(r) for r in csv.reader(open("out"))})')" "{26}" "columns of CSV"

# Directories, runs and messages with such names.
mkdir "runs$red"
cp t.sluice "runs$red/run$raw.sluice"
check_command 0 "$sluice" --set trace.dir="$work/runs$red" ls
check_command 0 "$sluice" --set trace.dir="$work/runs$red" ls --json
check_command 0 "$sluice" --set trace.dir="$work/runs$red" rm --dry-run --keep 0
check_command 1 "$sluice" report "missing$name"
check_command 1 "$sluice" report "./missing/$name"
check_command 1 "$sluice" report "$name"
check_command 2 "$sluice" "$name"
check_command 2 "$sluice" report --"$name"
check_command 2 "$sluice" trace "$name"
check_command 2 "$sluice" --set "$name"=1 ls
check_command 127 "$sluice" run -- "missing$name"
printf '[trace]\nd%sir = x\n[%s]\na=b\n' "$red" "$raw" >"$SLUICE_ETC"
check_command 0 "$sluice" run --quiet -o u.sluice -- true
"$sluice" doctor >out 2>err || true
check_clean out err
rm "$SLUICE_ETC"

# The text form keeps such texts, but is itself safe to look at. Other forms give the same output.
check_command 0 "$sluice" trace convert t.sluice t.txt
check_rc 0 sed 's/\t/ /g' t.txt
check_clean out
check_rc 0 "$sluice" print t.sluice
mv out expected
check_rc 0 "$sluice" print t.txt
cmp out expected || fail "print differs for the text form"
check_command 0 "$sluice" trace convert t.sluice t.db
check_command 0 "$sluice" print t.db
cmp out expected || fail "print differs for the SQLite form"

# Notes, hosts and statistics of a trace that somebody else made.
evil='\x1b[31m\x9b31m\xc2\x9b31m\xe2\x80\xae\xff\nsluice: forged\x0d'
{
	cat t.txt
	for kind in report anomaly applied degraded refused cost; do
		printf '#note\ttime_ns=5\tprocess=-1\thost=h%s\tsource=s%s\tkind=%s\tname=n%s/m%s\tvalue=v%s\n' \
			"$evil" "$evil" "$kind" "$evil" "$evil" "$evil"
	done
	printf '#host\thost=h%s\tmethod=m%s\toffset_ns=5\terror_ns=1\n' "$evil" "$evil"
	printf '#statistic\tnumber=%s\thost=h%s\tname=n%s\tunit=u%s\treduction=r%s\tscale=1\n' \
		"$(grep -c '^#statistic' t.txt || true)" "$evil" "$evil" "$evil" "$evil"
	printf '#sample\tstatistic=%s\ttime_ns=1000000\tperiod_ns=1000000\tvalue=5\n' \
		"$(grep -c '^#statistic' t.txt || true)"
} >evil.txt
for option in "" --json --by-rank; do
	check_command 0 "$sluice" report $option evil.txt
	check_eq "$(grep -c '^sluice: forged' out || true)" 0 "forged lines of report $option"
done
for format in perfetto folded csv; do
	check_command 0 "$sluice" trace export --format $format evil.txt -
	check_eq "$(grep -c '^sluice: forged' out || true)" 0 "forged lines of export $format"
done
check_command 0 "$sluice" trace convert evil.txt evil.sluice
check_command 0 "$sluice" report evil.sluice
printf '#note\tkind=%s\tunknown%s=1\n' "$evil" "$red" | cat t.txt - >wrong.txt
check_command 1 "$sluice" report wrong.txt

# The knowledge base accepts no such texts, and its messages do not repeat them.
export SLUICE_STORE_PATH=$work/store.db
for key in program fingerprint arguments platform file; do
	for evil in '\u009b31m' '\u202e' '\u001b[31m'; do
		python3 - "$key" "$evil" >known.json <<'END'
import json, sys
entry = {"program": "p", "fingerprint": "f", "arguments": "a", "platform": "m", "filesystem": "local", "ranks": 4,
         "size_class": 13, "objective": "io", "before": 2, "after": 1, "gain": 2, "gain_low": 1.5, "gain_high": 2.5,
         "found_ns": 1, "pinned": False}
parameter = {"name": "striping_factor", "value": 4, "file": "x"}
(parameter if sys.argv[1] == "file" else entry)[sys.argv[1]] += json.loads('"%s"' % sys.argv[2])
print(json.dumps({"schema": "sluice.kb/1", "entries": [dict(entry, parameters=[parameter])]}, ensure_ascii=False))
END
		check_command 1 "$sluice" kb import known.json
		check_words "$(cat err)" control
	done
done

# Machine learning prints names of columns and classes.
printf 'a\e[31m,b\xc2\x9b31m\n1,x\e[31m\n2,y\n1,x\e[31m\n2,y\n1,x\e[31m\n2,y\n' >"table$raw.csv"
"$sluice" lab learn show "table$raw.csv" >out 2>err || true
check_clean out err
