-- SPDX-License-Identifier: BSD-3-Clause
-- Module of Lmod: `module load sluice` provides the command. With `module load sluice-site` instead, or as a default
-- module of the site, programs are recorded as the policy of the site says. man finds the manual by PATH; MANPATH would hide
-- the manual of the system.
help([[Sluice makes the I/O of programs visible: sluice run PROGRAM, then sluice report.]])
whatis("Name: sluice")
whatis("Version: @PROJECT_VERSION@")
whatis("Description: Sluice: I/O of parallel programs")
prepend_path("PATH", "@CMAKE_INSTALL_FULL_BINDIR@")
prepend_path("PKG_CONFIG_PATH", "@CMAKE_INSTALL_FULL_LIBDIR@/pkgconfig")
prepend_path("CMAKE_PREFIX_PATH", "@CMAKE_INSTALL_PREFIX@")
