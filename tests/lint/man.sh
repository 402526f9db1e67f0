#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The help text, the man page and the completions of each command list the same options, and the programs that read
# them accept them.
set -eu
pages=$BUILD/generated/manual
sluice=$BUILD/sluice
failed=0

complain() {
	echo "$*"
	failed=1
}

# options_of HELP: the long options that a help text lists
options_of() {
	grep -o '^  \(-., \|    \)--[a-z-]*' <<<"$1" | grep -o -- '--.*' || true
}

# check_page PAGE HELP: the man page lists the options of the help text, and the reverse; groff and man accept it
check_page() {
	local page=$1 help=$2 words
	[ -f "$pages/man/$page.1" ] || { complain "the page $page.1 does not exist"; return; }
	words=$(MANWIDTH=200 man -l "$pages/man/$page.1" | col -bx)
	while read -r option; do
		[ -z "$option" ] || grep -q -- "^ *\(-[a-zA-Z], \)\?$option\b" <<<"$words" || complain "$page.1 lacks $option"
	done < <(options_of "$help")
	while read -r option; do
		grep -q -- "^ .*$option\b" <<<"$help" || complain "the help text of $page lacks $option"
	done < <(sed -n '/^OPTIONS/,/^[A-Z]* *[A-Z]*$/p' <<<"$words" | grep -o '^ \{7\}\(-., \)\?--[a-z-]*' | grep -o -- '--.*')
	[ -z "$(groff -man -ww -Tutf8 "$pages/man/$page.1" 2>&1 >/dev/null)" ] || complain "groff warns about $page.1"
	[ -z "$(man --warnings -E UTF-8 -l "$pages/man/$page.1" 2>&1 >/dev/null)" ] || complain "man warns about $page.1"
}

# check_command NAME: NAME is the full name of a command, such as "model fit"
check_command() {
	local name=$1 help option
	# shellcheck disable=SC2086 # one word per level of the command tree
	help=$("$sluice" $name --help)
	# shellcheck disable=SC2086
	[ "$help" = "$("$sluice" help $name)" ] || complain "'sluice $name --help' and 'sluice help $name' differ"
	check_page "sluice-${name// /-}" "$help"
	grep -q "^Usage: sluice $name\b" <<<"$help" || complain "the help text of $name has no usage line"
	# `sluice run` has no output of its own: the program's output must not be mixed with JSON.
	grep -q -- '--json' <<<"$help" || [ "$name" = run ] || complain "$name has no --json"
	for option in $(options_of "$help"); do
		grep -q -- "${option}[= \"]" "$pages/sluice.bash" || complain "bash completion lacks $name $option"
		grep -q -- "'${option}[=[]" "$pages/_sluice" || complain "zsh completion lacks $name $option"
	done
	[ -z "$(awk 'length > 120' <<<"$help")" ] || complain "the help text of $name is wider than 120 columns"
}

check_page sluice "$("$sluice" --help)"
mapfile -t names < <("$sluice" help --json | python3 -c 'import json, sys
for c in json.load(sys.stdin)["commands"]: print(c["name"])')
for name in "${names[@]}"; do
	check_command "$name"
done

bash -n "$pages/sluice.bash" || failed=1
! command -v zsh >/dev/null || zsh -n "$pages/_sluice" || failed=1

# complete_words WORD...: what bash completion offers for the last word
complete_words() {
	bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; echo "${COMPREPLY[*]}"' - \
		"$pages/sluice.bash" "$@"
}
[ "$(complete_words sluice repo)" = report ] || complain "bash does not complete a command"
[ "$(complete_words sluice -c a.b=c print --tr)" = --tree ] || complain "bash does not complete an option"
[ "$(complete_words sluice help repo)" = report ] || complain "bash does not complete the operand of help"
[ "$(complete_words sluice model predi)" = predict ] || complain "bash does not complete a subcommand"
exit $failed
