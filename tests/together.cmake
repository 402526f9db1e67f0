# SPDX-License-Identifier: BSD-3-Clause
# Lets most unit tests share two processes. When a process ends, LeakSanitizer scans the whole address range, which
# takes 3 s on ARM: longer than nearly every test. A test keeps a process of its own if it changes the state of its
# process (working directory, environment, signals, limits, forks) or replaces a function of the product.
set(needs_own_process "chdir|setenv|signal|sigaction|setrlimit|umask|fork\\(|guest\\.h|^(const|void|int) ")
set(halves even odd)
foreach(source ${unit_tests})
	file(STRINGS ${source} marks LIMIT_COUNT 1 REGEX "${needs_own_process}")
	if(marks OR source MATCHES "/unit/(bench|capture|http|kernels)/")
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
	target_link_libraries(unit_${half} run lab metrics site daemon_parts web plot_stored wrapgen_parts Threads::Threads)
	host_target(unit_${half})
	unit_test(${half} unit_${half})
endforeach()
