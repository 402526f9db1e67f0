# SPDX-License-Identifier: BSD-3-Clause
# Compiles for x86-64 on another architecture, against the root that root.sh has unpacked. Programs of the build that run
# during the build, such as wrapgen, run emulated in that root. The environment variable SLUICE_AMD64_ROOT names it when
# the tree is configured for the first time.
if(NOT SLUICE_AMD64_ROOT)
	set(SLUICE_AMD64_ROOT $ENV{SLUICE_AMD64_ROOT} CACHE PATH "The root of amd64 packages")
endif()
# CMake reads this file again for each test of the compiler, in a project of its own.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SLUICE_AMD64_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
set(CMAKE_SYSROOT ${SLUICE_AMD64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR bash ${CMAKE_CURRENT_LIST_DIR}/enter.sh ${SLUICE_AMD64_ROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SLUICE_AMD64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${SLUICE_AMD64_ROOT}/usr/lib/x86_64-linux-gnu/pkgconfig:${SLUICE_AMD64_ROOT}/usr/share/pkgconfig)
foreach(mpi mpich openmpi)
	string(TOUPPER ${mpi} MPI)
	foreach(kind cc fort)
		string(TOUPPER ${kind} KIND)
		set(SLUICE_MPI${KIND}_${MPI} bash ${CMAKE_CURRENT_LIST_DIR}/mpi_compile.sh ${SLUICE_AMD64_ROOT} ${mpi} ${kind})
	endforeach()
endforeach()
