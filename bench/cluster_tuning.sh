#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tunes kernels on CephFS: part of bench/cluster.sh, run on the host `head`. The default is one stripe, as at many sites.
# Each kernel is tuned by a Bayesian search over all parameters, and by an exhaustive search over stripes and transfer mode.
# Then the default and both winners run in turn, without recording. Writes "key NAME VALUE" and "missed: TEXT" to FILE.
# usage: cluster_tuning.sh FILE KERNEL...
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/bench/libbench.sh"
. "$source/bench/libtune.sh"
results=$1
shift
sluice=$BUILD/sluice ranks=4 rounds=${CLUSTER_ROUNDS:-5} runs=${CLUSTER_RUNS:-40}
work=$TESTBED_MOUNT/tuning
mkdir -p "$work"
cd "$work"
isolate "$(dirname "$results")"
at mpich
cat >space.json <<'END_OF_SPACE'
{ "schema": "sluice.space/1", "dimensions": [
	{ "name": "striping_factor", "values": [null, 2, 4] },
	{ "name": "striping_unit", "values": [null, "1M", "8M"] },
	{ "name": "transfer", "values": [null, "collective", "independent"] } ] }
END_OF_SPACE

# kernel NAME: sets command and file
kernel() {
	file=$work/$1.data
	case $1 in
	vpic) parallel vpic_io -n 1048576 -f "$file" ;;
	vorpal) parallel vorpal_io -b 100x100x60 -s 2 -f "$file" ;;
	gcrm) parallel gcrm_io -n 81920 -f "$file" ;;
	strided) parallel levels -l collective-noncontiguous -d write -b 64K -n 512 -f "$file" ;;
	*) echo "bench cluster: unknown kernel \"$1\"; expected vpic, vorpal, gcrm or strided" >&2; exit 2 ;;
	esac
}

# parameters NAME: the file of the winner of a search, or nothing
parameters() {
	[ ! -s "$1.json" ] || echo "$1.json"
}

for name; do
	kernel "$name"
	search bayes --runs "$runs" || { echo "missed: $name: the Bayesian search failed" >>"$results"; continue; }
	search exact --search exhaustive --runs 60 --space space.json ||
		{ echo "missed: $name: the exhaustive search failed" >>"$results"; continue; }
	rm -f default.times bayes.times exact.times
	for ((round = 0; round < rounds; round++)); do
		once default.times
		once bayes.times "$(parameters bayes)"
		once exact.times "$(parameters exact)"
	done
	rm -f "$file"
	gain=$(ratio "$(median default.times)" "$(median bayes.times)")
	reached=$(ratio "$(median exact.times)" "$(median bayes.times)")
	say "$name: $(median default.times) s, Bayesian $(median bayes.times) s ($(paste -sd ' ' bayes.times)), exhaustive $(median exact.times) s"
	say "  $(told bayes.report 'd["data"]'); $(tr '\n' ' ' <bayes.hints 2>/dev/null)"
	{
		echo "key gain_$name $gain"
		echo "key reached_$name $reached"
		case $name in
		vpic | vorpal) ! less "$gain" 3 || echo "missed: $name: $gain times as fast as the default, not 3 times" ;;
		esac
		! less "$reached" 0.9 || echo "missed: $name: $reached of the exhaustive search, not 0.9"
		[ "$(told bayes.report 'd["data"]')" = identical ] || echo "missed: $name: data was not compared"
	} >>"$results"
done
