#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sources of the web application: their types are consistent, and the unit tests of web/tests pass. The packages are
# those that the build installed.
. "$(dirname "$0")/libtest.sh"
[ -e "$BUILD/web/installed" ] || skip web
cp -r "$SOURCE/web/src" "$SOURCE/web/tests" "$SOURCE/web/tsconfig.json" "$SOURCE/web/package.json" .
ln -s "$BUILD/web/node_modules" node_modules
timeout "$limit" npm run --silent check
timeout "$limit" npm run --silent test >log 2>&1 || { cat log; exit 1; }

# forbid PATTERN FILE...: fails if a line of the files matches
forbid() {
	if grep -rnE "$@"; then exit 1; fi
}
# Text from traces never becomes markup, and the lock file names no registry.
forbid 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function' src
forbid '"resolved"|registry' "$SOURCE/web/package-lock.json"
