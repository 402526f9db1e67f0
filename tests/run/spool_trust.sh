#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A process may outlive its run, and finds its directory by name. The guest obeys a control page only in a directory that
# belongs to the user and that nobody else has access to.
. "$(dirname "$0")/libtest.sh"

# A control page as `sluice run` makes it.
# shellcheck disable=SC2016 # expanded by the inner shell
check_rc 0 "$sluice" run --quiet -- sh -c 'cp "$SLUICE_SPOOL/control" control'

# spool_make: a fresh directory with that control page
spool_make() {
	rm -rf spool other
	mkdir -m 700 spool
	cp control spool/control
	chmod 600 spool/control
}

# check_joins EXPECTED WHAT: does a program join the run of this directory? Its behavior is the same in any case.
check_joins() {
	local joined=no
	LD_PRELOAD=$BUILD/libsluice.so SLUICE_SPOOL=$work/spool check_rc 23 "$prog/plain"
	check_eq "$(cat err)" "$(cat bare.err)" "stderr: $2"
	[ -z "$(find spool/ other/ -name '*.spool' 2>/dev/null)" ] || joined=yes
	check_eq "$joined" "$1" "joined: $2"
}
check_rc 23 "$prog/plain"
cp err bare.err

spool_make
check_joins yes "a directory of the user"

for mode in 710 701 770 707 755 777 1777; do
	spool_make
	chmod $mode spool
	check_joins no "mode $mode"
done

spool_make
mv spool other
ln -s other spool
check_joins no "a symbolic link to a directory"

spool_make
mv spool/control page
ln -s "$work/page" spool/control
check_joins no "a symbolic link to a control page"

spool_make
rm spool/control
mkfifo spool/control
check_joins no "a FIFO"

spool_make
truncate -s 100 spool/control
check_joins no "a short control page"

# A child of a process that has joined does not follow a directory that was replaced.
spool_make
# shellcheck disable=SC2016
LD_PRELOAD=$BUILD/libsluice.so SLUICE_SPOOL=$work/spool check_rc 0 bash -c '
	mv spool other && mkdir -m 700 spool && cp other/control spool/ && (: >made; :) && [ -e made ]'
joined=$(find spool/ -name '*.spool' | wc -l)
# mv, mkdir and cp are programs of their own; only cp may have joined the new directory.
[ "$joined" -le 1 ] || fail "the child has followed the new directory: $(ls spool)"

[ "$(id -u)" = 0 ] || skip root "directories of other users"
spool_make
chown 12345 spool
check_joins no "a directory of another user"
spool_make
chown 12345 spool/control
check_joins no "a control page of another user"
