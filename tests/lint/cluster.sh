#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The scripts of the test bed and of its tests have no fault that shellcheck finds.
set -eu
. "$SOURCE/tests/libskip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v shellcheck >/dev/null || skip shellcheck
# It finds libtestbed.sh from there.
(cd "$SOURCE/testbed" && shellcheck -x up down status enter ./*.sh parts/*.sh)
# The tests share variables with libtest.sh, and give at_exit commands that are expanded later.
shellcheck -e SC1091,SC2034,SC2154,SC2016 "$SOURCE"/tests/cluster/*.sh
printf '#!/bin/bash\nrm $1\n' >"$work/planted.sh"
! shellcheck "$work/planted.sh" >/dev/null || { echo "shellcheck did not report a planted fault" && exit 1; }
