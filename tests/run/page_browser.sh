#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `sluice report --html` in a real browser: page_browser.mjs lists what is checked. Its screenshots are in the
# build tree. The packages of npm are installed there once.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
command -v chromium-headless-shell >/dev/null || skip chromium-headless-shell
npm_install playwright playwright-core@1 axe-core@4 || skip playwright
mkdir -p "$BUILD/page_browser"

# A parallel run of four ranks that is written by hand, and a real run with hostile names.
python3 "$SOURCE/tests/run/page_trace.py" >parallel.txt
evil='</script><img src=x onerror=alert(1)>'
printf x >'<img src=x onerror=alert(2)>.dat'
check_rc 0 "$sluice" run --quiet -o hostile.sluice -- sh -c 'cat "$0" "<img src=x onerror=alert(2)>.dat"; ls -lR /usr/share/doc/b*' "$SOURCE/NEWS.md" "$evil"
check_rc 0 "$sluice" report --html parallel.html parallel.txt
check_rc 0 "$sluice" report --html hostile.html hostile.sluice
timeout "$limit" node "$SOURCE/tests/run/page_browser.mjs" "$npm_modules" "$BUILD/page_browser" parallel.html hostile.html
