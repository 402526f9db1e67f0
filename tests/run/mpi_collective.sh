#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collective calls with every installed MPI: all ranks give a collective call the same number, and no other call has
# it, whatever files and communicators are used. So writes of one rank for others can be found.
# Papers: SIOX-11.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# groups_check FILE=RANKS...: the trace has these openings, with their ranks as digits
groups_check() {
	check_trace "$@" <<'END'
TOGETHER = ("close", "set_size", "preallocate", "set_info", "set_view", "set_atomicity", "sync", "seek_shared")


def number(call):
    return int(call.collective or "0", 16)


def is_collective(call):
    name = call.function[len("MPI_File_"):]
    return name in TOGETHER or ("_all" in name or "_ordered" in name) and not name.endswith("_end")


opened = defaultdict(dict)  # number of an opening -> rank -> MPI_File_open
together = defaultdict(list)  # id of MPI_File_open -> calls through it that are collective
for call in calls:
    if call.function == "MPI_File_open":
        if not number(call):
            continue
        must(call.rank not in opened[number(call)], "two openings have one number", call)
        opened[number(call)][call.rank] = call
    elif call.layer == "MPI" and call.function.startswith("MPI_File_"):
        alone = not call.relation or not number(call.relation)
        same(number(call) != 0, is_collective(call) and not alone, "a number for %s" % call)
        if number(call):
            together[call.relation.id].append(call)
    else:
        same(number(call), 0, "a number for %s" % call)

found = Counter()
for members in opened.values():
    files = {base(call) for call in members.values()}
    same(len(files), 1, "files of one opening")
    found[files.pop() + "=" + "".join(map(str, sorted(members)))] += 1
same(found, Counter(arguments), "openings")

seen = set(opened)
for members in opened.values():
    lists = [together[call.id] for call in members.values()]
    same(len({len(calls) for calls in lists}), 1, "numbers of collective calls on %s" % list(members.values())[0])
    for turn in zip(*lists):
        same(len({(number(call), call.function) for call in turn}), 1, "numbers of %s" % list(map(str, turn)))
        must(number(turn[0]) not in seen, "the number has been used before", turn[0])
        seen.add(number(turn[0]))
END
}

# One rank writes the data of all ranks: this write is found from the call of another rank, with all its bytes.
# aggregator_check WRITERS: WRITERS is a Python list of the ranks that may write; empty: any rank
aggregator_check() {
	local number
	number=$("$sluice" print --csv --rank 3 --layer MPI trace |
		python3 -c 'import csv, sys
print(*[row["collective"] for row in csv.DictReader(sys.stdin) if row["function"] == "MPI_File_write_all"])')
	[ "${#number}" = 16 ] || wrong "rank 3 has no single write_all: \"$number\""
	"$sluice" print --json --collective "$number" --layer POSIX trace >written.json
	python3 - "$1" <<'END' || wrong "what was written is not found from rank 3"
import ast, json, sys
writers = ast.literal_eval(sys.argv[1])
wrote = [a for a in json.load(open("written.json"))["activities"] if a["class"] == "write"]
pieces = sorted((a["offset"], a["offset"] + a["result"]) for a in wrote if a["file"].endswith("levels.dat"))
end = 0
for begin, behind in pieces:
    if begin != end:
        sys.exit("bytes %d to %d are written twice or not at all: %s" % (begin, end, pieces))
    end = behind
if end != 4 * 4 * 65536:
    sys.exit("%d bytes are written" % end)
if writers and sorted({a["rank"] for a in wrote}) != writers:
    sys.exit("ranks that write: %s" % {a["rank"] for a in wrote})
END
	# The tree has the calls of all ranks, with the write below the call of its rank.
	"$sluice" print --tree --collective "$number" trace >tree
	check_eq "$(grep -c 'MPI_File_write_all(' tree)" 4 "$case: calls of the ranks"
}

aggregate() {
	mpi_captured "$1" 4 levels -b 64K -n 4 -d write -l collective-noncontiguous "${@:3}"
	aggregator_check "$2"
}

mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
for mpi in $mpis; do
	mpi_captured "$mpi" 5 communicators
	groups_check communicators.{world,dup,twice,twice}=01234 communicators.half0=024 communicators.half1=13 \
		communicators.some={0134,0234}
	for name in blocking split shared nonblocking; do
		mpi_captured "$mpi" 3 $name
		groups_check $name.dat=012
	done
done
if mpi_has mpich levels; then
	aggregate mpich '[0]' -H cb_nodes=1 -H romio_cb_write=enable
fi
if mpi_has openmpi levels; then
	aggregate openmpi '[]'
	if romio_heeds; then
		export OMPI_MCA_io=$(romio)
		aggregate openmpi '[0]' -H cb_nodes=1 -H romio_cb_write=enable
	else
		skip_case romio-hints
	fi
fi
