#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Starts the bed for the other tests of this folder. All parts work that the machine has everything for.
. "$(dirname "$0")/libcluster.sh"
needs_root
# A bed that an interrupted run has left behind.
if [ -s "$shared_bed" ]; then
	SLUICE_TESTBED=$(cat "$shared_bed") "$testbed/down"
	rm -rf "$(dirname "$(cat "$shared_bed")")"
fi
mkdir -p "$(dirname "$shared_bed")"
# Paths of sockets are short, and the user of PostgreSQL reads below the directory.
folder=$(mktemp -d /tmp/sluice-bed.XXXXXX)
chmod 755 "$folder"
echo "$folder/bed" >"$shared_bed"
SLUICE_TESTBED=$(cat "$shared_bed")
export SLUICE_TESTBED
"$testbed/up" --hosts 2
"$testbed/status" || fail "a part of the bed does not work"
while IFS=: read -r part needs; do
	need=$(missing_of "$part")
	skip_case "$need" "$part:$needs"
done <"$SLUICE_TESTBED/lacks"
