/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe run: rounds of writes until it is stopped, by itself, as one of many ranks, or
 * beside a command.
 *
 * Ranks agree on the time of rounds by the clock alone. No call of MPI is made: a collective one
 * would let a rank whose target hangs hold up all others.
 */
#include "cmd/forecast/probe_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "base/interrupt.h"

#define DESCRIPTORS 64	     /* for all but the targets */
#define WAIT_NS 1000000000ll /* a signal that comes between two looks waits no longer */

/* ---- ranks ---- */

static bool number_of(const char *name, uint64_t *number)
{
	const char *text = getenv(name);

	return text && unit_parse_count(text, number) == 0;
}

/* What launchers tell; that of an outer one comes last, as mpiexec may run below Slurm. */
static int rank_find(struct running *run)
{
	static const char *const names[][2] = { { "PMI_RANK", "PMI_SIZE" },
						{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
						{ "PMIX_RANK", "SLURM_STEP_NUM_TASKS" },
						{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" } };

	run->ranks = 1;
	if (!run->args->per_rank)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (number_of(names[i][0], &run->rank) && number_of(names[i][1], &run->ranks) &&
		    run->rank < run->ranks)
			return 0;
	return command_misuse(
		run->command,
		"--per-rank: there is no rank; it is to be started by mpiexec or srun");
}

/* ---- what is to be done ---- */

static int plan_read(struct running *run, struct err *err)
{
	const struct probe_args *args = run->args;
	struct prober_plan *plan = &run->plan;
	uint64_t share = run->args->all_to_all ? run->ranks : 1;
	int r;

	prober_plan_init(plan);
	plan->every_ns = args->every_ns;
	plan->truth_every_ns = args->truth_every_ns;
	plan->timeout_ns = args->timeout_ns;
	plan->is_together = args->together;
	plan->method = (enum sample_method)args->method;
	plan->budget_bytes = args->budget == OPTION_NONE ? 0 : args->budget / run->ranks;
	plan->target_bytes = args->target_budget / share;
	plan->rate_bytes = args->rate == OPTION_NONE ? 0 : args->rate / run->ranks;
	if ((args->budget != OPTION_NONE && !plan->budget_bytes) || !plan->target_bytes ||
	    (args->rate != OPTION_NONE && !plan->rate_bytes))
		return err_set(err, EINVAL, "a budget or rate of nothing allows no probe");
	r = prober_plan_sizes(plan, args->sizes, err);
	if (r < 0)
		return err_prefix(err, "--sizes");
	return prober_plan_check(plan, err);
}

static int target_take(struct running *run, const char *name, const char *place, struct err *err)
{
	struct target target = { 0 };
	int r = name ? target_init(&target, name, place, err) : target_parse(&target, place, err);

	return r < 0 ? r : targets_add(&run->targets, &target, err);
}

static int site_targets(struct running *run, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < run->site.target_count; i++)
		r = target_take(run, run->site.targets[i].name, run->site.targets[i].place, err);
	if (r < 0)
		err_prefix(err, "[targets] of site %s", probe_site(run->command, run->args));
	return r;
}

/* What each rank sees of a target is a series of its own. */
static int targets_rename(struct running *run, struct err *err)
{
	for (size_t i = 0; i < run->targets.count; i++) {
		char *name = run->targets.rows[i].name;
		AUTO_FREE char *longer = xprintf("%s-r%llu", name, (unsigned long long)run->rank);

		if (strlen(longer) >= CHRONICLE_NAME)
			return err_set(err, EINVAL, "\"%s\" is too long a name for --all-to-all",
				       name);
		strcpy(name, longer);
	}
	return 0;
}

/* Those of the command line, else those of the site. */
static int targets_read(struct running *run, struct err *err)
{
	const struct option_list *list = &run->args->targets;
	int operands = run->args->beside ? 0 : run->command->argc - 1, r = 0;

	for (int i = 0; r >= 0 && i < operands; i++)
		r = target_take(run, NULL, run->command->argv[1 + i], err);
	for (size_t i = 0; r >= 0 && i < list->count; i++)
		r = target_take(run, NULL, list->items[i], err);
	if (r >= 0 && !run->targets.count)
		r = site_targets(run, err);
	if (r >= 0 && !run->targets.count)
		r = err_set(err, EINVAL,
			    "there is no target: name one, such as a=/mnt/a, or a --site that has "
			    "some");
	if (r >= 0 && run->args->all_to_all)
		r = targets_rename(run, err);
	return r;
}

static int site_read(struct running *run, struct err *err)
{
	const char *name = probe_site(run->command, run->args);

	site_init(&run->site);
	return *name ? site_load(&run->site, name, err) : 0;
}

static int running_read(struct running *run)
{
	struct err err = { 0 };
	int r = rank_find(run);

	if (r)
		return r;
	if (!*run->system || strlen(run->system) >= CHRONICLE_NAME)
		return command_misuse(run->command, "a system has a name of 1 to %d characters",
				      CHRONICLE_NAME - 1);
	if (run->args->all_to_all && !run->args->per_rank)
		return command_misuse(run->command, "--all-to-all goes with --per-rank");
	r = site_read(run, &err);
	if (r < 0)
		return command_fail(run->command, "%s", err.text);
	r = plan_read(run, &err);
	if (r >= 0)
		r = targets_read(run, &err);
	if (r < 0)
		return command_misuse(run->command, "%s", err.text);
	run->times = xcalloc(run->targets.count, sizeof(*run->times));
	chronicle_init(&run->rows, run->system, run->plan.sizes, run->plan.size_count);
	return COMMAND_GOOD;
}

/* ---- doing it ---- */

static void sample_seen(void *arg, const struct prober_sample *sample)
{
	probed_take(arg, sample);
}

static void twins_warn(const struct running *run)
{
	size_t one, other;

	if (prober_twins(&run->prober, &one, &other))
		command_warn(run->command,
			     "\"%s\" and \"%s\" are on the same device: what disturbs one disturbs "
			     "the other",
			     run->targets.rows[one].name, run->targets.rows[other].name);
}

/* Each target takes two; what is missing beyond what we may have is told by who needs it. */
static void descriptors_allow(const struct running *run)
{
	rlim_t wanted = 2 * run->targets.count + DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int running_open(struct running *run, struct err *err)
{
	bool all = !run->args->per_rank || run->args->all_to_all;
	int r = probed_place(run, err);

	descriptors_allow(run);
	if (r >= 0)
		r = asker_init(run, err);
	if (r >= 0)
		r = prober_open(&run->prober, &run->targets, all ? 0 : run->rank,
				all ? 1 : run->ranks, &run->plan, sample_seen, run, err);
	if (r < 0)
		return r;
	run->began_ns = prober_now().monotonic_ns;
	if (!run->spool)
		probed_spent(run);
	twins_warn(run);
	return 0;
}

static bool is_over(const struct running *run, struct prober_now now)
{
	return *interrupt_flag() ||
	       (run->args->for_ns && now.monotonic_ns - run->began_ns >= run->args->for_ns);
}

/* Until the time is over, it is stopped or, beside a command, that has ended. */
static void rounds_run(struct running *run, int pidfd)
{
	struct prober_now now = prober_now();
	struct progress progress;

	progress_start(&progress, "probe", 0);
	while (!is_over(run, now) && !beside_has_ended(pidfd)) {
		int64_t left_ns = WAIT_NS;

		prober_step(&run->prober, now);
		asker_step(run, now.wall_ns);
		if (prober_has_probed(&run->prober))
			probed_save(run);
		if (!run->args->beside) {
			AUTO_FREE char *line = running_line(run);

			progress_line(&progress, line);
		}
		now = prober_now();
		if (run->args->for_ns &&
		    run->began_ns + run->args->for_ns - now.monotonic_ns < left_ns)
			left_ns = run->began_ns + run->args->for_ns - now.monotonic_ns;
		prober_wait(&run->prober, now, pidfd, left_ns > 0 ? left_ns : 0);
		now = prober_now();
	}
	progress_end(&progress);
}

/* COMMAND_GOOD if anything was measured, or there was nothing to do for this rank. */
static int running_end(struct running *run)
{
	struct prober_counts sum;

	prober_stop(&run->prober);
	asker_stop(run);
	probed_save(run);
	running_tell(run);
	prober_sum(&run->prober, &sum);
	if (run->has_warned || run->lost)
		return command_fail(run->command, "not all rows could be saved");
	if (run->prober.rounds && run->prober.count && !sum.probes && !sum.truths) {
		command_fail(run->command, "no write was done");
		return COMMAND_NO_DATA;
	}
	return run->args->beside ? COMMAND_GOOD : command_finish(run->command);
}

static int run_alone(struct running *run)
{
	struct err err = { 0 };
	struct interrupt stop;
	int ret;

	interrupt_catch(&stop);
	if (running_open(run, &err) < 0) {
		ret = command_fail(run->command, "%s", err.text);
	} else {
		rounds_run(run, -1);
		ret = running_end(run);
	}
	interrupt_restore(&stop);
	return ret;
}

/* The command's exit code is ours, whatever becomes of the probes. */
static int run_beside(struct running *run)
{
	struct err err = { 0 };
	AUTO_CLOSE int pidfd = -1;
	pid_t pid = 0;
	int ret = beside_start(run, &pid, &pidfd);

	if (ret)
		return ret;
	if (pidfd < 0)
		command_warn(run->command, "this kernel has no pidfd: there will be no probes");
	else if (running_open(run, &err) < 0)
		command_warn(run->command, "there will be no probes: %s", err.text);
	else {
		rounds_run(run, pidfd);
		running_end(run);
	}
	return beside_end(pid);
}

int probe_run(struct command *command, const struct probe_args *args)
{
	struct running run = { .command = command, .args = args };
	int ret;

	run.system = probe_system(command, args);
	ret = running_read(&run);
	if (!ret)
		ret = args->beside ? run_beside(&run) : run_alone(&run);
	prober_close(&run.prober);
	chronicle_release(&run.rows);
	targets_release(&run.targets);
	site_release(&run.site);
	free(run.times);
	free(run.spool);
	free(run.system);
	return ret;
}
