#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs: a parallel make with gcc of 40 generated files. The objects are identical.
. "$(dirname "$0")/libtorture.sh"
command -v make >/dev/null || skip make
command -v gcc >/dev/null || skip gcc

program "make -j4 with gcc" 5000 '
mkdir src
i=0
while [ $i -lt 40 ]; do
	printf "#include <stdio.h>\n#include <string.h>\n#include \"all.h\"\nint f%d(int x)\n{\n\tchar t[64];\n\tsnprintf(t, sizeof(t), \"%%d\", x);\n\treturn (int)strlen(t) + %d;\n}\n" $i $i >src/f$i.c
	printf "int f%d(int x);\n" $i
	i=$((i + 1))
done >src/all.h
{
	echo "#include <stdio.h>"
	echo "#include \"all.h\""
	echo "int main(void)"
	echo "{"
	i=0
	while [ $i -lt 40 ]; do
		echo "	printf(\"%d \", f$i($i));"
		i=$((i + 1))
	done
	echo "	return 0;"
	echo "}"
} >src/main.c
printf "OBJECTS = \$(patsubst src/%%.c,%%.o,\$(sort \$(wildcard src/*.c)))\nprogram: \$(OBJECTS)\n\t@gcc -Wl,--build-id=none -o \$@ \$^\n%%.o: src/%%.c src/all.h\n\t@gcc -O1 -pipe -Wall -c -o \$@ \$<\n" >Makefile
make -j4
./program | md5sum
make -j4 -q
touch src/f3.c
make -j4
./program | tail -1
sed -i s/strlen/strlenn/ src/f7.c
! make -j4 -s 2>/dev/null
rm -f f7.o program
md5sum *.o'
check_least 41 'file.endswith(".o") and file.startswith("f") and error == 0'
