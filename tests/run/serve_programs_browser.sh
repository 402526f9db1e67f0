#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs over time and tags of `sluice serve` in a real browser, on real traces: serve_programs_browser.mjs lists what
# is checked.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/libprograms.sh"
need_browser

record_programs runs
mkdir empty
serve --tcp 127.0.0.1:0 --base-path /sluice runs
browse serve_programs_browser
stop_server
serve --tcp 127.0.0.1:0 empty
browse serve_programs_browser empty
