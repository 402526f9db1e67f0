# SPDX-License-Identifier: BSD-3-Clause
# usage: cmake -DSOURCE=DIR -DLOOK=FILE.css -DTREE=DIR -DOUTPUT=FILE.c -DNODE=FILE -DNPM=FILE -DWANTED=AUTO|ON|OFF -P build.cmake
# Copies the web application from SOURCE and the style LOOK into TREE, installs its packages there, bundles it, and writes
# the table of its files to OUTPUT. If the packages cannot be installed, the build fails (ON) or continues with an empty
# table (AUTO).
include(${CMAKE_CURRENT_LIST_DIR}/table.cmake)
set(npm_seconds 180)

# Sets the variable to true unless npm fails. The packages of this lock file may be there already.
function(install_packages variable)
	file(SHA256 ${SOURCE}/package-lock.json wanted)
	set(present "")
	if(EXISTS ${TREE}/installed)
		file(READ ${TREE}/installed present)
	endif()
	set(${variable} TRUE PARENT_SCOPE)
	if(present STREQUAL wanted)
		return()
	endif()
	execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=20000
		WORKING_DIRECTORY ${TREE} TIMEOUT ${npm_seconds} RESULT_VARIABLE status
		OUTPUT_FILE ${TREE}/npm.log ERROR_FILE ${TREE}/npm.log)
	if(NOT status EQUAL 0)
		set(${variable} FALSE PARENT_SCOPE)
		return()
	endif()
	file(WRITE ${TREE}/installed ${wanted})
endfunction()

if(WANTED STREQUAL "OFF")
	web_table(${OUTPUT} "")
	return()
endif()
file(REMOVE_RECURSE ${TREE}/src)
foreach(name src package.json package-lock.json .npmrc build.mjs)
	file(COPY ${SOURCE}/${name} DESTINATION ${TREE})
endforeach()
file(COPY ${LOOK} DESTINATION ${TREE}/src/style)
install_packages(is_installed)
if(NOT is_installed)
	set(reason "npm could not install the packages of the web application; ${TREE}/npm.log shows why.")
	if(WANTED STREQUAL "ON")
		message(FATAL_ERROR "${reason}")
	endif()
	message(WARNING "${reason} 'sluice serve' will only have its API. Remove ${OUTPUT} to try again.")
	web_table(${OUTPUT} "")
	return()
endif()
execute_process(COMMAND ${NODE} build.mjs dist WORKING_DIRECTORY ${TREE} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
	message(FATAL_ERROR "esbuild could not bundle the web application in ${TREE}")
endif()
web_table(${OUTPUT} ${TREE}/dist)
