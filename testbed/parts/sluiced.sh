# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# sluiced on each host. It forwards to the site's PostgreSQL, if that part was started. The policy records nothing until
# a rule is added to $state/sluice.policy.
folder=$state/sluiced

part_missing() {
	[ -x "$build/sluiced" ] || echo make-testbed
}

part_start() {
	local host
	mkdir -p "$folder"
	echo "[policy]" >"$state/sluice.policy"
	publish SLUICE_SITE_POLICY "$state/sluice.policy"
	publish SLUICE_SITE_SHARED "$mount_point"
	if grep -qx postgres "$state/started"; then
		# shellcheck disable=SC2016 # the variable is that of the host
		enter head sh -c 'exec "$0" site init --database "$TESTBED_DATABASE"' "$build/sluice" >"$state/log/site" 2>&1
		# shellcheck disable=SC1091
		publish SLUICE_SITE_DATABASE "$(. "$state/environment" && echo "$TESTBED_DATABASE")"
	fi
	for host in $(host_names); do
		start_server "$host" "sluiced.$host" env SLUICE_SITE_STATE="$folder/$host" "$build/sluiced"
	done
	for host in $(host_names); do
		wait_until "sluiced on $host" enter "$host" "$build/sluiced" status
	done
}

part_stop() {
	:
}

part_status() {
	local host answers=0 total=0
	for host in $(host_names); do
		total=$((total + 1))
		! enter "$host" timeout 60 "$build/sluiced" status >/dev/null 2>&1 || answers=$((answers + 1))
	done
	echo "answers on $answers of $total hosts"
	[ $answers = $total ]
}
