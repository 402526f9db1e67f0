#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The examples of README.md work. The test runs every line that starts with "$ " in a fenced block tagged "console", in
# order and in one directory, which holds a copy of the folder src. A command that ends with a backslash continues on
# the next line. The other lines show output, which is not compared. A command fails the test if its exit code is not 0.
# Commands that build or install (make, git, cd, sudo, apt) are not run. Blocks with another tag, or none, are not read.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

page=$SOURCE/README.md
# commands PAGE: prints "LINE<tab>COMMAND" for each example
commands() {
	awk '
		/^[ \t]*```/ { console = !fenced && $0 ~ /```console[ \t]*$/; fenced = !fenced; next }
		console && command != "" { sub(/^> ?/, ""); command = command " " $0 }
		console && command == "" && /^\$ / { line = NR; command = substr($0, 3) }
		command ~ /\\$/ { sub(/[ \t]*\\$/, "", command); next }
		command != "" { print line "\t" command; command = "" }' "$1"
}

commands "$page" >examples
[ -s examples ] || fail "README.md has no command in a block that is tagged \"console\""
mkdir place
cp -r "$SOURCE/src" place/src
export PATH="$BUILD:$PATH"
ran=0
while IFS=$'\t' read -r line command; do
	case $command in
	"make "* | make | "git "* | "cd "* | "sudo "* | "apt"*) continue ;;
	*mpiexec* | *"lab kernel"*)
		[ -n "$(mpi_list)" ] || { skip_case libmpich-dev "README.md:$line"; continue; } ;;
	esac
	code=0
	(cd place && exec timeout -k 5 "$limit" bash -c "$command") >out 2>err </dev/null || code=$?
	[ $code = 0 ] || fail "README.md:$line: exit code of \"$command\" is $code: $(tail -n 5 err)"
	ran=$((ran + 1))
done <examples
echo "readme: $ran of $(wc -l <examples) examples were run"
