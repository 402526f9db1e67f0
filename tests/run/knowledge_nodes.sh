#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Daemons serve the hints that the database of the site has learned: all ranks of a job on several nodes use them, or
# none. The nodes are two daemons on this machine; ranks belong to one of them by SLUICE_SITE. Hints in effect are read
# from the MPI library, before each file is closed.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/../libpg.sh"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
if [[ $mpis == *openmpi* ]] && ! { mpi_mixes openmpi && romio_heeds; }; then
	skip_case romio-hints openmpi
	mpis=$(grep -v openmpi <<<"$mpis")
fi
export OMPI_MCA_io=$(romio)
chmod 755 "$work"
declare -A pids
unset SLUICE_SITE

# policy [LINE]...: the policy of both nodes
policy() {
	printf '%s\n' '[policy]' 'skip = mpiexec mpirun orted hydra_pmi_proxy' 'rule = mode=trace' "$@" >"$work/policy"
}

# learned DATABASE BUFFER: three runs without hints were slow, three with this buffer were fast
learned() {
	local run i=0
	for run in '' "cb_buffer_size=$2;cb_nodes=1"; do
		for _ in 1 2 3; do
			i=$((i + 1))
			sql "$1" "INSERT INTO outcome (operation, \"user\", program, extension, size, hints, run, count, bytes, seconds,
				rate, spread) VALUES ('write', 'somebody', 'hinted', 'dat', 6, '$run', 'run$i', 1, 1000000, 1, 1000000, 0)"
		done
	done
	sql "$1" "UPDATE outcome SET seconds = 0.1, rate = 10000000 WHERE hints <> ''"
}

# sql DATABASE SQL
sql() {
	case $1 in
	/*) "$python" -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
print(*[row[0] for row in db.execute(sys.argv[2])], sep="\n")
db.commit()' "$1" "$2" ;;
	*) pg_psql "$2" ;;
	esac
}

# node_serves NAME: the daemon answers, so its policy is there, and it has a page. Files alone do not show that: a daemon that
# was killed leaves them.
node_serves() {
	[ -e "$work/$1/knowledge" ] && SLUICE_SITE_SOCKET=$work/$1/socket "$BUILD/sluiced" status >/dev/null 2>&1
}

# node NAME DATABASE [VARIABLE=VALUE]...: starts a daemon, and waits until it serves a page. The death of the test ends it.
node() {
	local name=$1 database=$2 try
	shift 2
	mkdir -p "$work/$name"
	chmod 755 "$work/$name"
	env SLUICE_SITE_SOCKET="$work/$name/socket" SLUICE_SITE_STATE="$work/$name.state" SLUICE_SITE_SPOOLS="$work/$name.spools" \
		SLUICE_SITE_POLICY="$work/policy" SLUICE_SITE_DATABASE="$database" SLUICE_SITE_KNOWLEDGE=100ms "$@" \
		setsid setpriv --pdeathsig KILL "$BUILD/sluiced" 2>>"$work/$name.log" &
	pids[$name]=$!
	disown
	at_exit "node_kill $name"
	for try in $(seq $polls); do
		node_serves "$name" && return
		kill -0 "${pids[$name]}" 2>/dev/null || fail "sluiced has ended: $(cat "$work/$name.log")"
		sleep 0.05
	done
	fail "node $name serves nothing: $(cat "$work/$name.log")"
}

# node_kill NAME: kills all processes of the daemon at once. One that has just been started has no group yet.
node_kill() {
	[ -n "${pids[$1]-}" ] || return 0
	while kill -9 -- "-${pids[$1]}" 2>/dev/null || kill -9 "${pids[$1]}" 2>/dev/null; do
		sleep 0.02
	done
	pids[$1]=
}

# job MPI NODE NODE: four ranks, two on each node; prints with which buffer the files of several ranks are opened, "none"
# without hints, or "mixed"
job() {
	local mpi=$1 rank
	rm -rf "$work/effective" "$work/job"
	mkdir "$work/effective" "$work/job"
	(
		cd "$work/job" || exit
		mpi_part() {
			echo -n 2 env "LD_PRELOAD=$BUILD/libsluice.so:$BUILD/mpi/$mpi/effective.so" \
				"EFFECTIVE=$work/effective" "SLUICE_SITE=$work/$1" "$BUILD/mpi/$mpi/hinted" 1
		}
		timeout -k 5 "$limit" "mpiexec.$mpi" -n $(mpi_part "$2") : -n $(mpi_part "$3") >out 2>&1 ||
			{ echo "exit code $?: $(tail -n 3 out)" && exit; }
		for rank in 0 1 2 3; do
			# Files are: world, world, self, half, kind. Without hints, ROMIO reports its default or nothing.
			awk '/ hints$/ { n++; v[n] = "none" }
				/^cb_buffer_size=/ && $0 != "cb_buffer_size=16777216" { v[n] = substr($0, 16) }
				END { print v[1] "\n" v[2] "\n" v[4] }' "$work/effective/$rank"
		done | sort -u | awk '{ v = $1 } END { print NR == 1 ? v : "mixed" }'
	)
}

# expect MPI VALUE NODE NODE: ranks that start seconds apart get no hints, which happens on a loaded machine
expect() {
	local found try
	for try in $(seq 10); do
		found=$(job "$1" "$3" "$4")
		[ "$found" = none ] && [ "$2" != none ] || break
	done
	check_eq "$found" "$2" "$case ($1): buffer"
}

cases() {
	local mpi=$1 database=$2 i found running
	case_begin "all ranks of two nodes get the hints that were learned"
	policy 'act = served'
	node a "$database"
	node b "$database"
	expect "$mpi" 8388608 a b
	# An earlier attempt may have left votes.
	check_eq "$(sql "$database" "SELECT max(nodes) FROM (SELECT count(*) AS nodes FROM agreement
		WHERE node <> '' AND state = 1 GROUP BY job) AS jobs")" 2 "$case: nodes that have confirmed"
	expect "$mpi" 8388608 a a

	case_begin "a node without a daemon"
	expect "$mpi" none a nowhere
	case_begin "a daemon that has ended, whose pages are still there"
	node_kill b
	expect "$mpi" none a b

	case_begin "daemons that have learned different things"
	node b "$work/other.db"
	expect "$mpi" none a b
	node_kill b
	rm -rf "$work"/b "$work"/b.*

	case_begin "the site forbids the hint"
	node_kill a
	node a "$database" SLUICE_PARAMS_FORBID=cb_buffer_size
	node b "$database" SLUICE_PARAMS_FORBID=cb_buffer_size
	expect "$mpi" none a b
	node_kill a

	case_begin "only one node forbids it"
	node a "$database"
	expect "$mpi" none a b
	node_kill b
	rm -rf "$work"/b "$work"/b.*

	case_begin "a daemon is killed while jobs start"
	# It is started again at once, as its unit does it: a node that has confirmed, but cannot say so, is heard then.
	node b "$database"
	for i in 1 2 3 4; do
		job "$mpi" a b >found &
		running=$!
		sleep "0.$((i * 2 - 1))"
		node_kill b
		node b "$database"
		wait $running
		found=$(cat found)
		[ "$found" = 8388608 ] || [ "$found" = none ] || wrong "round $i: $found"
	done
	node_kill b
	node_kill a
	rm -rf "$work"/[ab] "$work"/[ab].*

	case_begin "hints are opt-in"
	policy
	node a "$database"
	node b "$database"
	expect "$mpi" none a b
	node_kill a
	node_kill b
	rm -rf "$work"/[ab] "$work"/[ab].*
}

# One run without hints was slow, one with hints was fast: the database learns it from their calls, and `sluice run` is
# served the hints if the user enables it.
from_calls() {
	local mpi=$1 database=$2 own=cb_buffer_size=1048576
	case_begin "$mpi: from stored calls to hints"
	mkdir -p learn
	(
		cd learn
		"$sluice" run -q -o "$work/slow.$mpi.sluice" -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/hinted" 700
		"$sluice" run -q -o "$work/fast.$mpi.sluice" -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/hinted" 1 cb_buffer_size=8388608
	) >out 2>&1 || wrong "the runs failed: $(cat out)"
	export SLUICE_SITE_DATABASE=$database
	"$sluice" site init >/dev/null
	"$sluice" site import --sample 1 "slow.$mpi.sluice" "fast.$mpi.sluice" >/dev/null
	check_rc 0 "$sluice" site learn
	check_has "$(cat out)" "hints of 2 new runs"
	check_rc 0 "$sluice" site learn
	check_has "$(cat out)" "hints of 0 new runs"
	check_eq "$(sql "$database" "SELECT count(DISTINCT run) FROM outcome WHERE program = 'hinted' AND extension = 'dat'")" 2 "runs"
	check_eq "$(sql "$database" "SELECT count(DISTINCT filesystem) FROM outcome WHERE filesystem LIKE '/%'")" 1 "file systems"
	check_eq "$(sql "$database" "SELECT count(*) FROM outcome WHERE filesystem = ''")" 0 "files on unknown file systems"
	# The run without hints was slow, because it waits; the other one may have been, too, on a busy machine.
	sql "$database" "UPDATE outcome SET seconds = bytes / 1024e6, rate = 1024e6, spread = 0 WHERE hints <> ''"
	unset SLUICE_SITE_DATABASE
	policy
	node a "$database"
	for set in '' $own; do
		rm -f trace
		(cd learn && SLUICE_SITE=$work/a "$sluice" --set plugins.act=served run -q -o "$work/trace" -- \
			"mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/hinted" 1 $set) >out 2>&1 || wrong "it failed: $(cat out)"
		"$sluice" print trace | grep ' MPI_File_open(.*/world.dat.* = 0$' >opens || wrong "no file is opened"
		check_eq "$(grep -c "hint/set=.${set:-cb_buffer_size=8388608}" opens)" 4 "$case: opens with hints"
	done
	"$sluice" report trace >report
	check_line report program: cb_buffer_size "1048576 (program) instead of 8388608 (plugin)"
	# Nothing is known of another file system.
	if [ "$(stat -c %m /dev/shm)" != "$(stat -c %m "$work")" ] && elsewhere=$(mktemp -d /dev/shm/sluice-test.XXXXXX); then
		rm -f trace
		(cd "$elsewhere" && SLUICE_SITE=$work/a "$sluice" --set plugins.act=served run -q -o "$work/trace" -- \
			"mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/hinted" 1) >out 2>&1 || wrong "it failed: $(cat out)"
		rm -rf "$elsewhere"
		"$sluice" print trace | grep ' MPI_File_open(.*/world.dat.* = 0$' >opens || wrong "no file is opened"
		check_eq "$(grep -c "hint/set=.cb_buffer_size=8388608" opens)" 0 "$case: opens with hints of another file system"
	fi
	node_kill a
	rm -rf "$work"/a "$work"/a.*
}

cat >"$XDG_CONFIG_HOME/sluice/config" <<END
[plugin.history]
learn = 1
END
for mpi in $mpis; do
	from_calls "$mpi" "$work/calls.$mpi.db"
done
SLUICE_SITE_DATABASE=$work/other.db "$sluice" site init >/dev/null
learned "$work/other.db" 4194304
for mpi in $mpis; do
	SLUICE_SITE_DATABASE=$work/$mpi.db "$sluice" site init >/dev/null
	learned "$work/$mpi.db" 8388608
	cases "$mpi" "$work/$mpi.db"
done
