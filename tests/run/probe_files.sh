#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice forecast import|export|systems|forget`: files of blocks are imported and exported without changes.
. "$(dirname "$0")/libtest.sh"

export SLUICE_STORE_PATH=$work/known/store.db

check_rc 3 "$sluice" forecast systems
check_rc 3 "$sluice" forecast export --system modelled-titan
[ ! -e "$work/known" ] || fail "looking made a store"
check_rc 2 "$sluice" forecast import
check_rc 2 "$sluice" probe frobnicate
check_has "$(cat err)" frobnicate
check_rc 2 "$sluice" forecast export --since noon
check_has "$(cat err)" noon
check_rc 2 "$sluice" forecast export --since 2018-03-11 --until 2018-03-10

# The sample of the paper (WAN-10), including the dots of its figure.
cat >paper <<'TEXT'
Timestamp: 1520708288
All running jobs:
Job Id: 3901500
    Job_Name = run
    Job_Owner = user1@titan-login3
    resources_used.mem = 8412kb
    resources_used.vmem = 168948kb
    resources_used.walltime = 03:55:35
    ...
...
Performance:
OSS id 1MB 64MB 256MB 1GB
atlas1-0 0.00851s 0.11085s 0.5206s 1.83079s
...
TEXT
check_rc 0 "$sluice" forecast import --system paper paper
check_words "$(cat err)" "4 samples" "1 targets" "1 snapshots" paper
check_rc 0 "$sluice" forecast export --system paper
check_has "$(cat out)" "atlas1-0 0.00851s 0.11085s 0.5206s 1.83079s"
check_has "$(cat out)" "resources_used.walltime = 03:55:35"
grep -q user1 out && fail "the owner is not hidden"
grep -q "Job_Owner = [0-9a-f]\{16\}$" out || fail "the owner is not known: $(cat out)"
strings "$SLUICE_STORE_PATH" | grep -q user1 && fail "the owner is in the store"

# Repeated imports and exports change nothing, compressed or not.
check_rc 0 "$sluice" forecast export --simulate titan --days 0.05 --max-targets 3 -o one
check_rc 0 "$sluice" forecast import one
check_rc 0 "$sluice" forecast export --system modelled-titan -o two.gz
check_eq "$(head -c 2 two.gz | od -An -tx1 | tr -d ' ')" 1f8b "first bytes of gzip"
check_rc 0 "$sluice" forecast import --json two.gz
check_json out sluice.probe/1
check_eq "$(json_get out '["files"][0]["system"]')" modelled-titan system
check_rc 0 "$sluice" forecast export --system modelled-titan
cmp one out || fail "exported and imported data differ"
check_rc 0 "$sluice" forecast export --system modelled-titan --since 2018-03-10T19:00 --until 1520708500
check_eq "$(grep -c Timestamp: out)" 4 "blocks of the window"
check_rc 3 "$sluice" forecast export --system modelled-titan --since 2019-01-01
check_rc 3 "$sluice" forecast export --system nobody

# The same seed and count give the same system; from a pipe it gets another name.
"$sluice" forecast export --simulate titan --days 0.05 --max-targets 3 | "$sluice" forecast import --system again - 2>err
check_rc 0 "$sluice" forecast systems --json
check_json out sluice.probe/1
check_eq "$(json_get out '["systems"][0]["samples"]')" "$(json_get out '["systems"][1]["samples"]')" samples
check_rc 0 "$sluice" forecast systems
check_has "$(cat out)" modelled-again
check_has "$(cat out)" "2018-03-10 18:58:08"

# The truncated block of a killed writer is reported, and the rest is imported.
head -c -9 one >torn
check_rc 0 "$sluice" forecast import --system torn torn
check_has "$(cat err)" "torn:$(($(wc -l <torn) + 1)):"

# Invalid input is rejected with its line, and nothing of the file is imported.
{
	cat paper
	echo "atlas1-1 0.1 0.2s 0.3s 0.4s"
} >bad
check_rc 1 "$sluice" forecast import --system bad bad
check_words "$(cat err)" bad:15: cell '"0.1"'
check_rc 3 "$sluice" forecast export --system bad
check_rc 1 "$sluice" forecast import nowhere
check_rc 3 "$sluice" forecast import /dev/null

check_rc 0 "$sluice" forecast forget modelled-titan --until 2018-03-10T19:00
check_rc 0 "$sluice" forecast export --system modelled-titan
check_eq "$(grep -m 1 Timestamp: out)" "Timestamp: 1520708408" "first block"
check_rc 0 "$sluice" forecast forget modelled-titan
check_rc 3 "$sluice" forecast forget modelled-titan
check_has "$(cat err)" titan
