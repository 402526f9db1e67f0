# SPDX-License-Identifier: BSD-3-Clause
# Runs of programs that change or stay as they are; to be sourced after libtest.sh.

# record_programs DIRECTORY: records there
#   writer     six runs of one build and six of another one, which makes 162 calls instead of 10, and two with another argument
#   steady     eight runs with names of temporary files, and one that failed
#   <i>x<!--   one run of a program with a hostile name and a long command
record_programs() {
	local directory=$1 i
	mkdir -p "$directory"
	cat >writer.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char bytes[81920];
	int fd = open("out.dat", O_CREAT | O_WRONLY | O_TRUNC, 0600), n = argc > 1 ? atoi(argv[1]) : 8;
	for (int i = 0; i < n * PIECES; i++)
		if (write(fd, bytes, sizeof(bytes) / PIECES) < 0)
			return 1;
	return close(fd);
}
END
	"$CC" -DPIECES=1 -o writer-1 writer.c
	"$CC" -DPIECES=20 -o writer-2 writer.c
	cp writer-1 writer
	for i in 01 02 03 04 05 06; do
		check_rc 0 "$sluice" run --quiet -o "$directory/writer-$i.sluice" -- ./writer 8
	done
	cp writer-2 writer
	for i in 07 08 09 10 11 12; do
		HDF5_USE_FILE_LOCKING=FALSE check_rc 0 "$sluice" run --quiet -o "$directory/writer-$i.sluice" -- ./writer 8
	done
	for i in 1 2; do
		check_rc 0 "$sluice" run --quiet -o "$directory/other-$i.sluice" -- ./writer 16
	done
	cp /bin/cat steady
	for i in 1 2 3 4 5 6 7 8; do
		echo data >"input-2026111$i.txt"
		check_rc 0 "$sluice" run --quiet -o "$directory/steady-$i.sluice" -- ./steady "input-2026111$i.txt"
	done
	check_rc 1 "$sluice" run --quiet -o "$directory/steady-9.sluice" -- ./steady "input-20261119.txt"
	cp /bin/cat '<i>x<!--'
	check_rc 0 "$sluice" run --quiet -o "$directory/hostile.sluice" -- './<i>x<!--' {writer.c,writer.c,writer.c,writer.c,./writer.c}{,,,}
}
