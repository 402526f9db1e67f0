# SPDX-License-Identifier: BSD-3-Clause
# usage: cmake -DINPUT=FILE -DOUTPUT=FILE.c -DNAME=IDENTIFIER -P embed.cmake
# Writes a C file that contains the text of INPUT as the constant embedded_IDENTIFIER (see embedded.h).
include(${CMAKE_CURRENT_LIST_DIR}/embed_bytes.cmake)
embed_bytes("${INPUT}" bytes)

file(WRITE "${OUTPUT}" "#include \"base/embedded.h\"

static const char text[] = {
${bytes}0
};

extern const struct embedded embedded_${NAME};
const struct embedded embedded_${NAME} = { text, sizeof(text) - 1 };
")
