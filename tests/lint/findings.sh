#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/reference/findings.md describes every rule of the diagnosis, in the words of the rules; the parameters that rules
# name are in the catalog, and the settings exist.
set -eu
: "${BUILD:?names the build tree}" "${SOURCE:?names the sources}"
page=$SOURCE/docs/reference/findings.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$BUILD/sluice" report --rules >"$work/rules"
check() {
	sed -n '/^### /,$p' "$1" | diff - "$work/rules" >"$work/difference"
}
check "$page" || {
	echo "$page differs from the rules; replace what follows its first ### by the output of 'sluice report --rules':"
	head -20 "$work/difference"
	exit 1
}
for name in $(grep -ho 'findings\.[a-z_]*' "$work/rules" | sort -u); do
	"$BUILD/sluice" config show | grep -qF "${name#findings.}" || { echo "$name is not a setting" && exit 1; }
done
for name in $(sed -n 's/.*\*Parameter:\* `\([a-z_]*\)`.*/\1/p' "$work/rules" | sort -u); do
	"$BUILD/sluice" kb params list | grep -qw "$name" || { echo "$name is not a parameter" && exit 1; }
done

# The check finds a breach.
sed '0,/^### /s//### x/' "$page" >"$work/page"
! check "$work/page" || { echo "the check does not find a changed page" && exit 1; }

# Every fix has a program in tests/fixes that executes it (see tests/run/libfixes.sh), or a reason why it has none.
fixes=$SOURCE/tests/fixes
# has_test CODE KIND
has_test() {
	compgen -G "$fixes/$1.$2.*" >/dev/null || grep -qsw "@also $2" "$fixes/$1".*.* ||
		grep -q "^$1 $2 ." "$fixes/exceptions.txt" ||
		{ [ "$2" = sluice ] && compgen -G "$fixes/$1.*.c" >/dev/null; }
}
untested() {
	awk '/^### / { code = $2 } /^    [a-z0-9]/ { print code, $1 }' "$1" | while read -r code kind; do
		has_test "$code" "$kind" || echo "$code $kind"
	done
}
[ -z "$(untested "$work/rules")" ] || { echo "no test executes these fixes:" && untested "$work/rules" && exit 1; }
{
	cat "$work/rules"
	printf '    fortran x\n'
} >"$work/more"
[ "$(untested "$work/more")" = "regression fortran" ] || { echo "the check does not find a fix without a test" && exit 1; }
for name in "$fixes"/*.*.*; do
	code=$(basename "$name") && kind=${code#*.} && code=${code%%.*}
	awk '/^### / { code = $2 } /^    [a-z0-9]/ { print code, $1 }' "$work/rules" | grep -qx "$code ${kind%%.*}" ||
		{ echo "$name: there is no such fix" && exit 1; }
done
