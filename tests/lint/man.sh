#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --help, man pages and completions say the same: each option that a command takes is in all of them, and
# the tools that read the pages accept them.
set -eu
pages=$BUILD/generated/manual
sluice=$BUILD/sluice
failed=0

complain() {
	echo "$*"
	failed=1
}

check_page() {
	local page=$1 help=$2 words
	[ -f "$pages/man/$page.1" ] || { complain "there is no page $page.1"; return; }
	words=$(MANWIDTH=200 man -l "$pages/man/$page.1" | col -bx)
	# Each "--name" at the start of an option's line of the help, and back.
	while read -r option; do
		grep -q -- "^ *\(-[a-zA-Z], \)\?$option\b" <<<"$words" || complain "$page.1 lacks $option"
	done < <(grep -o '^  \(-., \|    \)--[a-z-]*' <<<"$help" | grep -o -- '--.*')
	while read -r option; do
		grep -q -- "^ .*$option\b" <<<"$help" || complain "the help of $page lacks $option"
	done < <(sed -n '/^OPTIONS/,/^[A-Z]* *[A-Z]*$/p' <<<"$words" | grep -o '^ \{7\}\(-., \)\?--[a-z-]*' | grep -o -- '--.*')
	[ -z "$(groff -man -ww -Tutf8 "$pages/man/$page.1" 2>&1 >/dev/null)" ] || complain "groff warns about $page.1"
	[ -z "$(man --warnings -E UTF-8 -l "$pages/man/$page.1" 2>&1 >/dev/null)" ] || complain "man warns about $page.1"
}

check_page sluice "$("$sluice" --help)"
for command in $("$sluice" help --json | python3 -c 'import json, sys
for c in json.load(sys.stdin)["commands"]: print(c["name"])'); do
	help=$("$sluice" "$command" --help)
	[ "$help" = "$("$sluice" help "$command")" ] || complain "--help and help differ for $command"
	check_page "sluice-$command" "$help"
	grep -q "^Usage: sluice $command " <<<"$help" || complain "$command has no usage line"
	grep -q -- '--json' <<<"$help" || [ "$command" = run ] || complain "$command has no --json"
	for option in $(grep -o '^  \(-., \|    \)--[a-z-]*' <<<"$help" | grep -o -- '--.*'); do
		grep -q -- "$option[= \"]" "$pages/sluice.bash" || complain "bash completion lacks $command $option"
		grep -q -- "'$option[=[]" "$pages/_sluice" || complain "zsh completion lacks $command $option"
	done
	# No line of the help runs over the edge.
	[ -z "$(awk 'length > 120' <<<"$help")" ] || complain "the help of $command is too wide"
done

bash -n "$pages/sluice.bash" || failed=1
! command -v zsh >/dev/null || zsh -n "$pages/_sluice" || failed=1

# The completion is tried, not only parsed.
complete_words() {
	bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; echo "${COMPREPLY[*]}"' - \
		"$pages/sluice.bash" "$@"
}
[ "$(complete_words sluice repo)" = report ] || complain "bash does not complete a command"
[ "$(complete_words sluice -c a.b=c print --tr)" = --tree ] || complain "bash does not complete an option"
[ "$(complete_words sluice help las)" = last ] || complain "bash does not complete help"
exit $failed
