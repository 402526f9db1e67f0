# SPDX-License-Identifier: BSD-3-Clause
# Builds programs that need MPI, once per installed MPI: build/mpi/mpich/NAME and build/mpi/openmpi/NAME.
#
#	mpi_program(NAME SOURCE... [HDF5] [MULTI] [NETCDF] [PNETCDF] [LARGE] [FORTRAN] [BASE])
#	mpi_linked_program(NAME SOURCE... [WORD]...)	the same as NAME_linked, with Sluice's wrappers linked by ld --wrap
#	serial_program(NAME SOURCE... [HDF5] [MULTI] [NETCDF] [URING])	build/mpi/serial/NAME, without any MPI
#
# The words in capitals name further libraries that the program needs: MULTI is HDF5 1.14 or later, LARGE an MPI that has
# the functions with large counts of MPI 4. If one of them is missing, the program is not built, and mpi_summary() reports
# it. Sluice itself does not need MPI; trees for sanitizers and fuzzers do not use it.
# To use another compiler wrapper than the one found, set -DSLUICE_MPICC_MPICH=... or -DSLUICE_MPICC_OPENMPI=...

include(CheckCSourceCompiles)
set_property(GLOBAL PROPERTY mpi_left_out "")

# Each need is an interface library mpi_<mpi>_<need>; <mpi> may also be "serial".
function(mpi_need mpi need)
	add_library(mpi_${mpi}_${need} INTERFACE)
	target_include_directories(mpi_${mpi}_${need} SYSTEM INTERFACE ${ARGN})
endfunction()

# Does mpi.h declare functions with large counts? The program calls them instead of those without.
function(mpi_find_large mpi)
	set(CMAKE_REQUIRED_INCLUDES ${ARGN})
	set(CMAKE_REQUIRED_QUIET ON)
	set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
	check_c_source_compiles("#include <mpi.h>
int (*large)(MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *) = MPI_File_write_at_c;"
		SLUICE_MPI_LARGE_${mpi})
	if(SLUICE_MPI_LARGE_${mpi})
		mpi_need(${mpi} large)
		target_compile_options(mpi_${mpi}_large INTERFACE -include ${CMAKE_SOURCE_DIR}/tests/mpi/large.h)
	endif()
endfunction()

# Finds the flags that the compiler wrapper would add. "-show" is the only option that all wrappers accept.
function(mpi_find mpi)
	string(TOUPPER ${mpi} MPI)
	find_program(SLUICE_MPICC_${MPI} mpicc.${mpi})
	find_program(SLUICE_MPIFORT_${MPI} mpifort.${mpi})
	if(NOT SLUICE_MPICC_${MPI})
		set_property(GLOBAL APPEND PROPERTY mpi_left_out "all for ${mpi} (no mpicc.${mpi})")
		return()
	endif()
	execute_process(COMMAND ${SLUICE_MPICC_${MPI}} -show OUTPUT_VARIABLE flags RESULT_VARIABLE failed
		OUTPUT_STRIP_TRAILING_WHITESPACE)
	if(failed)
		message(WARNING "${SLUICE_MPICC_${MPI}} -show failed: no programs will be built for ${mpi}")
		return()
	endif()
	separate_arguments(flags UNIX_COMMAND "${flags}")
	set(includes ${flags})
	list(FILTER includes INCLUDE REGEX "^-I")
	list(TRANSFORM includes REPLACE "^-I" "")
	list(FILTER flags INCLUDE REGEX "^-(l|L|Wl|pthread)")
	mpi_need(${mpi} c ${includes})
	target_link_libraries(mpi_${mpi}_c INTERFACE ${flags})
	mpi_find_large(${mpi} ${includes})
	# gcc mistakes MPICH's MPI_STATUSES_IGNORE, which is the address 1, for an array that is too small.
	target_compile_options(mpi_${mpi}_c INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
endfunction()

# HDF5 is installed once per MPI and once without MPI; pkg-config knows the folders. The libraries that HDF5 itself
# needs are not linked.
function(mpi_find_hdf5 mpi)
	pkg_check_modules(HDF5_${mpi} QUIET hdf5-${mpi})
	find_library(SLUICE_HDF5_${mpi} hdf5 HINTS ${HDF5_${mpi}_LIBRARY_DIRS} NO_DEFAULT_PATH)
	if(SLUICE_HDF5_${mpi})
		mpi_need(${mpi} hdf5 ${HDF5_${mpi}_INCLUDE_DIRS})
		target_link_libraries(mpi_${mpi}_hdf5 INTERFACE ${SLUICE_HDF5_${mpi}})
		if(HDF5_${mpi}_VERSION VERSION_GREATER_EQUAL 1.14)
			mpi_need(${mpi} multi)
			target_link_libraries(mpi_${mpi}_multi INTERFACE mpi_${mpi}_hdf5)
		endif()
	endif()
endfunction()

# NetCDF and PnetCDF are built for one MPI only. No file names it, so it is derived from the MPI library that they link.
function(mpi_of_library library out)
	file(STRINGS ${library} needs REGEX "^libmpi(ch)?\\.so\\.[0-9]+$")
	if(needs MATCHES "libmpich\\.so|libmpi\\.so\\.1[0-9]")
		set(${out} mpich PARENT_SCOPE)
	else()
		set(${out} openmpi PARENT_SCOPE)
	endif()
endfunction()

# mpi_find_netcdf(NEED LIBRARY HEADER)
function(mpi_find_netcdf need library header)
	find_library(SLUICE_LIB_${library} ${library})
	if(NOT SLUICE_LIB_${library})
		return()
	endif()
	get_filename_component(folder ${SLUICE_LIB_${library}} DIRECTORY)
	find_path(SLUICE_INCLUDE_${library} ${header} HINTS ${folder}/netcdf/mpi/include)
	mpi_of_library(${SLUICE_LIB_${library}} mpi)
	if(SLUICE_INCLUDE_${library} AND NOT TARGET mpi_${mpi}_${need})
		mpi_need(${mpi} ${need} ${SLUICE_INCLUDE_${library}})
		target_link_libraries(mpi_${mpi}_${need} INTERFACE ${SLUICE_LIB_${library}})
	endif()
endfunction()

# mpi_find_serial(NEED MODULE)
function(mpi_find_serial need module)
	pkg_check_modules(SERIAL_${need} QUIET IMPORTED_TARGET GLOBAL ${module})
	if(TARGET PkgConfig::SERIAL_${need})
		mpi_need(serial ${need})
		target_link_libraries(mpi_serial_${need} INTERFACE PkgConfig::SERIAL_${need})
	endif()
endfunction()

# Sets ${out} to whether the program can be built; a missing need is added to the summary.
function(mpi_can out mpi name)
	set(${out} TRUE PARENT_SCOPE)
	foreach(need ${ARGN})
		if(NOT TARGET mpi_${mpi}_${need})
			set_property(GLOBAL APPEND PROPERTY mpi_left_out "${mpi}/${name} (no ${need})")
			set(${out} FALSE PARENT_SCOPE)
			return()
		endif()
	endforeach()
endfunction()

function(mpi_add_c mpi name sources needs)
	set(target mpi_${mpi}_program_${name})
	add_executable(${target} ${sources})
	list(TRANSFORM needs PREPEND mpi_${mpi}_)
	# Link only libraries that are called: an observed program must not load libraries of Sluice.
	target_link_options(${target} PRIVATE -Wl,--as-needed)
	target_link_libraries(${target} ${needs} Threads::Threads)
	set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
		RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/mpi/${mpi} INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

# Compiles with the wrapper itself: the modules of `use mpi` must match its compiler, which may differ from CMake's.
function(mpi_add_fortran mpi name source)
	string(TOUPPER ${mpi} MPI)
	set(program ${CMAKE_BINARY_DIR}/mpi/${mpi}/${name})
	add_custom_command(OUTPUT ${program}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/mpi/${mpi}
		COMMAND ${SLUICE_MPIFORT_${MPI}} -O2 -g -Wall -Wno-tabs -o ${program} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
			"$<TARGET_OBJECTS:mpi_aids>"
		DEPENDS ${source} mpi_aids "$<TARGET_OBJECTS:mpi_aids>" COMMAND_EXPAND_LISTS VERBATIM)
	add_custom_target(mpi_${mpi}_program_${name} ALL DEPENDS ${program})
endfunction()

function(mpi_program name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "HDF5;MULTI;NETCDF;PNETCDF;LARGE;FORTRAN;BASE" "" "")
	set(needs c)
	foreach(need HDF5 MULTI NETCDF PNETCDF LARGE FORTRAN)
		if(arg_${need})
			string(TOLOWER ${need} need)
			list(PREPEND needs ${need})
		endif()
	endforeach()
	foreach(mpi mpich openmpi)
		if(NOT TARGET mpi_${mpi}_c)
			continue()
		endif()
		mpi_can(can ${mpi} ${name} ${needs})
		if(NOT can)
			continue()
		endif()
		if(arg_FORTRAN)
			mpi_add_fortran(${mpi} ${name} ${arg_UNPARSED_ARGUMENTS})
			continue()
		endif()
		mpi_add_c(${mpi} ${name} "${arg_UNPARSED_ARGUMENTS}" "${needs}")
		target_sources(mpi_${mpi}_program_${name} PRIVATE "$<TARGET_OBJECTS:mpi_aids>")
		if(arg_BASE)
			target_link_libraries(mpi_${mpi}_program_${name} kinds base)
		endif()
	endforeach()
endfunction()

# build/mpi/<mpi>/NAME_linked: the program with Sluice's wrappers, for `sluice run --linked`
function(mpi_linked_program name)
	mpi_program(${name}_linked ${ARGN})
	foreach(mpi mpich openmpi)
		if(TARGET mpi_${mpi}_program_${name}_linked)
			target_link_options(mpi_${mpi}_program_${name}_linked PRIVATE @${CMAKE_BINARY_DIR}/sluice-link.flags)
			target_link_libraries(mpi_${mpi}_program_${name}_linked capture_link)
			add_dependencies(mpi_${mpi}_program_${name}_linked link_flags)
		endif()
	endforeach()
endfunction()

function(serial_program name)
	cmake_parse_arguments(PARSE_ARGV 1 arg "HDF5;MULTI;NETCDF;URING" "" "")
	set(needs)
	foreach(need HDF5 MULTI NETCDF URING)
		if(arg_${need})
			string(TOLOWER ${need} need)
			list(APPEND needs ${need})
		endif()
	endforeach()
	mpi_can(can serial ${name} ${needs})
	if(can)
		mpi_add_c(serial ${name} "${arg_UNPARSED_ARGUMENTS}" "${needs}")
	endif()
endfunction()

# Reports programs that are not built. Call it after the last program.
function(mpi_summary)
	get_property(left_out GLOBAL PROPERTY mpi_left_out)
	if(left_out)
		list(JOIN left_out ", " left_out)
		message(STATUS "MPI programs that will not be built: ${left_out}")
	endif()
endfunction()

# Programs that run well with more ranks than cores, and end well on a loaded machine.
add_library(mpi_aids OBJECT kernels/keep.c kernels/yield.c)
foreach(mpi mpich openmpi)
	mpi_find(${mpi})
	mpi_find_hdf5(${mpi})
	string(TOUPPER ${mpi} MPI)
	if(SLUICE_MPIFORT_${MPI})
		mpi_need(${mpi} fortran)
	endif()
endforeach()
mpi_find_hdf5(serial)
mpi_find_netcdf(netcdf netcdf_mpi netcdf_par.h)
mpi_find_netcdf(pnetcdf pnetcdf pnetcdf.h)
mpi_find_serial(netcdf netcdf)
mpi_find_serial(uring liburing)
