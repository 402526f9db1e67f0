/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Non-blocking MPI-IO, completed in all ways: by Wait and Test for one, any, some and all requests,
 * some of which are requests of messages.
 *
 * Open MPI's component romio321 has no non-blocking collective calls and crashes.
 */
#include <mpi.h>

#include "must.h"

#define N 64
#define PIECES 8 /* per rank */
#define PATH "nonblocking.dat"

static int out[PIECES][N], in[PIECES][N];
static MPI_File f;

static MPI_Offset place(int piece)
{
	return ((MPI_Offset)piece * ranks + rank) * N * (MPI_Offset)sizeof(int);
}

static int seed_of(int round, int piece)
{
	return (round * PIECES + piece) * ranks + rank;
}

/* A way to complete requests: all of them are complete when it returns. */
typedef void complete_fn(int n, MPI_Request *requests);

static void by_wait(int n, MPI_Request *requests)
{
	for (int i = n - 1; i >= 0; i--) {
		MPI_Status status;

		MPI_MUST(MPI_Wait(&requests[i], &status));
		MUST(moved(&status, N) && requests[i] == MPI_REQUEST_NULL);
	}
}

static void by_waitall(int n, MPI_Request *requests)
{
	MPI_Status statuses[PIECES];

	MPI_MUST(MPI_Waitall(n, requests, statuses));
	for (int i = 0; i < n; i++)
		MUST(moved(&statuses[i], N));
}

static void by_waitany(int n, MPI_Request *requests)
{
	for (int left = n; left; left--) {
		MPI_Status status;
		int index;

		MPI_MUST(MPI_Waitany(n, requests, &index, &status));
		MUST(index != MPI_UNDEFINED && moved(&status, N));
	}
}

static void by_waitsome(int n, MPI_Request *requests)
{
	for (int left = n, done; left; left -= done) {
		MPI_Status statuses[PIECES];
		int indices[PIECES];

		MPI_MUST(MPI_Waitsome(n, requests, &done, indices, statuses));
		MUST(done != MPI_UNDEFINED && done > 0);
		for (int i = 0; i < done; i++)
			MUST(moved(&statuses[i], N));
	}
}

static void by_test(int n, MPI_Request *requests)
{
	for (int i = 0; i < n; i++) {
		MPI_Status status;
		int done;

		/*
		 * Tests without completing, so the request remains. Once only: with I/O requests of
		 * MPICH 4.0 the call makes no progress, and a loop would never end. In MPICH 4.2 it
		 * releases the request, and the next call aborts with an internal error.
		 */
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000
		MPI_MUST(MPI_Request_get_status(requests[i], &done, &status));
		MUST(requests[i] != MPI_REQUEST_NULL);
#endif
		for (done = 0; !done;)
			MPI_MUST(MPI_Test(&requests[i], &done, &status));
		MUST(moved(&status, N));
	}
}

/* One at a time: in a Testall, MPICH 4.0 polls an I/O request that is complete again while another
 * is not, and aborts because "ref_count >= 0" fails. */
static void by_testall(int n, MPI_Request *requests)
{
	for (int i = 0; i < n; i++) {
		MPI_Status status;
		int done = 0;

		while (!done)
			MPI_MUST(MPI_Testall(1, &requests[i], &done, &status));
		MUST(moved(&status, N));
	}
}

static void by_testany(int n, MPI_Request *requests)
{
	for (int left = n; left;) {
		MPI_Status status;
		int index, done;

		MPI_MUST(MPI_Testany(n, requests, &index, &done, &status));
		MUST(!done || (index != MPI_UNDEFINED && moved(&status, N)));
		left -= done;
	}
}

static void by_testsome(int n, MPI_Request *requests)
{
	for (int left = n, done; left; left -= done) {
		int indices[PIECES];

		MPI_MUST(MPI_Testsome(n, requests, &done, indices, MPI_STATUSES_IGNORE));
		MUST(done != MPI_UNDEFINED);
	}
}

static complete_fn *const ways[] = { by_wait, by_waitall, by_waitany, by_waitsome,
				     by_test, by_testall, by_testany, by_testsome };

#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

/* One round with explicit offsets: all pieces of this rank are pending at the same time. */
static void round_at(int round, complete_fn *complete)
{
	MPI_Request requests[PIECES];

	for (int p = 0; p < PIECES; p++) {
		numbers_make(out[p], N, seed_of(round, p));
		MPI_MUST(MPI_File_iwrite_at(f, place(p), out[p], N, MPI_INT, &requests[p]));
	}
	complete(PIECES, requests);
	memset(in, 0, sizeof(in));
	for (int p = 0; p < PIECES; p++)
		MPI_MUST(MPI_File_iread_at(f, place(p), in[p], N, MPI_INT, &requests[p]));
	complete(PIECES, requests);
	for (int p = 0; p < PIECES; p++)
		MUST(numbers_are(in[p], N, seed_of(round, p)));
}

static void wait_one(MPI_Request *request)
{
	MPI_Status status;

	MPI_MUST(MPI_Wait(request, &status));
	MUST(moved(&status, N));
}

static void individual_pointers(int round)
{
	MPI_Request request;

	numbers_make(out[0], N, seed_of(round, 0));
	MPI_MUST(MPI_File_seek(f, place(0), MPI_SEEK_SET));
	MPI_MUST(MPI_File_iwrite(f, out[0], N, MPI_INT, &request));
	wait_one(&request);
	MPI_MUST(MPI_File_seek(f, place(0), MPI_SEEK_SET));
	MPI_MUST(MPI_File_iread(f, in[0], N, MPI_INT, &request));
	wait_one(&request);
	MUST(numbers_are(in[0], N, seed_of(round, 0)));
}

static void collective(int round)
{
	MPI_Request request;

	numbers_make(out[0], N, seed_of(round, 0));
	MPI_MUST(MPI_File_iwrite_at_all(f, place(0), out[0], N, MPI_INT, &request));
	wait_one(&request);
	MPI_MUST(MPI_File_iread_at_all(f, place(0), in[0], N, MPI_INT, &request));
	wait_one(&request);
	MUST(numbers_are(in[0], N, seed_of(round, 0)));

	numbers_make(out[1], N, seed_of(round, 1));
	MPI_MUST(MPI_File_seek(f, place(1), MPI_SEEK_SET));
	MPI_MUST(MPI_File_iwrite_all(f, out[1], N, MPI_INT, &request));
	wait_one(&request);
	MPI_MUST(MPI_File_seek(f, place(1), MPI_SEEK_SET));
	MPI_MUST(MPI_File_iread_all(f, in[1], N, MPI_INT, &request));
	wait_one(&request);
	MUST(numbers_are(in[1], N, seed_of(round, 1)));
}

/* One Waitall for messages and I/O: only some of its requests are I/O operations. */
static void with_messages(int round)
{
	int token = rank, got = -1;
	MPI_Request requests[3];
	MPI_Status statuses[3];

	numbers_make(out[0], N, seed_of(round, 0));
	MPI_Irecv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_MUST(MPI_File_iwrite_at(f, place(0), out[0], N, MPI_INT, &requests[1]));
	MPI_Isend(&token, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_MUST(MPI_Waitall(3, requests, statuses));
	MUST(got == (rank + ranks - 1) % ranks && moved(&statuses[1], N));
}

int main(int argc, char **argv)
{
	world_begin(&argc, &argv);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, PATH, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	for (int i = 0; i < WAYS; i++)
		round_at(i, ways[i]);
	individual_pointers(WAYS);
	collective(WAYS + 1);
	with_messages(WAYS + 2);
	MPI_MUST(MPI_File_close(&f));
	file_remove(PATH);
	return MPI_Finalize();
}
