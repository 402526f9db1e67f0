#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: against.sh NAME OTHER_BUILD [ROUNDS]
# Compares two build trees: runs benchmark NAME in turn with BUILD and with OTHER_BUILD, an older tree with its benches
# built, and prints for each figure the median of both and the ratio of BUILD to OTHER_BUILD. Alternating the two within
# one run keeps slow changes of the machine out of the ratio.
set -eu
name=$1 other=$2 rounds=${3:-3}
here=$(cd "$(dirname "$0")" && pwd)
: "${BUILD:=build}"
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT

# measure TREE LABEL: appends one line "LABEL KEY VALUE" per figure; a missed threshold is not an error here
measure() {
	local line
	line=$(BUILD=$1 bash "$here/$name.sh" 2>/dev/null | grep "^bench $name:") || {
		echo "bench/against: benchmark $name failed with BUILD=$1; run it alone to see why" >&2
		exit 1
	}
	tr ' ' '\n' <<<"$line" | sed -n "s/^\([a-z0-9_]*\)=\([-0-9.]*\)$/$2 \1 \2/p" >>"$figures"
}

for ((round = 1; round <= rounds; round++)); do
	echo "round $round of $rounds" >&2
	measure "$other" old
	measure "$BUILD" new
done
awk '
function median(key, label,    n, i, j, list, swap) {
	n = split(values[label, key], list, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] + 0 > list[j] + 0; j--) {
			swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap
		}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
{
	if (!(("old", $2) in values || ("new", $2) in values))
		order[++keys] = $2
	values[$1, $2] = values[$1, $2] " " $3
}
END {
	printf "%-36s %12s %12s %8s\n", "figure", "old", "new", "new/old"
	for (i = 1; i <= keys; i++) {
		old = median(order[i], "old"); new = median(order[i], "new")
		printf "%-36s %12.6g %12.6g %8s\n", order[i], old, new, (old > 0 ? sprintf("%.3f", new / old) : "-")
	}
}' "$figures"
