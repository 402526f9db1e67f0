/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/file_class.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "observe/tally/names.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const char *const file_class_names[FILE_CLASSES] = {
	[FILE_USER] = "user",
	[FILE_SYSTEM] = "system",
	[FILE_CHANNEL] = "channel",
};

/* Darshan's names: what they are connected to is not known. */
static const char *const standard_streams[] = { "<STDIN>", "<STDOUT>", "<STDERR>" };
/* Programs do not keep data of their own here, even if they may write. */
static const char *const kernel_folders[] = { "/proc/", "/sys/", "/dev/" };
static const char *const system_folders[] = {
	"/etc/", "/run/", "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/",
};
/* Suffixes of modules and libraries that interpreters and the dynamic linker load. */
static const char *const module_suffixes[] = { ".so", ".py", ".pyc", ".pth", ".mo", ".egg-link" };
static const char *const module_folders[] = { "/__pycache__/", "/site-packages/",
					      "/dist-packages/" };
/* Names that MPICH, Open MPI, PRRTE, PMIx, UCX and libfabric give their own files. */
static const char *const mpi_prefixes[] = {
	"/dev/shm/vader_segment.", "/dev/shm/sm_segment.", "/dev/shm/mpich_shar_tmp",
	"/dev/shm/osc_rdma.",	   "/dev/shm/ucx_shm_",	   "/dev/shm/psm2_shm.",
	"/dev/shm/psm_shm.",	   "/dev/shm/open_mpi.",   "/tmp/ompi.",
	"/tmp/openmpi-sessions-",  "/tmp/pmix-",	   "/tmp/prte.",
	"/tmp/prterun.",	   "/tmp/pmix_dstor_",	   "/tmp/hydra_",
};

static bool starts_with(const char *path, const char *prefix)
{
	return strncmp(path, prefix, strlen(prefix)) == 0;
}

static bool starts_with_any(const char *path, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (starts_with(path, prefixes[i]))
			return true;
	}
	return false;
}

/* Is it "name.so.1.2"? */
static bool is_versioned_library(const char *path)
{
	const char *at = strstr(path, ".so.");

	if (!at)
		return false;
	for (at += strlen(".so."); *at; at++) {
		if (!isdigit((unsigned char)*at) && *at != '.')
			return false;
	}
	return true;
}

static bool is_module(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < COUNT(module_suffixes); i++) {
		size_t k = strlen(module_suffixes[i]);

		if (n > k && strcmp(path + n - k, module_suffixes[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < COUNT(module_folders); i++) {
		if (strstr(path, module_folders[i]))
			return true;
	}
	return is_versioned_library(path);
}

static bool is_of_kernel(const char *path)
{
	if (starts_with_any(path, standard_streams, COUNT(standard_streams)))
		return true;
	if (path[0] != '/')
		return starts_with(path, "anon_inode:") || starts_with(path, "memfd:");
	if (starts_with(path, "/dev/shm/") || strcmp(path, "/dev/shm") == 0)
		return false;
	return starts_with_any(path, kernel_folders, COUNT(kernel_folders)) ||
	       starts_with(path, "/memfd:");
}

bool file_is_of_mpi(const char *path)
{
	return starts_with_any(path, mpi_prefixes, COUNT(mpi_prefixes));
}

enum file_class file_class_of(const char *path, bool is_written)
{
	if (!*path)
		return FILE_USER;
	if (!names_is_file(path))
		return FILE_CHANNEL;
	if (is_of_kernel(path) || file_is_of_mpi(path))
		return FILE_SYSTEM;
	if (is_written)
		return FILE_USER;
	return starts_with_any(path, system_folders, COUNT(system_folders)) || is_module(path)
		       ? FILE_SYSTEM
		       : FILE_USER;
}
