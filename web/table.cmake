# SPDX-License-Identifier: BSD-3-Clause
# web_table(OUTPUT DIST): writes the C file OUTPUT that contains the files of the application in the folder DIST as the
# table of src/web/assets.h. Without DIST, the table is empty.
include(${CMAKE_CURRENT_LIST_DIR}/../src/base/embed_bytes.cmake)

# web_row(FILE PATH TYPE IS_GZIP): appends the bytes of a file to the variable arrays, and its row to rows
function(web_row file path type is_gzip)
	string(MAKE_C_IDENTIFIER ${path} name)
	embed_bytes(${file} bytes)
	file(SHA256 ${file} digest)
	string(APPEND arrays "static const unsigned char bytes_${name}[] = {\n${bytes}0\n};\n\n")
	string(APPEND rows "\t{ \"${path}\", \"${type}; charset=utf-8\", ${is_gzip}, (const char *)bytes_${name},\n"
		"\t  sizeof(bytes_${name}) - 1, \"\\\"${digest}\\\"\" },\n")
	set(arrays "${arrays}" PARENT_SCOPE)
	set(rows "${rows}" PARENT_SCOPE)
endfunction()

function(web_table output dist)
	set(arrays "")
	set(rows "")
	if(dist)
		web_row(${dist}/index.html /index.html text/html false)
		web_row(${dist}/app.js.gz /assets/app.js text/javascript true)
		web_row(${dist}/app.css.gz /assets/app.css text/css true)
		web_row(${dist}/licenses.txt.gz /assets/licenses.txt text/plain true)
	endif()
	file(WRITE ${output} "#include \"web/assets.h\"\n\n${arrays}const struct web_asset web_asset_table[] = {\n${rows}\t{ 0 },\n};\n")
endfunction()
