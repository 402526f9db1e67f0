# SPDX-License-Identifier: BSD-3-Clause
# What the benchmarks share that are shell: words, bars, figures. To be sourced; sets failed, keys and missed.
failed=0 keys= missed=

say() {
	printf '%s\n' "$*"
}

# miss TEXT: a bar that does not hold
miss() {
	missed="${missed}missed: $*
"
	failed=$((failed + 1))
}

# key NAME VALUE: of the closing line
key() {
	keys="$keys $1=$2"
}

# less A B: is A below B?
less() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}

# median FILE: of one number per line
median() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
