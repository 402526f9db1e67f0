/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job with a selectable end. Every rank writes PIECES times to its own file rank-N and waits for
 *the others, so that the minimum contents of a trace are known. The argument selects the end:
 *
 *	good        all ranks end normally
 *	fails       rank 1 returns 3 after MPI_Finalize
 *	abort       rank 1 calls MPI_Abort(7)
 *	killed      rank 1 kills itself by SIGKILL
 *	nofinalize  rank 1 calls _exit(0) without MPI_Finalize
 *	wait        all ranks write until they are killed; rank 0 creates the file "waiting"
 *	orphaned    the same, but rank 1 kills its `sluice run` and creates the file "orphan"
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECES 500
#define GOES_ON_S 300 /* longer than the test takes on a loaded machine */

static int rank, fd;

static void piece_write(int i)
{
	if (pwrite(fd, &i, sizeof(i), (off_t)i * (off_t)sizeof(i)) != sizeof(i))
		exit(99);
}

static void go_on(void)
{
	time_t until = time(NULL) + GOES_ON_S;

	for (int i = PIECES; time(NULL) < until; i++) {
		piece_write(i);
		usleep(1000);
	}
	fprintf(stderr, "rank %d: this rank was not killed\n", rank);
	_exit(98);
}

/* The file contains the pid of this process. */
static void orphan_become(void)
{
	FILE *f = fopen("orphan.new", "w");

	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	kill(getppid(), SIGKILL);
	rename("orphan.new", "orphan");
}

static void turn_bad(const char *how)
{
	if (!strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (!strcmp(how, "killed"))
		raise(SIGKILL);
	if (!strcmp(how, "nofinalize"))
		_exit(0);
	if (!strcmp(how, "orphaned"))
		orphan_become();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "good";
	char name[32];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "rank-%d", rank);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < PIECES; i++)
		piece_write(i);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "wait") && !rank)
		close(open("waiting", O_WRONLY | O_CREAT, 0600));
	if (strcmp(how, "good") != 0 && strcmp(how, "fails") != 0) {
		if (rank == 1)
			turn_bad(how);
		go_on();
	}
	printf("rank %d is done\n", rank);
	MPI_Finalize();
	return rank == 1 && !strcmp(how, "fails") ? 3 : 0;
}
