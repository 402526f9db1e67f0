#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The four levels of access with 10 ranks, as in the SIOX paper: the report has exactly the counts that follow from
# the number of blocks, without MPI's own traffic through sockets and pipes. SLUICE_LONG=1 uses as many blocks as the
# paper.
# Papers: SIOX-25, SIOX-55, SIOX-60, SIOX-61.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
ranks=10

# survey_check BLOCKS BYTES: checks the lines of the survey and the same numbers in the JSON
survey_check() {
	"$sluice" report --survey trace >survey
	python3 - "$1" "$2" $ranks survey report.json <<'END' || wrong "the survey differs"
import json, sys

blocks, size, ranks = map(int, sys.argv[1:4])
calls = 2 * blocks + 2  # in each direction: two levels block by block, two in one call
LONG = 64 << 10  # a seek that is farther than this
# Rank 0 starts at the expected position in the two levels that access the file block by block.
sequential = (2 / ranks, 0, 2)
random = (calls - 2 / ranks, calls - 2, calls)
# A call through a view is always a long seek; an access block by block is one only if blocks are large.
views = (2, 2, 2)
far, near = (random, (0, 0, 0)) if size > LONG else (views, tuple(r - 2 for r in random))
expected = {"Accesses": (2 * calls,) * 3, "Bytes": (8 * blocks * size,) * 3}
for direction, done in (("Reading", "read"), ("Writing", "written")):
    kind = "Accesses/%s/" % direction
    expected[kind + "Sequential"] = sequential
    expected[kind + "Random, long seek"] = far
    expected[kind + "Random, short seek"] = near
    expected["Bytes/Total " + done] = (4 * blocks * size,) * 3
    expected["Bytes/%s per access" % done.capitalize()] = (4 * blocks * size / calls,) * 3
    expected["Seek Distance/Average " + direction.lower()] = (2 * (blocks - 1) * ranks * size / calls,) * 3

wrong = []
lines = {}
for line in open(sys.argv[4]):
    if line.startswith('[FileSurveyor:MPI] "') and '/levels.dat"/' in line:
        name, value = line.partition('/levels.dat"/')[2].rstrip("\n").split(" = ")
        lines[name] = value
report = json.load(open(sys.argv[5]))
rows = [row for row in report["survey"] if row["layer"] == "MPI" and row["file"].endswith("/levels.dat")]
if len(rows) != 1 or rows[0]["ranks"] != ranks:
    sys.exit("rows of levels.dat in the survey: %s" % [(row["file"], row.get("ranks")) for row in rows])
for name, values in expected.items():
    text = "(%s)" % ",".join("%g" % v for v in values)
    if lines.get(name) != text:
        wrong.append("%s is %s, expected %s" % (name, lines.get(name), text))
    field = rows[0]["fields"][name]
    found = [field[key] for key in ("average", "minimum", "maximum")]
    if any(abs(f - v) > 1e-9 * max(1, v) for f, v in zip(found, values)):
        wrong.append("%s in JSON is %s, expected %s" % (name, found, values))
if rows[0]["fields"]["Accesses/Reading/Sequential"]["maximum_rank"] != 0:
    wrong.append("it is not rank 0 that reads from the start")

# The messages exist, and in no other place.
if not report["network"]["calls"]:
    wrong.append("no socket or pipe was used")
for row in report["survey"]:
    if row["layer"] == "POSIX.Network" or row["file"].startswith(("socket:", "pipe:")):
        wrong.append("%s %s is in the survey" % (row["layer"], row["file"]))
written = report["io"]["bytes_written"] - 4 * blocks * size * ranks
if report["network"]["bytes_written"] == 0 or not 0 <= written < 4096:  # what rank 0 prints
    wrong.append("%d bytes more were written than by the levels" % written)
mpi = [row for row in report["layers"] if row["layer"] == "MPI"]
if [(row["bytes_read"], row["bytes_written"]) for row in mpi] != [(4 * blocks * size * ranks,) * 2]:
    wrong.append("bytes of MPI: %s" % mpi)
for line in wrong:
    print(line, file=sys.stderr)
sys.exit(bool(wrong))
END
}

# MPI's own descriptors have their own class, also if write() is called on them.
network_check() {
	check_trace <<'END'
sockets = {call.id for call in calls if call.function in ("socket", "socketpair", "pipe", "pipe2", "accept", "accept4")}
used = [call for call in calls if call.relation and call.relation.id in sockets]
must(used, "nobody uses a socket")
for call in used:
    same(call.layer, "POSIX.Network", "layer of %s" % call)
END
}

# What a report knows of a trace depends neither on the number of threads nor on how the trace is divided into blocks.
profile_check() {
	local name core
	core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	rm -f copy.txt copy.sluice ./*.profile
	"$sluice" trace convert trace copy.txt
	"$sluice" trace convert copy.txt copy.sluice
	"$sluice" report --part -o all.profile trace >/dev/null
	taskset -c "$core" "$sluice" report --part -o one.profile trace >/dev/null
	"$sluice" report --part -o copy.profile copy.sluice >/dev/null
	for name in one copy; do
		cmp -s all.profile $name.profile || wrong "the profile \"$name\" differs"
	done
}

# levels MPI BLOCKS BYTES
levels() {
	local command
	case_begin "$1: $2 blocks of $3 bytes"
	mpi_order outside "$1" $ranks levels -n "$2" -b "$3"
	observed "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	survey_check "$2" "$3"
	profile_check
}

mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
for mpi in $mpis; do
	levels "$mpi" 6 102400
	network_check
	[ -z "$long" ] || levels "$mpi" 10240 512
done
if [ -n "$long" ]; then
	check_has "$(cat survey)" 'levels.dat"/Accesses = (40964,40964,40964)'
	check_has "$(cat survey)" 'levels.dat"/Accesses/Reading/Sequential = (0.2,0,2)'
fi
