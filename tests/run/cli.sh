#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The command line itself: help, incorrect usage, suggestions, aliases, completion, JSON, settings and their origins.
. "$(dirname "$0")/libtest.sh"

# help
check_rc 2 "$sluice"
check_eq "$(cat out)" "" "stdout without a command"
check_has "$(cat err)" "Usage: sluice"
check_rc 0 "$sluice" --help
check_has "$(cat out)" "Record and explain:"
check_rc 0 "$sluice" help print
check_has "$(cat out)" "--min-duration TIME"
check_rc 0 "$sluice" version
check_has "$(cat out)" "sluice 0."
check_rc 0 "$sluice" --version

# misuse
check_rc 2 "$sluice" nonsense
check_has "$(cat err)" '"nonsense"'
check_rc 2 "$sluice" rnu
check_has "$(cat err)" '"run"?'
check_rc 2 "$sluice" trace covnert a b
check_has "$(cat err)" '"convert"?'
check_rc 2 "$sluice" trace
check_has "$(cat err)" "Subcommands:"
check_rc 0 "$sluice" trace --help
check_rc 0 "$sluice" help trace convert
check_has "$(cat out)" "--format"
check_rc 2 "$sluice" trace convert --rank 3 a b
check_has "$(cat err)" "unknown option --rank"
check_rc 2 "$sluice" print --limt 3
check_has "$(cat err)" "--limit?"
check_rc 2 "$sluice" help nonsense
check_rc 2 "$sluice" print --nonsense
check_has "$(cat err)" "sluice print: unknown option --nonsense"
check_rc 2 "$sluice" print --limit many
check_has "$(cat err)" '--limit: "many"'
check_rc 2 "$sluice" print a b
check_has "$(cat err)" '"b"'
check_rc 2 "$sluice" trace convert a
check_rc 2 "$sluice" print --layer NOPE
check_has "$(cat err)" '"NOPE"'
check_rc 2 "$sluice" print --json --csv
check_rc 2 "$sluice" config nonsense
check_rc 2 "$sluice" --set nonsense config
check_rc 2 "$sluice" internal nonsense
check_rc 2 "$sluice" trace convert /etc/passwd x --format nonsense

# no data
check_rc 3 "$sluice" trace path
check_has "$(cat err)" "$work/runs"
check_rc 3 "$sluice" print
check_rc 3 "$sluice" report
check_rc 0 "$sluice" ls
check_eq "$(cat out)" "" "stdout of ls without runs"
check_rc 1 "$sluice" print /nonexistent
echo "no trace" >other
check_rc 1 "$sluice" report other
check_has "$(cat err)" "other"

# An error if stdout cannot be written
check_rc 1 sh -c "'$sluice' help >/dev/full"

# JSON
for command in config/1 ls/1 doctor/1 help/2 version/1; do
	check_rc 0 "$sluice" "${command%/*}" --json
	check_json out "sluice.$command"
	check_eq "$(cat err)" "" "stderr of $command --json"
done
check_rc 0 "$sluice" doctor
check_has "$(cat out)" "good  library"
check_rc 0 "$sluice" doctor --coverage
check_has "$(cat out)" "POSIX.Network"
check_rc 0 "$sluice" doctor --coverage -v
check_has "$(cat out)" "pwrite64"

# settings: each source overrides the one before
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

# Broken settings are reported with their place, and nothing else fails.
unset SLUICE_CAPTURE_MODE
broken() {
	printf "$1" >named.conf
	check_rc 1 "$sluice" config
	check_has "$(cat err)" "sluice config show: $work/named.conf:$2"
	check_has "$(cat out)" "capture.mode"
	check_rc 0 "$sluice" ls
	check_has "$(cat err)" "sluice ls: warning: $work/named.conf:$2"
}
broken '[captur]\nmode = off\n' 2
broken '[capture]\n\nmoed = off\n' 3
broken '[capture]\nmode = maybe\n' '2: capture.mode'
broken '[spool]\nlimit = lots\n' '2: spool.limit'
broken '[capture]\nmode\n' 2
broken '[capture\n' 1
broken 'mode = off\n' 1
rm named.conf
check_rc 1 "$sluice" config
check_has "$(cat err)" "$work/named.conf"
mkdir named.conf
check_rc 1 "$sluice" config
check_has "$(cat err)" "named.conf"
rmdir named.conf
unset SLUICE_CONFIG
export SLUICE_CAPTURE_MOED=off
check_rc 1 "$sluice" config
check_has "$(cat err)" SLUICE_CAPTURE_MOED
check_rc 1 "$sluice" doctor
check_has "$(cat out)" "bad   config"
unset SLUICE_CAPTURE_MOED

# Names of earlier versions still work.
while IFS=: read -r old new; do
	# shellcheck disable=SC2086 # one word per part of the name
	check_rc 0 "$sluice" $old --help
	check_has "$(head -n 1 out)" "Usage: sluice $new" "help of $old"
done <<'END'
last:trace path
convert:trace convert
merge:trace merge
recover:trace recover
store:config store
params list:kb params list
params check:kb params check
tune --list:kb tunings
tune --show:kb tunings
tune --forget:kb tunings
bench:model measure
bench --list:model data list
model describe:model show
model evaluate:lab evaluate
probe run:forecast probe
probe list:forecast systems
probe submit:forecast submit
probe import:forecast import
probe export:forecast export
probe forget:forecast forget
forecast --now:forecast now
learn fit:lab learn fit
learn describe:lab learn show
kernel:lab kernel
reproduce table4:lab reproduce behzad
reproduce wan:lab reproduce wan
END

# Color is used when requested, whatever the output is.
check_rc 2 "$sluice" --color sometimes ls
check_rc 0 "$sluice" --color always ls

# Completion: commands, subcommands, options, values.
candidates() {
	bash -c 'source /dev/stdin; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; echo "${COMPREPLY[*]}"' \
		- x "$sluice" "$@" < <("$sluice" internal completion bash)
}
check_eq "$(candidates repo)" report "completion of a command"
check_eq "$(candidates trace con)" convert "completion of a subcommand"
check_eq "$(candidates -c a.b=c print --tr)" --tree "completion of an option"
check_eq "$(candidates run --format t)" text "completion of a value"
check_eq "$(candidates run --format = t)" text "completion of a value after ="
check_eq "$(candidates --color n)" never "completion of a value before the command"
check_eq "$(candidates help trace rec)" recover "completion of help"
check_eq "$(candidates model predi)" predict "completion of a subcommand"
check_eq "$(candidates trace convert --format sq)" sqlite "completion of a format"
check_eq "$(candidates lab evalu)" evaluate "completion of a command of sluice lab"
