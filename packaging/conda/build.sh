#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Called by conda-build in the sources, with PREFIX, CFLAGS and CPU_COUNT set.
set -eu
web=OFF
[ ! -e web/dist/index.html ] || web=AUTO
# CMAKE_ARGS has the prefix and the compilers of conda.
cmake -S . -B build -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX="$PREFIX" \
	-DCMAKE_INSTALL_LIBDIR=lib -DSLUICE_WEB=$web -DSLUICE_REPRODUCIBLE=ON
cmake --build build -j "${CPU_COUNT:-2}"
cmake --install build
