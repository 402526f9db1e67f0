#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A viewer of traces reads the exports for Perfetto and the folded stacks: speedscope, in Chromium. Its screenshots are in
# the build tree.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
command -v chromium-headless-shell >/dev/null || skip chromium-headless-shell
npm_install playwright playwright-core@1 axe-core@4 || skip playwright
npm_install speedscope speedscope@1.25.0 || skip speedscope
mkdir -p "$BUILD/export_viewers"

python3 "$SOURCE/tests/export_trace.py" 3 30 made.txt
"$sluice" trace export --format perfetto made.txt made.json 2>/dev/null
"$sluice" trace export made.txt made.folded 2>/dev/null
check_rc 0 timeout "$limit" node "$SOURCE/tests/engines/viewers.mjs" "$npm_modules" "$BUILD/export_viewers" \
	made.json made.folded
python3 - <<'END' || fail "$(cat out)"
import json
events, stacks = [json.loads(line) for line in open("out", encoding="utf-8")]
# Three ranks and one other process with two threads each. Messages about frames would mean that calls are not nested.
assert "rank 0: " in events["shown"] and "(1/8)" in events["shown"], events
assert any("Trace Event Format" in m for m in events["messages"]), events
assert not [m for m in events["messages"] + stacks["messages"] if "frame" in m.lower() or "Error" in m], (events, stacks)
assert "made.folded" in stacks["shown"] or "Left Heavy" in stacks["shown"], stacks
assert any("ollapsed" in m for m in stacks["messages"]), stacks
END
