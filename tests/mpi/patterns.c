/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel programs that each do one thing badly, and the same done well; see
 * tests/prog/patterns.c. Arguments: CASE FILE. Some cases pass hints of ROMIO.
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "must.h"

#define KIB 1024
#define MIB (1024 * KIB)
#define CALLS 60

static char block[2 * MIB];

static MPI_File open_shared(const char *path, MPI_Info info)
{
	MPI_File file;

	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
	return file;
}

/* Piece i of a rank in a file whose pieces belong to the ranks in turn. */
static MPI_Offset turn(int i, MPI_Offset bytes)
{
	return (i * ranks + rank) * bytes;
}

static void write_turns(MPI_File file, int bytes, int calls, bool together)
{
	for (int i = 0; i < calls; i++) {
		if (together)
			MPI_MUST(MPI_File_write_at_all(file, turn(i, bytes), block, bytes, MPI_BYTE,
						       MPI_STATUS_IGNORE));
		else
			MPI_MUST(MPI_File_write_at(file, turn(i, bytes), block, bytes, MPI_BYTE,
						   MPI_STATUS_IGNORE));
	}
}

static void independent(const char *path)
{
	MPI_File file = open_shared(path, MPI_INFO_NULL);

	write_turns(file, 32 * KIB, CALLS, false);
	MPI_MUST(MPI_File_close(&file));
}

static void independent_reads(const char *path)
{
	MPI_File file = open_shared(path, MPI_INFO_NULL);

	MPI_MUST(MPI_File_set_size(file, (MPI_Offset)ranks * CALLS * 32 * KIB));
	for (int i = 0; i < CALLS; i++)
		MPI_MUST(MPI_File_read_at(file, turn(i, 32 * KIB), block, 32 * KIB, MPI_BYTE,
					  MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&file));
}

/* Each rank writes a contiguous range of its own. */
static void disjoint(const char *path)
{
	MPI_File file = open_shared(path, MPI_INFO_NULL);

	for (int i = 0; i < 4; i++)
		MPI_MUST(MPI_File_write_at(file, (MPI_Offset)(rank * 4 + i) * MIB, block, MIB,
					   MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&file));
}

static void collective(const char *path)
{
	MPI_File file = open_shared(path, MPI_INFO_NULL);

	write_turns(file, 128 * KIB, 8, true);
	MPI_MUST(MPI_File_close(&file));
}

static void collective_small(const char *path)
{
	MPI_File file = open_shared(path, MPI_INFO_NULL);

	write_turns(file, KIB, CALLS, true);
	MPI_MUST(MPI_File_close(&file));
}

/* One independent write of pieces with gaps in between. */
static void sieving(const char *path)
{
	MPI_File file = open_shared(path, MPI_INFO_NULL);
	MPI_Datatype pieces;

	MPI_MUST(MPI_File_set_size(file, (MPI_Offset)ranks * 256 * KIB));
	MPI_MUST(MPI_Type_vector(256, KIB, KIB * ranks, MPI_BYTE, &pieces));
	MPI_MUST(MPI_Type_commit(&pieces));
	MPI_MUST(MPI_File_set_view(file, (MPI_Offset)rank * KIB, MPI_BYTE, pieces, "native",
				   MPI_INFO_NULL));
	MPI_MUST(MPI_File_write(file, block, 256 * KIB, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&file));
	MPI_Type_free(&pieces);
}

static MPI_Info make_hints(const char *list, const char *nodes)
{
	MPI_Info info;

	MPI_MUST(MPI_Info_create(&info));
	MPI_Info_set(info, "romio_cb_write", "enable");
	MPI_Info_set(info, "cb_config_list", list);
	MPI_Info_set(info, "cb_nodes", nodes);
	return info;
}

static void few_aggregators(const char *path)
{
	MPI_Info info = make_hints("*:1", "1");
	MPI_File file = open_shared(path, info);

	write_turns(file, MIB, 3, true);
	MPI_MUST(MPI_File_close(&file));
	MPI_Info_free(&info);
}

static void many_aggregators(const char *path)
{
	MPI_Info info = make_hints("*:4", "4");
	MPI_File file = open_shared(path, info);

	write_turns(file, 20 * KIB, CALLS, true);
	MPI_MUST(MPI_File_close(&file));
	MPI_Info_free(&info);
}

/* Each rank writes some blocks to a file of its own. */
static void write_own(const char *path, int blocks)
{
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s.%d", path, rank);
	fd = open(name, O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0);
	for (int i = 0; i < blocks; i++)
		MUST(write(fd, block, MIB) == MIB);
	MUST(close(fd) == 0);
}

static void one_rank(const char *path)
{
	if (!rank)
		write_own(path, 4);
}

#define STALLS 20
static struct timespec stall_time;

/* Interrupts the caller, and again shortly after it has gone on. */
static void stall(int signal)
{
	static volatile sig_atomic_t left = STALLS;
	struct itimerval next = { .it_value.tv_usec = 200 };

	(void)signal;
	(void)nanosleep(&stall_time, NULL);
	if (--left > 0)
		(void)setitimer(ITIMER_REAL, &next, NULL);
}

/*
 * Rank 1 moves as much as rank 0, but then something takes the processor from it again and again,
 * for 2 s and ten times as long as rank 0 took. It is in write() for almost all of its own time, so
 * the calls are what becomes slower, whatever the disk and the load.
 */
static void straggler(const char *path)
{
	double seconds = MPI_Wtime();
	char name[256];
	int fd;

	snprintf(name, sizeof(name), "%s.%d", path, rank);
	fd = open(name, O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0);
	MUST(sigaction(SIGALRM, &(struct sigaction){ .sa_handler = stall, .sa_flags = SA_RESTART },
		       NULL) == 0);
	if (rank == 1) {
		MPI_MUST(
			MPI_Recv(&seconds, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		seconds = (2 + 10 * seconds) / STALLS;
		stall_time.tv_sec = (time_t)seconds;
		stall_time.tv_nsec = (long)((seconds - (double)stall_time.tv_sec) * 1e9);
		stall(SIGALRM);
	}
	for (int i = 0; i < 300; i++)
		MUST(write(fd, block, 128 * KIB) == 128 * KIB);
	seconds = MPI_Wtime() - seconds;
	if (rank == 0)
		MPI_MUST(MPI_Send(&seconds, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD));
	MUST(signal(SIGALRM, SIG_IGN) != SIG_ERR);
	MUST(close(fd) == 0);
}

static void imbalance(const char *path)
{
	write_own(path, rank ? 1 : 7);
}

static void balance(const char *path)
{
	write_own(path, 4);
}

static const struct {
	const char *name;
	void (*run)(const char *path);
} cases[] = {
	{ "independent", independent },
	{ "independent_reads", independent_reads },
	{ "disjoint", disjoint },
	{ "collective", collective },
	{ "collective_small", collective_small },
	{ "sieving", sieving },
	{ "few_aggregators", few_aggregators },
	{ "many_aggregators", many_aggregators },
	{ "one_rank", one_rank },
	{ "straggler", straggler },
	{ "imbalance", imbalance },
	{ "balance", balance },
};

int main(int argc, char **argv)
{
	world_begin(&argc, &argv);
	MUST(argc == 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[1]))
			cases[i].run(argv[2]);
	MPI_MUST(MPI_Finalize());
	return 0;
}
