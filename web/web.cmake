# SPDX-License-Identifier: BSD-3-Clause
# Embeds the web application into the library web. npm and esbuild run in the folder web/ of the build tree (build.cmake);
# nothing is written into the sources. Trees for sanitizers and fuzzers do not need the application.
set(web_table ${CMAKE_BINARY_DIR}/generated/web_table.c)

if(NOT SLUICE_WEB MATCHES "^(AUTO|ON|OFF)$")
	message(FATAL_ERROR "SLUICE_WEB is \"${SLUICE_WEB}\"; set it to AUTO, ON or OFF")
endif()
set(web_wanted ${SLUICE_WEB})
if(SLUICE_WEB STREQUAL "AUTO" AND (SLUICE_SANITIZE OR SLUICE_FUZZ))
	set(web_wanted OFF)
endif()
# A release contains the bundled application (packaging/dist.sh) and needs neither node nor npm.
set(web_bundle ${CMAKE_SOURCE_DIR}/web/dist)
if(NOT web_wanted STREQUAL "OFF" AND NOT EXISTS ${web_bundle}/index.html)
	find_program(SLUICE_NODE node)
	find_program(SLUICE_NPM npm)
	mark_as_advanced(SLUICE_NODE SLUICE_NPM)
	if(NOT SLUICE_NODE OR NOT SLUICE_NPM)
		if(SLUICE_WEB STREQUAL "ON")
			message(FATAL_ERROR "SLUICE_WEB is ON, but node and npm were not found: install nodejs and npm")
		endif()
		message(STATUS "node or npm was not found: 'sluice serve' will have no web application, only its API")
		set(web_wanted OFF)
	endif()
endif()

file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS web/src/*)
set(web_inputs package.json package-lock.json .npmrc build.mjs build.cmake table.cmake)
list(TRANSFORM web_inputs PREPEND ${CMAKE_SOURCE_DIR}/web/)
# The style that the HTML report has, too.
set(web_look ${CMAKE_SOURCE_DIR}/src/observe/page/look.css)
add_custom_command(OUTPUT ${web_table}
	COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR}/web -DLOOK=${web_look} -DTREE=${CMAKE_BINARY_DIR}/web -DOUTPUT=${web_table}
		-DNODE=${SLUICE_NODE} -DNPM=${SLUICE_NPM} -DWANTED=${web_wanted} -P ${CMAKE_SOURCE_DIR}/web/build.cmake
	DEPENDS ${web_sources} ${web_inputs} ${web_look} ${CMAKE_SOURCE_DIR}/src/base/embed_bytes.cmake
	COMMENT "Bundling the web application" VERBATIM)
target_sources(web PRIVATE ${web_table})
