#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The help text, the man page and the completion of each command list the same options; groff and man accept the pages;
# and the shells accept the completion scripts. run/cli.sh tests what the scripts do.
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
	local name=$1 help option candidates
	# shellcheck disable=SC2086 # one word per level of the command tree
	help=$("$sluice" $name --help)
	# shellcheck disable=SC2086
	[ "$help" = "$("$sluice" help $name)" ] || complain "'sluice $name --help' and 'sluice help $name' differ"
	check_page "sluice-${name// /-}" "$help"
	grep -q "^Usage: sluice $name\b" <<<"$help" || complain "the help text of $name has no usage line"
	# shellcheck disable=SC2086
	candidates=$("$sluice" internal complete $(wc -w <<<"$name") $name -- | cut -f 1)
	for option in $(options_of "$help"); do
		grep -qxF -e "$option" <<<"$candidates" || complain "completion of $name lacks $option"
	done
	[ -z "$(awk 'length > 120' <<<"$help")" ] || complain "the help text of $name is wider than 120 columns"
}

check_page sluice "$("$sluice" --help)"
mapfile -t names < <("$sluice" help --json | python3 -c 'import json, sys
for c in json.load(sys.stdin)["commands"]: print(c["name"])')
for name in "${names[@]}"; do
	# `sluice lab` is a program of its own; its page lists the options of that program.
	[ "$name" = lab ] || check_command "$name"
done
[ -f "$pages/man/sluice-lab.1" ] || complain "the page sluice-lab.1 does not exist"

bash -n "$pages/sluice.bash" || failed=1
! command -v zsh >/dev/null || zsh -n "$pages/_sluice" || failed=1

exit $failed
