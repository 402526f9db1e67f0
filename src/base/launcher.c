/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/launcher.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/job.h"
#include "base/mem.h"
#include "base/place.h"

const char *const mpi_names[MPIS] = { "auto", "mpich", "openmpi" };

char *launcher_program(const char *name, enum mpi mpi)
{
	static const char *const folders[] = { "mpi", "../libexec/sluice/kernels", "kernels" };
	AUTO_FREE char *binaries = place_binary_dir();

	for (size_t i = 0; binaries && i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = xprintf("%s/%s/%s/%s", binaries, folders[i], mpi_names[mpi], name);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

enum mpi launcher_current_mpi(void)
{
	const char *name = job_mpi_name();

	for (int mpi = MPI_AUTO + 1; name && mpi < MPIS; mpi++)
		if (strcmp(mpi_names[mpi], name) == 0)
			return (enum mpi)mpi;
	return MPI_AUTO;
}

enum mpi launcher_choose(const char *name, int wanted, char **path)
{
	enum mpi around = launcher_current_mpi();

	for (int mpi = MPI_AUTO + 1; mpi < MPIS; mpi++) {
		if (wanted != MPI_AUTO ? mpi != wanted : around != MPI_AUTO && mpi != (int)around)
			continue;
		*path = launcher_program(name, (enum mpi)mpi);
		if (*path)
			return (enum mpi)mpi;
	}
	*path = NULL;
	return MPI_AUTO;
}

char *launcher_path(enum mpi mpi)
{
	AUTO_FREE char *name = xprintf("mpiexec.%s", mpi_names[mpi]);
	char *path = place_program(name);

	return path ? path : place_program("mpiexec");
}
