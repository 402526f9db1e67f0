#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The frame of the command line: help, misuse, JSON, settings and their origins, messages for broken files.
. "$(dirname "$0")/libtest.sh"

# help
check_rc 2 "$sluice"
check_eq "$(cat out)" "" "stdout without a command"
check_has "$(cat err)" "Usage: sluice"
check_rc 0 "$sluice" --help
check_has "$(cat out)" "Commands:"
check_rc 0 "$sluice" help print
check_has "$(cat out)" "--min-dur TIME"
check_rc 0 "$sluice" version
check_has "$(cat out)" "sluice 0."
check_rc 0 "$sluice" --version

# misuse
check_rc 2 "$sluice" nonsense
check_has "$(cat err)" 'there is no command "nonsense"'
check_rc 2 "$sluice" help nonsense
check_rc 2 "$sluice" print --nonsense
check_has "$(cat err)" "sluice print: there is no option --nonsense"
check_rc 2 "$sluice" print --limit many
check_has "$(cat err)" '--limit: "many" is not a whole number'
check_rc 2 "$sluice" print a b
check_has "$(cat err)" "one argument too many: b"
check_rc 2 "$sluice" convert a
check_rc 2 "$sluice" print --layer NOPE
check_has "$(cat err)" 'there is no layer "NOPE"'
check_rc 2 "$sluice" print --json --csv
check_rc 2 "$sluice" config nonsense
check_rc 2 "$sluice" --set nonsense config
check_rc 2 "$sluice" internal nonsense
check_rc 2 "$sluice" convert /etc/passwd x --to nonsense

# nothing there
check_rc 3 "$sluice" last
check_has "$(cat err)" "there is no run in $work/runs yet; try: sluice run -- PROGRAM"
check_rc 3 "$sluice" print
check_rc 3 "$sluice" report
check_rc 0 "$sluice" ls
check_eq "$(cat out)" "" "stdout of ls without runs"
check_rc 1 "$sluice" print /nonexistent
echo "no trace" >other
check_rc 1 "$sluice" report other
check_has "$(cat err)" "other"

# stdout that cannot be written is an error
check_rc 1 sh -c "'$sluice' help >/dev/full"

# JSON
for command in config ls doctor help version; do
	check_rc 0 "$sluice" $command --json
	check_json out "sluice.$command/1"
	check_eq "$(cat err)" "" "stderr of $command --json"
done
check_rc 0 "$sluice" doctor
check_has "$(cat out)" "good  library"
check_rc 0 "$sluice" doctor --coverage
check_has "$(cat out)" "POSIX.Network"
check_rc 0 "$sluice" doctor --coverage -v
check_has "$(cat out)" "pwrite64"

# settings: each source over the one before
origin() {
	"$sluice" "${@:2}" config --show-origin "$1"
}
unset SLUICE_TRACE_DIR
check_eq "$(origin capture.mode)" "default	capture.mode = trace"
check_eq "$(origin trace.dir)" "default	trace.dir = $XDG_DATA_HOME/sluice/runs"
printf '[capture]\nmode = off\n' >"$SLUICE_ETC"
check_eq "$(origin capture.mode)" "$SLUICE_ETC:2	capture.mode = off"
printf '# mine\n\n[capture]\nmode = counters\n' >"$XDG_CONFIG_HOME/sluice/config"
check_eq "$(origin capture.mode)" "$XDG_CONFIG_HOME/sluice/config:4	capture.mode = counters"
printf '[capture]\nmode = trace\n[trace]\ndir = ~/here\n' >named.conf
export SLUICE_CONFIG=$work/named.conf
check_eq "$(origin capture.mode)" "$work/named.conf:2	capture.mode = trace"
check_eq "$(origin trace.dir)" "$work/named.conf:4	trace.dir = $HOME/here"
export SLUICE_CAPTURE_MODE=off
check_eq "$(origin capture.mode)" "SLUICE_CAPTURE_MODE	capture.mode = off"
check_eq "$(origin capture.mode --set capture.mode=counters)" "--set	capture.mode = counters"
check_rc 0 "$sluice" config --json capture
check_json out sluice.config/1
check_eq "$(json_get out '["settings"][0]["origin"]')" SLUICE_CAPTURE_MODE
check_eq "$(json_get out '["problems"]')" "[]"

# broken settings: named by place, and nothing else stops
unset SLUICE_CAPTURE_MODE
broken() {
	printf "$1" >named.conf
	check_rc 1 "$sluice" config
	check_has "$(cat err)" "sluice config: $work/named.conf:$2"
	check_has "$(cat out)" "capture.mode"
	check_rc 0 "$sluice" ls
	check_has "$(cat err)" "sluice ls: warning: $work/named.conf:$2"
}
broken '[captur]\nmode = off\n' '2: there is no section [captur]; there are: [capture]'
broken '[capture]\n\nmoed = off\n' '3: [capture] has no key "moed"; there are: mode'
broken '[capture]\nmode = maybe\n' '2: capture.mode: "maybe" is not one of trace|counters|off'
broken '[spool]\nlimit = lots\n' '2: spool.limit: "lots" is not a size'
broken '[capture]\nmode\n' '2: the line is neither [section] nor key = value'
broken '[capture\n' '1: the heading has no closing ]'
broken 'mode = off\n' '1: the line stands before any [section]'
rm named.conf
check_rc 1 "$sluice" config
check_has "$(cat err)" "$work/named.conf: the settings file cannot be read: No such file"
mkdir named.conf
check_rc 1 "$sluice" config
check_has "$(cat err)" "named.conf: the settings file cannot be read: Is a directory"
rmdir named.conf
unset SLUICE_CONFIG
export SLUICE_CAPTURE_MOED=off
check_rc 1 "$sluice" config
check_has "$(cat err)" "environment variable SLUICE_CAPTURE_MOED is no setting"
check_rc 1 "$sluice" doctor
check_has "$(cat out)" "bad   config"
unset SLUICE_CAPTURE_MOED
