#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The main job on defaults: record an unmodified program, then show what it did. BUILD names the build tree.
set -eu
sluice=${BUILD:-build}/sluice
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SLUICE_TRACE_DIR="$work/runs"

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

show "$sluice" doctor
show "$sluice" run -- tar -cf "$work/sources.tar" src
show "$sluice" report --top 5
show "$sluice" print --limit 8
show "$sluice" ls
