# SPDX-License-Identifier: BSD-3-Clause
# Helpers of the benchmarks that are shell scripts; to be sourced. It sets failed, keys and missed.
failed=0 keys= missed=

say() {
	printf '%s\n' "$*"
}

# miss TEXT: notes a missed threshold or a failure
miss() {
	missed="${missed}missed: $*
"
	failed=$((failed + 1))
}

# key NAME VALUE: adds a figure to the closing line
key() {
	keys="$keys $1=$2"
}

# less A B: succeeds if A < B
less() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

# median FILE: the median of a file with one number per line
median() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
