/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The option --run of `sluice model`: takes the collective accesses from a recorded run.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/model/model.h"
#include "cmd/run_argument.h"
#include "tune/trial/access_profile.h"

int model_run_accessed(const struct command *command, const struct model_args *args,
		       struct access_profile *accessed)
{
	AUTO_FREE char *path = NULL;
	struct err err = { 0 };
	int r;

	if (args->ranks != OPTION_NONE || args->size != OPTION_NONE)
		return command_misuse(command, "--run cannot be combined with --ranks or --size");
	r = run_argument_path(command, strcmp(args->run, "last") == 0 ? NULL : args->run, &path);
	if (r)
		return r;
	r = access_profile_read_trace(accessed, path, &err);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

int model_run_access(const struct command *command, const struct model_args *args,
		     struct access *access)
{
	struct access_profile accessed = { 0 };
	int ret = model_run_accessed(command, args, &accessed);

	if (ret || !accessed.count) /* success implies at least one */
		return ret;
	*access = accessed.rows[0].access;
	if (accessed.count > 1)
		command_warn(
			command,
			"the run has %zu kinds of collective accesses; using the largest, which "
			"transfers %.0f %% of the bytes",
			accessed.count,
			100 * accessed.rows[0].calls * (double)access->ranks *
				(double)access->rank_bytes / access_profile_bytes(&accessed));
	access_profile_release(&accessed);
	return COMMAND_GOOD;
}

int model_run_hints(const struct command *command, const struct model_args *args,
		    struct param_set *set)
{
	struct access_profile accessed = { 0 };
	int ret = model_run_accessed(command, args, &accessed);

	if (ret || !accessed.count) /* success implies at least one */
		return ret;
	access_profile_row_hints(&accessed.rows[0], set);
	access_profile_release(&accessed);
	return COMMAND_GOOD;
}
