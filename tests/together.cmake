# SPDX-License-Identifier: BSD-3-Clause
# Unit tests that share a process. At the end of one LeakSanitizer looks at every megabyte that there could be, which
# takes 3 s on ARM: more than nearly every test. Those that leave their process other than it was, or put something
# in the place of our own (which is not static), keep one for themselves.
set(apart "chdir|setenv|signal|sigaction|setrlimit|umask|fork\\(|guest\\.h|^(const|void|int) ")
set(halves even odd)
foreach(source ${unit_tests})
	file(STRINGS ${source} marks LIMIT_COUNT 1 REGEX "${apart}")
	if(marks OR source MATCHES "/unit/(capture|kernels)/")
		continue()
	endif()
	list(REMOVE_ITEM unit_tests ${source})
	unit_name(${source} name)
	set(name ${name_target})
	set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=main_${name})
	list(POP_FRONT halves half)
	list(APPEND halves ${half})
	list(APPEND ${half}_sources ${source})
	string(APPEND ${half}_mains "int main_${name}(int argc, char **argv);\n")
	string(APPEND ${half}_calls
		"\tputs(\"${name}\");\n\tfailed |= main_${name}(argc, argv);\n")
endforeach()
foreach(half ${halves})
	file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${half}.c CONTENT
"#include <stdio.h>\n${${half}_mains}int main(int argc, char **argv)
{\n\tint failed = 0;\n\n\tsetvbuf(stdout, NULL, _IOLBF, 0);\n${${half}_calls}\treturn failed;\n}\n")
	add_executable(unit_${half} ${CMAKE_CURRENT_BINARY_DIR}/${half}.c ${${half}_sources})
	target_compile_options(unit_${half} PRIVATE -Wno-missing-prototypes)
	target_include_directories(unit_${half} PRIVATE unit)
	target_link_libraries(unit_${half} run lab wrapgen_parts Threads::Threads)
	host_target(unit_${half})
	add_dependencies(units unit_${half})
	add_test(NAME unit/${half} COMMAND unit_${half})
endforeach()
