# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of `sluice tune` with programs that change files; to be sourced after libtest.sh.
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
state=$XDG_DATA_HOME/sluice/store.db.tunings
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "cb_nodes", "values": [null, 1, 2]}]}' >space.json
tune=("$sluice" tune --space "$work/space.json" --runs 4 --repeat 2 --pairs 4 --no-ablation)

# fresh: a new directory with the user's files, which becomes the current one
fresh() {
	cd "$work"
	rm -rf files
	mkdir -p files/folder
	cd files
	echo "user data" >data
	echo second >data2
	echo inner >folder/inner
	chmod 600 data
	chmod 444 folder/inner
	touch -d '2020-01-01 10:00:00.123456789' data data2 folder/inner
	ln data hard
	list >"$work/before"
}

# list: names, kinds, modes, links, times and contents of everything below the current directory
list() {
	find . -printf '%P %y %m %n %l ' \( -type f -printf '%T@ ' -exec md5sum {} \; -o -printf '\n' \) | sort
}

# check_same WHAT: all files are as before, and nothing else is there
check_same() {
	list >"$work/after"
	diff "$work/before" "$work/after" >"$work/differences" || fail "$1 changed files: $(cat "$work/differences")"
}

# check_forgotten: no tuning is on record
check_forgotten() {
	check_eq "$(ls -A "$state/claims" "$state/journals" | grep -v :)" "" "left in the state directory"
}

# wait_for_file FILE PID: waits until the program has created the file
wait_for_file() {
	local i
	for i in $(seq $polls); do
		[ ! -e "$1" ] || return 0
		kill -0 "$2" 2>/dev/null || fail "the tuning has ended: $(cat "$work/log")"
		sleep 0.05
	done
	fail "$1 does not appear"
}
