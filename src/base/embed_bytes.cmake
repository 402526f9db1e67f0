# SPDX-License-Identifier: BSD-3-Clause
# embed_bytes(FILE VARIABLE): sets the variable to the bytes of the file as elements of a C array, each with a comma.
function(embed_bytes file variable)
	file(READ "${file}" bytes HEX)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
	string(REGEX REPLACE "(................................................................................)" "\\1\n"
		bytes "${bytes}")
	set(${variable} "${bytes}" PARENT_SCOPE)
endfunction()
