#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs have ids: `ls` shows them, every command that takes a RUN accepts them, and `rm` deletes runs and nothing else.
source "$(dirname "$0")/libtest.sh"

run_id() {
	"$sluice" ls | awk -v row="$1" 'NR == row + 1 { print $1 }'
}

check_rc 3 "$sluice" report
check_rc 3 "$sluice" trace path
"$sluice" run -- cat /etc/hostname >/dev/null
sleep 0.02
check_rc 7 "$sluice" run -- sh -c 'exit 7'
sleep 0.02
check_rc 137 "$sluice" run -- sh -c 'kill -9 $$'

# The list: newest first, with exit status or signal.
"$sluice" ls >list
check_eq "$(wc -l <list)" 4 "lines of ls"
check_has "$(sed -n 2p list)" "137 (KILL)" "the run that was killed"
check_has "$(sed -n 3p list)" " 7 " "the run that failed"
check_has "$(sed -n 4p list)" " 0 " "the run that succeeded"
check_eq "$("$sluice" ls --limit 1 | wc -l)" 2 "lines of ls --limit 1"

# By id, by a longer id, by the name in the directory, by path.
id=$(run_id 3)
full=$("$sluice" ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][2]["id"])')
path=$("$sluice" trace path "$id")
check_has "$full" "$id" "the whole id"
for run in "$id" "$full" "$path" "$(basename "$path")" "$(basename "$path" .sluice)"; do
	check_eq "$("$sluice" trace path "$run")" "$path" "path of $run"
	check_has "$("$sluice" report "$run")" "cat /etc/hostname" "report of $run"
	check_has "$("$sluice" print "$run")" open "print of $run"
done
check_eq "$("$sluice" trace path)" "$("$sluice" trace path "$(run_id 1)")" "the latest run"
# The shell completes ids where a RUN is expected, and file names where a path is.
check_has "$("$sluice" internal complete 1 report "${id:0:2}")" "$id" "completion of a run"
check_has "$("$sluice" internal complete 3 model predict --run "${id:0:2}")" "$id" "completion of --run"
check_eq "$("$sluice" internal complete 1 report ./)" ":files" "completion of a path"
check_rc 0 "$sluice" trace convert "$id" copy.txt
check_rc 1 "$sluice" report zzzz
check_has "$(cat err)" zzzz "error for an unknown run"
check_rc 1 "$sluice" report ''
# Two of 17 ids begin with the same digit.
for i in $(seq 17); do
	cp "$path" "$SLUICE_TRACE_DIR/copy-$i.sluice"
done
digit=$("$sluice" ls | awk 'NR > 1 { print substr($1, 1, 1) }' | sort | uniq -d | head -n 1)
check_rc 1 "$sluice" report "$digit"
check_has "$(cat err)" ambiguous "error for an ambiguous run"
"$sluice" rm "$SLUICE_TRACE_DIR"/copy-*.sluice >/dev/null
check_eq "$("$sluice" ls | wc -l)" 4 "lines of ls"

# Tags: given, listed, used as a filter, refused if they are not words, and deleted with their run.
check_eq "$("$sluice" ls | head -n 1 | grep -c tags)" 0 "column of tags without any"
check_eq "$("$sluice" tag "$id" nightly baseline)" $'baseline\nnightly' "tags that were given"
check_eq "$("$sluice" tag "$id")" $'baseline\nnightly' "tags of a run"
check_has "$("$sluice" ls | grep "^$id")" "baseline nightly" "tags in the list"
check_eq "$("$sluice" ls --tag nightly | awk 'NR > 1 { print $1 }')" "$id" "runs with a tag"
check_eq "$("$sluice" ls --tag nightly --limit 1 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["tags"])')" \
	"['baseline', 'nightly']" "tags as JSON"
check_eq "$("$sluice" ls --tag absent | wc -l)" 1 "runs with a tag that none has"
check_eq "$("$sluice" tag "$id" --delete nightly --delete absent new)" $'baseline\nnew' "tags after a change"
check_rc 0 "$sluice" tag "$id" --json
check_json out sluice.tag/1
before=$(sha256sum <"$path")
for word in '<b>' 'a b' '' "$(printf 'x%.0s' {1..33})" $'a\e[31m'; do
	check_rc 2 "$sluice" tag "$id" "$word"
	check_rc 2 "$sluice" ls --tag "$word"
done
check_rc 1 "$sluice" tag zzzz word
check_rc 1 "$sluice" tag "$id" $(seq -f 't%g' 20)
check_has "$(cat err)" "at most 16 tags" "too many tags"
check_eq "$("$sluice" tag "$id")" $'baseline\nnew' "tags after refused changes"
check_eq "$(sha256sum <"$path")" "$before" "the trace"
cp "$path" tagged.sluice
"$sluice" tag tagged.sluice copy >/dev/null
check_eq "$(stat -c %a tagged.sluice.tags)" 600 "mode of the file of tags"
"$sluice" rm --dry-run tagged.sluice >/dev/null
[ -f tagged.sluice.tags ] || fail "a dry run deleted tags"
"$sluice" rm tagged.sluice >/dev/null
[ ! -e tagged.sluice.tags ] || fail "tags remain without their run"

# Nothing but traces is deleted, and nothing if one of several runs is not found.
echo precious >file.sluice
cp file.sluice "$SLUICE_TRACE_DIR/precious.sluice"
ln -s "$path" link.sluice
check_rc 1 "$sluice" rm file.sluice
check_rc 1 "$sluice" rm link.sluice
check_rc 1 "$sluice" rm --keep 0 --dry-run
check_has "$(cat err)" precious.sluice "error for a file that is not a trace"
check_rc 1 "$sluice" rm "$id" zzzz
[ -f file.sluice ] && [ -f "$SLUICE_TRACE_DIR/precious.sluice" ] && [ -f "$path" ] || fail "rm deleted too much"
rm "$SLUICE_TRACE_DIR/precious.sluice"

check_rc 2 "$sluice" rm
check_rc 2 "$sluice" rm --keep 1 "$id"
check_rc 0 "$sluice" rm --keep 1 --dry-run --json
check_json out sluice.rm/1
check_eq "$(json_get out '["dry_run"]')" True "dry run"
check_eq "$("$sluice" ls | wc -l)" 4 "lines of ls after a dry run"
check_rc 0 "$sluice" rm --older 1d
check_eq "$("$sluice" ls | wc -l)" 4 "lines of ls after deleting old runs"
touch -d '40 days ago' "$path"
check_rc 0 "$sluice" rm --older 30d --keep 3
[ -f "$path" ] || fail "--keep did not keep a run"
check_rc 0 "$sluice" rm --older 30d --keep 2
[ ! -f "$path" ] || fail "--older did not delete a run"
check_rc 0 "$sluice" rm "$(run_id 2)"
check_eq "$("$sluice" ls | wc -l)" 2 "lines of ls in the end"
