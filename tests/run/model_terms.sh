#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice model counts: the operations of an access on this computer and on a machine with its own description, the
# calls of a rank, and errors.
# Papers: HYB-10.
. "$(dirname "$0")/libtest.sh"

# Evaluates an expression over the JSON answer d and prints the values as words.
answer() { # expression
	python3 -c 'import json, sys
d = json.load(open("out"))
print(*eval(sys.argv[1]))' "$1"
}

# Models of Blue Gene machines belong to the lab.
check_rc 1 "$sluice" model counts -n 2048 -s 16M --machine vesta
check_has "$(cat err)" "sluice lab"

# This computer: contiguous writes are not buffered unless the user asks for it.
check_rc 0 "$sluice" model counts -n 4 -N 1 -s 1M
check_has "$(cat out)" "no aggregators"
check_rc 0 "$sluice" model counts -n 4 -N 1 -s 1M --param romio_cb_write=enable --param cb_buffer_size=1M --json
check_eq "$(answer '[d["aggregators"], d["rounds"]] + [t["count"] for t in d["terms"] if t["operation"] == "aa"]')" \
	"1 4 5" "rounds of one aggregator"
check_rc 0 "$sluice" model counts -n 4 -N 1 -s 1M --param romio_cb_write=enable --param cb_buffer_size=1M --rank 0 --json
check_eq "$(answer '[d[k] for k in ("alltoalls", "allgathers", "broadcasts", "sends", "receives", "writes")]')" \
	"5 2 1 2 8 4" "calls of the aggregator"

# A machine with its own description, by name and by path; errors name the line.
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
check_words "$(cat out)" "4 aggregators" "8 full rounds" "4.00 MiB"
check_rc 0 "$sluice" model counts -n 16 -s 2M --machine mine/striped.ini --read --param romio_cb_read=enable
check_words "$(cat out)" "4 aggregators" "0 full rounds" "64.0 MiB" incomplete
sed -i 's/^cores.*/cores = none/' mine/striped.ini
check_rc 1 "$sluice" model counts -n 16 -s 2M --machine mine/striped.ini
check_words "$(cat err)" mine/striped.ini:5: cores "'none'"

check_rc 2 "$sluice" model counts -n 5 -N 2 -s 1M
check_has "$(cat err)" "2 nodes"
check_rc 2 "$sluice" model counts -n 4 -N 1 -s 1M --param 'cb_config_list=host:2'
check_has "$(cat err)" "*:K"
check_rc 1 "$sluice" model counts -n 4 -N 1 -s 1M --rank 4
check_has "$(cat err)" "rank 4"
check_rc 3 "$sluice" model counts -n 4 -s 1M --machine nosuch
check_has "$(cat err)" "SLUICE_MACHINES"
