#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every fix of a finding about files and streams is executed, is accepted, and makes the finding disappear. Those that no
# test can execute are named.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libfindings.sh"
. "$(dirname "$0")/libfixes.sh"

for template in "$fixes"/*.c "$fixes"/*.python.py; do
	has_directive mpi || has_directive libraries || fix_cases "$template"
done
sed -n 's/^\([a-z-]* [a-z]*\) \(.*\)$/not executed: \1: \2/p' "$fixes/exceptions.txt"
