#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every command of sluice, sluice-lab and sluiced has a man page. The page, the help text and the completion list the same
# options; --help and `help` print the same text; groff and man accept the pages; and the shells accept the completion
# scripts. run/cli.sh tests what the scripts do.
set -eu
. "$SOURCE/tests/libskip.sh"
pages=$BUILD/generated/manual
failed=0

complain() {
	echo "$*"
	failed=1
}

# options_of HELP: the long options that a help text lists
options_of() {
	grep -o '^  \(-., \|    \)--[a-z-]*' <<<"$1" | grep -o -- '--.*' || true
}

# options_of_page TEXT: the long options that a formatted man page lists
options_of_page() {
	sed -n '/^OPTIONS/,/^[A-Z][A-Z ]*$/p' <<<"$1" | grep -o '^ \{7\}\(-., \)\?--[a-z-]*' | grep -o -- '--.*' || true
}

# check_page PAGE [HELP]: groff and man accept the page; with HELP, the page lists the options of the help text
declare -A checked
check_page() {
	local page=$1 help=${2-} text warnings
	checked[$page]=yes
	[ -f "$pages/man/$page.1" ] || { complain "there is no man page $page.1"; return; }
	[ -z "$(groff -man -ww -Tutf8 "$pages/man/$page.1" 2>&1 >/dev/null)" ] || complain "groff warns about $page.1"
	warnings=$(mktemp)
	text=$(MANWIDTH=200 man --warnings -E UTF-8 -l "$pages/man/$page.1" 2>"$warnings" | col -bx)
	[ ! -s "$warnings" ] || complain "man warns about $page.1"
	rm "$warnings"
	[ -n "$help" ] || return 0
	[ "$(options_of "$help")" = "$(options_of_page "$text")" ] || complain "$page.1 and its help text list different options"
}

# check_command PROGRAM TITLE NAME HAS_JSON: TITLE is what the user types, NAME a full name such as "model fit"
check_command() {
	local program=$1 title=$2 name=$3 json=$4 help
	# `sluice lab` is a program of its own, whose page and help replace those of the command.
	[ "$title $name" != "sluice lab" ] || return 0
	# shellcheck disable=SC2086 # one word per level of the command tree
	help=$("$program" $name --help)
	# shellcheck disable=SC2086
	[ "$help" = "$("$program" help $name)" ] || complain "'$title $name --help' and '$title help $name' differ"
	check_page "${title// /-}-${name// /-}" "$help"
	# shellcheck disable=SC2086
	[ "$(options_of "$help" | sort)" = "$("$program" internal complete $(wc -w <<<"$name") $name -- | cut -f 1 | sort)" ] ||
		complain "completion of $title $name and its help text list different options"
	grep -q "^Usage: $title $name\b" <<<"$help" || complain "the help text of $title $name has no usage line"
	[ "$json" = no ] || grep -q -- '--json' <<<"$help" || complain "$title $name has no --json"
	[ -z "$(awk 'length > 100' <<<"$help")" ] || complain "the help text of $title $name is wider than 100 columns"
}

# check_program PROGRAM TITLE
check_program() {
	local program=$1 title=$2 name json
	check_page "${title// /-}" "$("$program" --help)"
	while IFS=$'\t' read -r json name; do
		check_command "$program" "$title" "$name" "$json"
	done < <("$program" help --json | python3 -c 'import json, sys
for c in json.load(sys.stdin)["commands"]: print("yes" if c["json"] else "no", c["name"], sep="\t")')
}

check_program "$BUILD/sluice" sluice
check_program "$BUILD/sluice-lab" "sluice lab"
check_program "$BUILD/sluiced" sluiced
# Pages of groups, and pages that nothing refers to
for file in "$pages"/man/*.1; do
	page=$(basename "$file" .1)
	[ -n "${checked[$page]:-}" ] || check_page "$page"
	[ "$page" = sluice ] || grep -q "^\.BR ${page//-/\\\\-} (1)" "$pages"/man/*.1 || [ "$page" = sluice-lab ] || [ "$page" = sluiced ] ||
		complain "no page refers to $page.1"
done

bash -n "$pages/sluice.bash" || failed=1
[ $failed = 0 ] || exit 1
command -v zsh >/dev/null || skip zsh "the syntax of its completion"
zsh -n "$pages/_sluice"
