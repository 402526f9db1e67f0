# SPDX-License-Identifier: BSD-3-Clause
# Writes the facts of the build (facts.h) and adds them to each program. What may change without a new configuration, such
# as the commit, is written by facts.cmake in every build; a new commit only compiles one file and links three programs.

# A row of a table: name and version.
function(facts_add variable name version)
	if(version)
		set(${variable} "${${variable}}\t{ \"${name}\", \"${version}\" },\n" PARENT_SCOPE)
	endif()
endfunction()

facts_add(facts_libraries zstd "${ZSTD_VERSION}")
facts_add(facts_libraries jansson "${JANSSON_VERSION}")
facts_add(facts_libraries inih "${INIH_VERSION}")
facts_add(facts_libraries xxhash "${XXHASH_VERSION}")
facts_add(facts_libraries sqlite "${SQLITE_VERSION}")
facts_add(facts_libraries zlib "${ZLIB_VERSION}")
facts_add(facts_libraries mxml "${MXML_VERSION}")
facts_add(facts_libraries microhttpd "${MICROHTTPD_VERSION}")
facts_add(facts_libraries libpq "${LIBPQ_VERSION}")

# Each header of a library defines LIBRARY_INTERFACE: the version of the library whose functions it has.
foreach(library mpi hdf5 netcdf pnetcdf uring)
	file(STRINGS src/capture/interfaces/${library}.h line REGEX "^#define [A-Z0-9]+_INTERFACE \"" LIMIT_COUNT 1)
	if(NOT line MATCHES "\"(.+)\"")
		message(FATAL_ERROR "src/capture/interfaces/${library}.h does not define its version")
	endif()
	facts_add(facts_interfaces ${library} ${CMAKE_MATCH_1})
endforeach()

string(TOUPPER "${CMAKE_BUILD_TYPE}" facts_type)
# Options that name folders of the build say nothing about the result.
string(REGEX REPLACE "-f(file|debug|macro|profile)-prefix-map=[^ ]*" "" facts_flags
	"${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${facts_type}}")
string(REGEX REPLACE "  +" " " facts_flags "${facts_flags}")
string(STRIP "${facts_flags}" facts_flags)
string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" facts_flags "${facts_flags}")
string(REPLACE GNU gcc facts_compiler "${CMAKE_C_COMPILER_ID}")
string(TOLOWER "${facts_compiler} ${CMAKE_C_COMPILER_VERSION}" facts_compiler)
set(facts_postgresql false)
if(LIBPQ_FOUND)
	set(facts_postgresql true)
endif()
configure_file(src/cli/facts.c.in ${generated}/facts.c @ONLY)

add_custom_target(facts_sources
	COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DWEB_TABLE=${web_table} -DOUTPUT=${generated}/facts_sources.h
		-P ${CMAKE_SOURCE_DIR}/src/cli/facts.cmake
	DEPENDS ${web_table} BYPRODUCTS ${generated}/facts_sources.h COMMENT "" VERBATIM)
add_library(facts OBJECT ${generated}/facts.c)
target_include_directories(facts PRIVATE ${generated})
add_dependencies(facts facts_sources)
host_target(facts)
foreach(program sluice sluice-lab sluiced)
	target_sources(${program} PRIVATE $<TARGET_OBJECTS:facts>)
endforeach()
