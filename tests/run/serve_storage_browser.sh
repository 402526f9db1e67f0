#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The pages of `sluice serve` about storage targets, node and model in a real browser: serve_storage_browser.mjs lists what
# is checked.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libstorage.sh"
need_browser
state() {
	cat "$work/served.err"
}
mkdir -p runs
serve --tcp 127.0.0.1:0 runs
browse serve_storage_browser empty
stop_server
make_probes
make_models
make_runs
make_site
serve --tcp 127.0.0.1:0 --base-path /sluice runs
browse serve_storage_browser full
