#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files that one architecture has written mean the same on the other: traces, stores, knowledge bases and models. BUILD
# is the native tree, CROSS the tree for x86-64, whose programs run emulated. Each file is read by both, and the outputs
# are compared byte for byte.
BUILD=${BUILD:?names the native tree}
: "${CROSS:?names the tree for x86-64}" "${SLUICE_AMD64_ROOT:?names the root of amd64 packages}"
# The directory of the test is visible under the same path in the root.
export TMPDIR=$CROSS/emulated/tmp
rm -rf "$TMPDIR"
mkdir -p "$TMPDIR"
here=$(cd "$(dirname "$0")" && pwd)
root=$SLUICE_AMD64_ROOT
. "$here/../run/libtest.sh"
. "$here/../mpi/libmpi.sh"

# on ARCHITECTURE PROGRAM [ARGUMENT]...: runs a program of that architecture's build tree
on() {
	local architecture=$1 program=$2
	shift 2
	case $architecture in
	native) ${reader:-} "$BUILD/$program" "$@" ;;
	amd64) ${reader:-} bash "$here/enter.sh" "$root" "$CROSS/$program" "$@" ;;
	esac
}

# elsewhere COMMAND...: runs the command on a host of another name. On the host of the run, reports measure how long
# requests take in memory, which is never the same twice.
elsewhere() {
	unshare --uts bash -c 'hostname elsewhere && exec "$@"' elsewhere "$@"
}

# same WHAT ARGUMENT...: `sluice ARGUMENT...` prints the same on both, and something
same() {
	local what=$1 architecture
	shift
	for architecture in native amd64; do
		reader=elsewhere
		on $architecture sluice "$@" >"shown.$architecture" 2>"err.$architecture" ||
			fail "$what: $architecture: sluice $*: $(tail -3 "err.$architecture")"
	done
	reader=
	[ -s shown.native ] || fail "$what: sluice $* prints nothing"
	cmp shown.native shown.amd64 ||
		fail "$what: sluice $* differs: $(diff shown.native shown.amd64 | head -10)"
	compared=$((compared + 1))
}
compared=0
reader=

# The programs really differ, otherwise nothing would be tested.
[ "$(od -An -tx1 -j18 -N2 "$BUILD/sluice")" != "$(od -An -tx1 -j18 -N2 "$CROSS/sluice")" ] ||
	fail "both trees are built for the same architecture"

# record ARCHITECTURE TRACE COMMAND...
record() {
	local architecture=$1 trace=$2
	shift 2
	on "$architecture" sluice run -o "$trace" -- "$@" >/dev/null 2>err || fail "$architecture: $*: $(tail -3 err)"
}
for architecture in native amd64; do
	tree=$BUILD
	[ $architecture = native ] || tree=$CROSS
	record $architecture $architecture.plain.sluice "$tree/prog/patterns" small_writes small
	for mpi in mpich openmpi; do
		[ -x "$tree/mpi/$mpi/hdf5" ] || fail "$tree/mpi/$mpi/hdf5 is missing"
		record $architecture $architecture.$mpi.sluice "/usr/bin/mpiexec.$mpi" -n 2 "$tree/mpi/$mpi/hdf5"
	done
done

for trace in *.sluice; do
	same "$trace" print --json "$trace"
	same "$trace" print --csv "$trace"
	same "$trace" report "$trace"
	same "$trace" report --json "$trace"
	same "$trace" report --findings "$trace"
	for form in text sqlite; do
		on native sluice trace convert --format $form "$trace" "native.$form" 2>err || fail "convert: $(cat err)"
		on amd64 sluice trace convert --format $form "$trace" "amd64.$form" 2>err || fail "convert: $(cat err)"
		[ $form = sqlite ] || cmp "native.$form" "amd64.$form" || fail "$trace as $form differs"
		# What the other architecture has converted.
		same "$trace as $form of amd64" print --json "amd64.$form"
		same "$trace as $form of this machine" print --json "native.$form"
		rm "native.$form" "amd64.$form"
	done
done
# Both architectures have recorded the same calls of MPI-IO and HDF5.
for mpi in mpich openmpi; do
	for architecture in native amd64; do
		"$BUILD/sluice" print --csv $architecture.$mpi.sluice | python3 -c 'import csv, sys, collections
calls = collections.Counter((r["layer"], r["function"]) for r in csv.DictReader(sys.stdin) if r["layer"] in ("MPI", "HDF5"))
assert {layer for layer, _ in calls} == {"MPI", "HDF5"}, calls
print("\n".join("%s %s %d" % (*call, calls[call]) for call in sorted(calls)))' >calls.$architecture ||
			fail "$architecture, $mpi: calls are missing"
	done
	diff calls.native calls.amd64 || fail "$mpi: the recorded calls differ"
done

# Knowledge bases and stores: imported by one, listed and exported by both.
cat >known.json <<'JSON'
{"schema": "sluice.kb/1", "entries": [
 {"program": "vpic", "fingerprint": "f1", "arguments": "--steps 4", "platform": "hopper", "filesystem": "local",
  "ranks": 4, "size_class": 13, "objective": "io", "before": 1.42, "after": 0.61, "gain": 2.33, "gain_low": 2.05,
  "gain_high": 2.6, "found_ns": 1700000000000000000, "pinned": false, "compared": "identical: 2 files",
  "parameters": [{"name": "cb_config_list", "value": "*:4"}, {"name": "strp_fac", "value": 4, "file": "a.h5"}]}]}
JSON
for architecture in native amd64; do
	export SLUICE_STORE_PATH=$work/store.$architecture.db
	on $architecture sluice kb import known.json 2>err || fail "kb import: $(cat err)"
	same "store of $architecture" kb list --json
	same "store of $architecture" kb export --json
done
unset SLUICE_STORE_PATH

# Models: fitted by one, used by both. Predictions are compared as printed.
python3 - <<'PYTHON'
import random
random.seed(1)
with open("line.csv", "w") as line:
    line.write("a,b,kind,y\n")
    for i in range(80):
        a, b, kind = random.randint(1, 50), random.random(), random.choice(["read", "write"])
        line.write("%d,%r,%s,%r\n" % (a, b, kind, 3 * a + 2 * b + (10 if kind == "write" else 0) + 1))
PYTHON
for architecture in native amd64; do
	on $architecture sluice lab learn fit line.csv --response y --learner forest -o $architecture.model >/dev/null 2>err ||
		fail "fit: $(cat err)"
	same "model of $architecture" lab learn show $architecture.model
	for other in native amd64; do
		on $other sluice lab learn predict $architecture.model line.csv >"predicted.$other" 2>err || fail "predict: $(cat err)"
	done
	python3 - predicted.native predicted.amd64 <<'PYTHON' || fail "predictions of the model of $architecture differ"
import csv, sys
one, other = (list(csv.DictReader(open(path))) for path in sys.argv[1:])
assert one and len(one) == len(other)
for a, b in zip(one, other):
    for key in a:
        try:
            x, y = float(a[key]), float(b[key])
        except ValueError:
            assert a[key] == b[key], (a, b)
            continue
        assert abs(x - y) <= 1e-9 * max(1, abs(x)), (key, x, y)
PYTHON
done
echo "compared $compared outputs of $(ls ./*.sluice | wc -l) traces, 2 stores and 2 models"
