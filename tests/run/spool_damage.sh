#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program overwrites or truncates its spool while the collector reads it. The program behaves as without capture, the
# collector survives, the trace is complete, the damage is counted, and the records of other processes are intact.
. "$(dirname "$0")/libtorture.sh"
calls=20000

# damaged CASE [ARGUMENT]: runs the case beside a process that makes $calls calls of pwrite
damaged() {
	case_begin "$1"
	cat >both.sh <<-END
		"$prog/damage" together 1 $calls >/dev/null & "$prog/damage" $*
		code=\$?
		wait
		exit \$code
	END
	bare sh "$work/both.sh"
	captured sh "$work/both.sh"
	same_code
	same_out
	check_eq "$(json_get report.json '["complete"]')" True "complete after $1"
	check_rows $calls 'function == "pwrite"'
}

damaged flip 3
[ "$(lost)" -gt 0 ] || wrong "the damage is not counted"
damaged scribble 3
[ "$(lost)" -gt 0 ] || wrong "the damage is not counted"
damaged counts
[ "$(lost)" -gt 0 ] && [ "$(lost)" -lt 1000 ] || wrong "$(lost) calls are counted as lost"
damaged truncated
# If the collector had not seen the spool before, its process counts as unrecorded.
[ $(($(lost) + $(json_get report.json '["losses"]["unrecorded_processes"]'))) -gt 0 ] ||
	wrong "the truncated spool is not counted"
case_begin "control page"
bare "$prog/damage" control
captured "$prog/damage" control
same_code
same_out
check_eq "$(json_get report.json '["complete"]')" True "complete"
