#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `sluice report --html` in a real browser: page_browser.mjs lists what is checked. Its screenshots are in the
# build tree. The packages of npm are installed there once.
npmrc=$(npm config get userconfig 2>/dev/null || true)
cache=$(npm config get cache 2>/dev/null || true)
. "$(dirname "$0")/libtest.sh"
command -v chromium >/dev/null || skip chromium
tools=$BUILD/page_browser

# install_packages: false if npm or its registry is missing
install_packages() {
	[ -d "$tools/node_modules/axe-core" ] && [ -d "$tools/node_modules/playwright-core" ] && return
	command -v npm >/dev/null && command -v node >/dev/null || return
	mkdir -p "$tools"
	timeout "$limit" npm install --prefix "$tools" --userconfig "$npmrc" --cache "$cache" --no-save --no-audit --no-fund \
		--ignore-scripts playwright-core@1 axe-core@4 >npm.log 2>&1
}
install_packages || { cat npm.log >&2 || true; skip playwright; }

# A parallel run of four ranks that is written by hand, and a real run with hostile names.
python3 "$SOURCE/tests/run/page_trace.py" >parallel.txt
evil='</script><img src=x onerror=alert(1)>'
printf x >'<img src=x onerror=alert(2)>.dat'
check_rc 0 "$sluice" run --quiet -o hostile.sluice -- sh -c 'cat "$0" "<img src=x onerror=alert(2)>.dat"; ls -lR /usr/share/doc/b*' "$SOURCE/NEWS.md" "$evil"
check_rc 0 "$sluice" report --html parallel.html parallel.txt
check_rc 0 "$sluice" report --html hostile.html hostile.sluice
NODE_PATH=$tools/node_modules timeout "$limit" node "$SOURCE/tests/run/page_browser.mjs" "$tools" parallel.html hostile.html
