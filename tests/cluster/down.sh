#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Takes down the bed of the other tests; nothing of it is left.
. "$(dirname "$0")/libcluster.sh"
needs_root
[ -s "$shared_bed" ] || fail "there is no bed; cluster/up starts it"
SLUICE_TESTBED=$(cat "$shared_bed")
export SLUICE_TESTBED
"$testbed/down"
check_nothing_left "after down"
rmdir "$(dirname "$SLUICE_TESTBED")"
rm "$shared_bed"
