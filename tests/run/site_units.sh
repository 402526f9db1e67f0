#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The units of systemd are valid and equally sandboxed; systemd itself judges them.
. "$(dirname "$0")/libtest.sh"
units="sluiced.service sluiced.socket sluice-watch.service"

mkdir units
for unit in $units; do
	! grep -n '@[A-Z_]*@' "$BUILD/generated/$unit" || fail "$unit has a variable without a value"
	# The programs need not be installed.
	sed -E "s#^ExecStart=.*/(sluiced?)( |\$)#ExecStart=$BUILD/\1\2#" "$BUILD/generated/$unit" >"units/$unit"
done
check_has "$(cat units/sluice-watch.service)" "ExecStart=$BUILD/sluice site watch"
check_has "$(cat units/sluiced.service)" "ExecStart=$BUILD/sluiced"

# sandbox UNIT: the settings that restrict the service; only the daemon must know what is mounted in homes
sandbox() {
	grep -E '^(User|Group|UMask|NoNew|Capability|Ambient|Protect|Private|Lock|MemoryDeny|Restrict[A-Z]|SystemCall)' "units/$1" | sed 's/ProtectHome=read-only/ProtectHome=yes/' | sort
}
[ "$(sandbox sluiced.service | wc -l)" -gt 20 ] || fail "the sandbox of sluiced.service is not found"
check_eq "$(sandbox sluice-watch.service)" "$(sandbox sluiced.service)" "sandbox of the reasoner"

[ "$(systemd-analyze --version 2>/dev/null | awk 'NR == 1 { print $2 + 0 }')" -ge 250 ] 2>/dev/null || skip systemd
for unit in $units; do
	systemd-analyze verify --man=no "units/$unit" >verify 2>&1 || fail "$unit: $(cat verify)"
	# A setting that systemd does not know is only a warning. Other units of the machine do not matter.
	! grep -F "$unit" verify || fail "$unit: $(cat verify)"
done
# 100: not sandboxed at all
for unit in sluiced.service sluice-watch.service; do
	systemd-analyze security --offline=true --threshold=30 "units/$unit" >security 2>&1 ||
		fail "$unit is not sandboxed enough: $(tail -n 1 security)"
done
