#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an access is made of, by the command: the paper's machine, this computer, one of our own; the calls of a rank;
# and what is refused.
. "$(dirname "$0")/libtest.sh"

# What an expression over the answer d gives, as words.
answer() { # expression
	python3 -c 'import json, sys
d = json.load(open("out"))
print(*eval(sys.argv[1]))' "$1"
}

check_rc 0 "$sluice" model counts -n 2048 -s 16M --machine vesta -p bg_nodes_pset=16
check_has "$(cat out)" "136 aggregators, 15 full rounds of 2.12 GiB and an incomplete one"
check_has "$(grep 'sizes of messages' out)" " 17 "
check_eq "$(grep -c Alltoallv out)" 4 "exchanges"
# The switches of the paper's texts.
check_rc 0 "$sluice" model counts -n 2048 -s 1M --machine vesta --incomplete none --single corrected --json
check_json out sluice.model/1
check_eq "$(answer '[d["aggregators"], d["rounds"], d["incomplete"]]')" "520 0 1" "numbers"
check_eq "$(answer '[t["writers"] for t in d["terms"] if t["operation"] == "s_lock"]')" 1 "writers per node"
check_eq "$(answer 'sorted({t["operation"] for t in d["terms"]})')" "aa aav ar s_lock" "operations"
# As ROMIO and GPFS do it: domains of whole blocks, and caches that hold the first rounds.
check_rc 0 "$sluice" model counts -n 2048 -s 16M --machine vesta -p bg_nodes_pset=16 --rounds domains --json
check_eq "$(answer '[[t["operation"], t["count"], t["writers"] * 128, t["bytes"] >> 20] for t in d["terms"]
	if t["operation"].startswith("s_")]')" \
	"['s_lock', 1, 133.0, 16] ['s_cached', 6, 133.0, 16] ['s_nl_full', 8, 133.0, 16] ['s_nl_full', 1, 133.0, 8]" "rounds"
check_rc 2 "$sluice" model counts -n 2048 -s 16M --machine vesta --single domains

# This computer: nothing is buffered unless it is asked for.
check_rc 0 "$sluice" model counts -n 4 -N 1 -s 1M
check_has "$(cat out)" "no aggregators: every rank accesses what is its own"
check_rc 0 "$sluice" model counts -n 4 -N 1 -s 1M -p romio_cb_write=enable -p cb_buffer_size=1M --json
check_eq "$(answer '[d["aggregators"], d["rounds"]] + [t["count"] for t in d["terms"] if t["operation"] == "aa"]')" \
	"1 4 5" "rounds of one aggregator"
check_rc 0 "$sluice" model counts -n 4 -N 1 -s 1M -p romio_cb_write=enable -p cb_buffer_size=1M --rank 0 --json
check_eq "$(answer '[d[k] for k in ("alltoalls", "allgathers", "broadcasts", "sends", "receives", "writes")]')" \
	"5 2 1 2 8 4" "calls of the aggregator"

# A machine of our own, by name and by path; what is wrong in it is told with its line.
mkdir mine
cat >mine/striped.ini <<END
[machine]
name = striped
romio = lustre
[nodes]
cores = 4
[storage]
block = 4K
[defaults]
cb_buffer_size = 16M
striping_factor = 4
striping_unit = 1M
END
check_rc 0 env SLUICE_MACHINES="$work/mine" "$sluice" model counts -n 16 -s 2M --machine striped
check_has "$(cat out)" "4 aggregators, 8 full rounds of 4.00 MiB"
check_rc 0 "$sluice" model counts -n 16 -s 2M --machine mine/striped.ini -r -p romio_cb_read=enable
check_has "$(cat out)" "4 aggregators, 0 full rounds of 64.0 MiB and an incomplete one"
sed -i 's/^cores.*/cores = none/' mine/striped.ini
check_rc 1 "$sluice" model counts -n 16 -s 2M --machine mine/striped.ini
check_has "$(cat err)" "mine/striped.ini:5: cores is 'none', which is not a whole number"

check_rc 2 "$sluice" model counts -n 5 -N 2 -s 1M
check_has "$(cat err)" "5 ranks do not fill 2 nodes"
check_rc 2 "$sluice" model counts -n 4 -N 1 -s 1M -p 'cb_config_list=host:2'
check_has "$(cat err)" "give *:K"
check_rc 1 "$sluice" model counts -n 4 -N 1 -s 1M --rank 4
check_has "$(cat err)" "there is no rank 4 of 4"
check_rc 3 "$sluice" model counts -n 4 -s 1M --machine nosuch
check_has "$(cat err)" "SLUICE_MACHINES"
