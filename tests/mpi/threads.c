/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_THREAD_MULTIPLE: threads access separate files at the same time, and requests are completed
 * by another thread than the one that started them.
 */
#include <mpi.h>
#include <pthread.h>

#include "must.h"

#define N 64
#define ROUNDS 20
#define THREADS 4

static void thread_path(char path[64], long thread)
{
	snprintf(path, 64, "threads.%d.%ld", rank, thread);
}

static void *own_file(void *arg)
{
	long thread = (long)arg;
	int out[N], in[N];
	char path[64];
	MPI_File f;

	thread_path(path, thread);
	MPI_MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Offset at = (MPI_Offset)i * (MPI_Offset)sizeof(out);
		int seed = (rank * THREADS + (int)thread) * ROUNDS + i;

		numbers_make(out, N, seed);
		MPI_MUST(MPI_File_write_at(f, at, out, N, MPI_INT, MPI_STATUS_IGNORE));
		MPI_MUST(MPI_File_read_at(f, at, in, N, MPI_INT, MPI_STATUS_IGNORE));
		MUST(numbers_are(in, N, seed));
	}
	MPI_MUST(MPI_File_close(&f));
	MPI_MUST(MPI_File_delete(path, MPI_INFO_NULL));
	return NULL;
}

static void own_files(void)
{
	pthread_t threads[THREADS];

	for (long t = 0; t < THREADS; t++)
		MUST(!pthread_create(&threads[t], NULL, own_file, (void *)t));
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
}

static void *completes(void *arg)
{
	MPI_Status status;

	MPI_MUST(MPI_Wait(arg, &status));
	MUST(moved(&status, N));
	return NULL;
}

/* Waits for the request in another thread. */
static void complete_elsewhere(MPI_Request *request)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, completes, request));
	pthread_join(thread, NULL);
	MUST(*request == MPI_REQUEST_NULL);
}

static void handed_over(void)
{
	int out[N], in[N];
	MPI_Request request;
	MPI_File f;
	char path[64];

	thread_path(path, THREADS);
	MPI_MUST(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			       &f));
	numbers_make(out, N, rank);
	MPI_MUST(MPI_File_iwrite_at(f, 0, out, N, MPI_INT, &request));
	complete_elsewhere(&request);
	MPI_MUST(MPI_File_iread_at(f, 0, in, N, MPI_INT, &request));
	complete_elsewhere(&request);
	MUST(numbers_are(in, N, rank));
	MPI_MUST(MPI_File_close(&f));
	MPI_MUST(MPI_File_delete(path, MPI_INFO_NULL));
}

int main(int argc, char **argv)
{
	int level;

	MPI_MUST(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
	MUST(level == MPI_THREAD_MULTIPLE);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	/* First: ROMIO initializes itself at the first open, which threads must not call at once. */
	handed_over();
	own_files();
	return MPI_Finalize();
}
