-- SPDX-License-Identifier: BSD-3-Clause
-- Module of Lmod: programs are recorded as the policy of the site says. A site that wants to record all users loads it by
-- default. Users opt out with `module unload sluice-site`, or with SLUICE_DISABLE=1.
help([[Records the I/O of programs for the site. Opt out: module unload sluice-site]])
whatis("Name: sluice-site")
whatis("Version: @PROJECT_VERSION@")
whatis("Description: Records the I/O of programs as the policy of the site says")
prepend_path("LD_PRELOAD", "@CMAKE_INSTALL_FULL_LIBDIR@/sluice/libsluice.so")
