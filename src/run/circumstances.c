/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/circumstances.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/config.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/collect/collector.h"
#include "tune/program/identity.h"

/*
 * Variables that change the I/O of libraries, by the beginning of their names. Others may hold
 * secrets and are none of Sluice's business.
 */
static const char *const prefixes[] = { "ADIOS2_",	   "FI_PROVIDER", "HDF5_",   "I_MPI_",
					"MPICH_",	   "MPIR_CVAR_",  "NETCDF_", "OMPI_MCA_",
					"OMP_NUM_THREADS", "PNETCDF_",	  "ROMIO_",  "UCX_TLS" };

static void add_note(struct collector *collector, const char *name, const char *value)
{
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = NOTE_PROGRAM,
			     .kind = NOTE_PROGRAM,
			     .name = (char *)name,
			     .value = (char *)value };

	if (value && *value)
		collector_note(collector, &note);
}

static bool is_heeded(const char *variable)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (text_starts_with(variable, prefixes[i]))
			return true;
	return false;
}

static void add_variables(struct collector *collector)
{
	size_t count = 0;

	for (char **at = environ; *at && count < CIRCUMSTANCES_VARIABLES; at++) {
		const char *equals = strchr(*at, '=');
		AUTO_FREE char *name = NULL;
		AUTO_FREE char *value = NULL;

		if (!equals || !is_heeded(*at))
			continue;
		name = xprintf(PROGRAM_VARIABLE "%.*s", (int)(equals - *at), *at);
		value = xstrndup(equals + 1, CIRCUMSTANCES_VALUE);
		add_note(collector, name, value);
		count++;
	}
}

void circumstances_note(struct collector *collector, const struct config *config, char *const *argv)
{
	struct identity identity;
	struct utsname system = { 0 };

	identity_init(&identity, argv, config_text(config, SETTING_TUNE_PLATFORM));
	uname(&system);
	add_note(collector, PROGRAM_NAME, identity.program);
	add_note(collector, PROGRAM_FINGERPRINT, identity.fingerprint);
	add_note(collector, PROGRAM_ARGUMENTS, identity.arguments);
	add_note(collector, PROGRAM_PLATFORM, identity.platform);
	add_note(collector, PROGRAM_KERNEL, system.release);
	add_note(collector, PROGRAM_FILESYSTEM, filesystem_name(identity.filesystem));
	add_variables(collector);
	identity_release(&identity);
}
