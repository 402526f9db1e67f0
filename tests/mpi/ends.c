/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel programs that end abnormally. Every rank first writes its piece of a file and waits for
 * the others, so that the minimum contents of the trace are known. Then one rank ends, and the
 *others write until the launcher kills them. The argument selects the end:
 *
 *	abort       rank 1 calls MPI_Abort(7)
 *	killed      rank 2 (or the last) kills itself with SIGKILL
 *	nofinalize  the last rank calls _exit(0) without MPI_Finalize
 *	check       checks the pieces that a run with the same number of ranks has written
 */
#include <mpi.h>
#include <signal.h>

#include "must.h"

#define N 1024
#define ABORT_CODE 7
#define GOES_ON_S 30 /* much later than the expected end; then the test has failed */
#define PATH "ends.dat"

static int numbers[N];
static MPI_File f;

static MPI_Offset own_place(void)
{
	return (MPI_Offset)rank * (MPI_Offset)sizeof(numbers);
}

static void file_open(int mode)
{
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, PATH, mode, MPI_INFO_NULL, &f));
}

static void first_piece(void)
{
	file_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
	numbers_make(numbers, N, rank);
	MPI_MUST(MPI_File_write_at_all(f, own_place(), numbers, N, MPI_INT, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Writes until the process is killed. */
static int go_on(void)
{
	double begin = MPI_Wtime();

	while (MPI_Wtime() - begin < GOES_ON_S) {
		MPI_MUST(MPI_File_write_at(f, own_place(), numbers, N, MPI_INT, MPI_STATUS_IGNORE));
		usleep(1000);
	}
	must_fail(__FILE__, __LINE__, "go_on", "this rank was not killed");
}

static int end_abort(void)
{
	first_piece();
	if (rank == 1)
		MPI_Abort(MPI_COMM_WORLD, ABORT_CODE);
	return go_on();
}

static int end_killed(void)
{
	int victim = ranks > 2 ? 2 : ranks - 1;

	first_piece();
	if (rank == victim)
		raise(SIGKILL);
	return go_on();
}

static int end_nofinalize(void)
{
	first_piece();
	if (rank == ranks - 1)
		_exit(0);
	return go_on();
}

static int end_check(void)
{
	file_open(MPI_MODE_RDONLY);
	MPI_MUST(MPI_File_read_at_all(f, own_place(), numbers, N, MPI_INT, MPI_STATUS_IGNORE));
	MUST(numbers_are(numbers, N, rank));
	MPI_MUST(MPI_File_close(&f));
	file_remove(PATH);
	return MPI_Finalize();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} ends[] = { { "abort", end_abort },
		     { "killed", end_killed },
		     { "nofinalize", end_nofinalize },
		     { "check", end_check } };

	world_begin(&argc, &argv);
	for (size_t i = 0; argc == 2 && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(ends[i].name, argv[1]))
			return ends[i].run();
	must_fail(__FILE__, __LINE__, "arguments", "abort, killed, nofinalize or check");
}
