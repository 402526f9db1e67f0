# SPDX-License-Identifier: BSD-3-Clause
# usage: cmake -DINPUT=FILE -DOUTPUT=FILE.c -DNAME=IDENTIFIER -P embed.cmake
# Writes a C file that contains the text of INPUT as the constant embedded_IDENTIFIER (see embedded.h).
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n"
	bytes "${bytes}")

file(WRITE "${OUTPUT}" "#include \"base/embedded.h\"

static const char text[] = {
${bytes}0
};

extern const struct embedded embedded_${NAME};
const struct embedded embedded_${NAME} = { text, sizeof(text) - 1 };
")
