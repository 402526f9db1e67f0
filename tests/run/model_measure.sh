#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice model measure and data: real ranks under both MPIs, interrupted and resumed campaigns, and errors.
# Papers: HYB-36, HYB-58.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

mpis=$(mpi_list | tr "\n" " ")
mpis=${mpis% }
[ -n "$mpis" ] || skip libmpich-dev
export SLUICE_STORE_PATH=$work/store.db
mkdir dir

# bench ARGUMENT...: measures tiny cells below $work
bench() {
	timeout "$limit" "$sluice" model measure "$@"
}

# data ARGUMENT...: runs `sluice model data` on the rows of earlier measurements
data() {
	"$sluice" model data "$@"
}

# rows OPERATION: prints the number of its rows in rows.csv
rows() {
	grep -c "^[^,]*,$1," rows.csv || true
}

# A dry run needs no ranks.
check_rc 0 bench all -n 2,3 --buffers 64K,128K --repeat 2 --dry-run --json
check_json out sluice.bench/1
check_eq "$(json_get out '["plan"][-1]["operation"]')" s_lock
# 3 ranks: 1, 2 or 3 writers; 4 rounds; the largest also in parts of 1, 2 and 3; 192 KiB, twice.
check_eq "$(json_get out '["plan"][-1]["written_bytes"]')" $((2 * 196608 * (4 * 6 + 6))) "bytes planned"
check_eq "$(json_get out '["left"]')" "$(json_get out '["cells"]')"
check_eq "$(ls dir)" "" "files after a dry run"

for mpi in $mpis; do
	check_rc 0 bench all -n 3 --buffers 64K,128K --repeat 2 --dir dir --platform "on $mpi" --mpi "$mpi" --max-time 1s -o rows.csv --json
	check_json out sluice.bench/1
	check_eq "$(json_get out '["cells_known"]')" 0
	check_eq "$(json_get out '["rows_added"]')" "$(($(wc -l <rows.csv) - 1))"
	# One, two and three writers, two sizes, two files each; three rounds after the first.
	check_eq "$(rows s_lock)" 12 "first writes"
	check_eq "$(rows s_nl_full)" 36 "full writes"
	check_eq "$(rows s_nl_partial)" 12 "partial writes"
	check_eq "$(rows r_first)" 12 "first reads"
	check_eq "$(rows r_full)" 36 "full reads"
	# Pieces: at least the smallest and the largest of each series, twice.
	for operation in p_write p_read s_sieve c_piece x_piece; do
		[ "$(rows $operation)" -ge 4 ] || fail "$mpi: too few rows of $operation"
	done
	for operation in ar aa aav ag bc ba; do
		[ "$(rows $operation)" -ge 3 ] || fail "$mpi: too few rows of $operation"
	done
	awk -F, -v name="on $mpi" 'NR > 1 && !($1 == name && $3 == 1 && $4 == 3 && $13 > 0 && $13 < 600) {
		print "odd row: " $0; exit 1 }' rows.csv || fail "$mpi"
	check_eq "$(ls dir)" "" "files that $mpi leaves behind"
	# No cell is measured twice, unless --remeasure is given.
	check_rc 0 bench all -n 3 --buffers 64K,128K --repeat 2 --dir dir --platform "on $mpi" --mpi "$mpi" --max-time 1s -o again.csv --json
	check_eq "$(json_get out '["cells_measured"]')" 0
	cmp rows.csv again.csv || fail "$mpi: rows have changed"
done
check_rc 0 bench storage -n 2 --buffers 64K --pieces none --repeat 1 --dir dir --platform "on $mpi" --remeasure --writes-only --json
check_eq "$(json_get out '["cells_measured"]')" 2
check_rc 0 data list --json
check_eq "$(json_get out '["platforms"][0]["platform"]')" "on ${mpis%% *}"

# Exported rows can be imported without changes.
check_rc 0 data export --platform "on $mpi"
mv out first.csv
check_rc 0 data import first.csv --platform other
check_rc 0 data export --platform other -o second.csv
check_eq "$(sed 's/^other/on '"$mpi"'/' second.csv | cmp - first.csv)" "" "imported rows"
sed -i '3s/,[0-9.]*$/,soon/' first.csv
check_rc 1 data import first.csv --platform other
check_has "$(cat err)" first.csv:3:
check_rc 0 data forget other
check_rc 3 data forget other
check_rc 3 data export --platform other -o second.csv

# A campaign that is killed or interrupted keeps its complete cells and does not measure them again.
cells() {
	sqlite3 "$SLUICE_STORE_PATH" "SELECT count(DISTINCT bytes || operation) FROM element WHERE platform = 'cut'" 2>/dev/null || echo 0
}
# The test uses SIGTERM, because processes that a shell starts in the background ignore SIGINT.
for signal in KILL TERM; do
	# Try again if the campaign ended before the signal.
	for _ in $(seq 20); do
		before=$(cells)
		# This does not use bench(), because the signal must reach the command itself.
		"$sluice" model measure comm -n 2 --dir dir --platform cut --dense >out 2>err &
		pid=$!
		for _ in $(seq $polls); do
			[ "$(cells)" -lt $((before + 2)) ] && kill -0 $pid 2>/dev/null || break
			sleep 0.05
		done
		rc=0
		kill -s $signal $pid 2>/dev/null || true
		wait $pid 2>/dev/null || rc=$?
		[ $rc = 0 ] || break
		check_rc 0 data forget cut
	done
	check_eq "$rc" $((128 + $(kill -l $signal))) "exit code after SIG$signal"
	[ "$(cells)" -ge $((before + 2)) ] || fail "SIG$signal: no rows are kept"
	for _ in $(seq $polls); do
		pgrep -f "elemental --file $work/dir" >/dev/null || break
		sleep 0.05
	done
	pgrep -f "elemental --file $work/dir" && fail "SIG$signal: ranks are left"
	check_eq "$(ls dir)" "" "files after SIG$signal"
done
check_rc 0 data export --platform cut -o cut.csv
# Three ranks are new, so something is left to measure, however much was stored before the signals.
check_rc 0 bench comm -n 2,3 --dir dir --platform cut --dense --max-time 1s -o whole.csv --json
[ "$(json_get out '["cells_known"]')" -ge 1 ] || fail "no cell is reused"
[ "$(json_get out '["cells_measured"]')" -ge 1 ] || fail "no cell was left to measure"
head -n "$(wc -l <cut.csv)" whole.csv | cmp - cut.csv || fail "complete cells were done twice"

# The host list is passed in the syntax of the launcher.
for mpi in $mpis; do
	check_rc 0 bench storage -n 2 --writers 1 --buffers 64K --pieces none --repeat 1 --dir dir --platform "hosts of $mpi" --mpi "$mpi" --hosts localhost --json
	check_eq "$(json_get out '["cells_measured"]')" 1
done

# Two hosts with their names: writers are spread over them, and the file has its name until the end. Files of a
# benchmark that was killed are removed by the next one.
if mpi_has mpich elemental && unshare --uts true 2>/dev/null; then
	cat >node <<'END'
#!/bin/sh
exec unshare --uts sh -c 'hostname host$((PMI_RANK / 2)) && exec "$0" "$@"' "$@"
END
	chmod +x node
	# The largest number of a process is one less.
	touch "dir/sluice-bench.$(hostname).$(cat /proc/sys/kernel/pid_max)" dir/sluice-bench.elsewhere.1
	check_rc 0 bench storage -n 4 --writers 1,2 --buffers 64K --pieces none --repeat 1 --dir dir --platform two --mpi mpich --writes-only -o two.csv \
		--launcher "mpiexec.mpich -n {ranks} ./node"
	# Nodes, ranks per node, writers per node.
	check_eq "$(tail -n +2 two.csv | cut -d, -f3,4,7 | sort -u | tr '\n' ' ')" "2,2,0.5 2,2,1 " "nodes"
	check_eq "$(ls dir)" sluice-bench.elsewhere.1 "what is left on two hosts"
	rm dir/sluice-bench.elsewhere.1
else
	skip_case namespaces "writers on two hosts"
fi

# Errors: ranks that die, files that cannot grow, launchers that are missing or of another kind.
(ulimit -f 100 && bench storage -n 2 --buffers 1M --pieces none --repeat 1 --dir dir --platform full >out 2>err) && fail "the file cannot grow"
check_has "$(cat err)" "2 cells left: "
check_eq "$(ls dir)" "" "files after a full disk"
check_rc 1 bench comm -n 2 --platform none --launcher "no-such-launcher -n {ranks}"
check_has "$(cat err)" "no-such-launcher"
check_rc 1 bench comm -n 2 --platform none --launcher env
check_words "$(cat err)" "1 ranks" 2
check_rc 1 bench comm -n 2 --platform none --launcher false
check_has "$(cat err)" "exit code 1"
check_rc 1 bench storage -n 2 --dir nowhere --platform none
check_words "$(cat err)" --dir nowhere "No such file"
check_rc 1 bench storage -n 2 --buffers 1T --dir dir --platform none
check_words "$(cat err)" "largest file"
check_rc 1 bench storage -n 2 --dir dir --platform "on $mpi" --cache exceed
check_words "$(cat err)" --platform
check_rc 2 bench storage -n 2 --buffers 1000 --dir "$work" --cache bypass
check_has "$(cat err)" "multiple of 4096"
check_rc 2 bench storage -n two
check_rc 2 bench nothing
check_rc 2 bench all --machine vesta

# A simulated machine has the training sets of the paper.
check_rc 0 "$sluice" lab measure -o vesta.csv
check_eq "$(cut -d, -f2 vesta.csv | sort | uniq -c | awk '{ printf "%s %s,", $2, $1 }')" \
	"aa 51,aav 1044,ar 57,operation 1,s_lock 270,s_nl_full 27,s_nl_partial 270,"
