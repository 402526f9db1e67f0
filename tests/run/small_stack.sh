#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The guest needs less than 2 KiB of stack, also when a child joins the run in a signal handler.
. "$(dirname "$0")/libtorture.sh"

for mode in trace counters; do
	case_begin "a small signal stack, mode $mode"
	export SLUICE_CAPTURE_MODE=$mode
	both "$prog/small_stack" signals
	check_has "$(cat captured.out)" "child 0, handled 3000" "output"
done
