/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command as trials (tune/trial/command_runner.h) and prints the figures, one line KEY=VALUE
 * each, for tests/run/tune_trial.sh:
 *
 *	trial SLUICE [-b RUNS] [-p PARAMS] [-l SECONDS] [-v VERIFY] [-n RUNS] [-s SCRATCH] [-c]
 *	      [-k]
 *	      -- COMMAND...
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "tune/trial/command_runner.h"

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	stop = signal;
}

static void print_trial(const struct trial *t)
{
	printf("state=%s\n", trial_state_name(t->state));
	printf("run_s=%g\nio_s=%g\nread_s=%g\nwrite_s=%g\n", t->run_s, t->io_s, t->read_s,
	       t->write_s);
	printf("read_bytes=%.0f\nwrite_bytes=%.0f\n", t->read_bytes, t->write_bytes);
	printf("digest=%s\neffective=%s\nreason=%s\ncompared=%s\n", t->digest,
	       t->effective ? t->effective : "", t->reason ? t->reason : "",
	       t->compared ? t->compared : "");
}

static void print_runner(const struct trial_runner *runner)
{
	printf("program=%s\nfingerprint=%s\nranks=%u\n", runner->program, runner->fingerprint,
	       runner->ranks);
	printf("middleware=%s\nfilesystem=%s\nnodes=%u\n",
	       middleware_name(runner->context.middleware),
	       filesystem_name(runner->context.filesystem), runner->context.nodes);
	printf("uses=%s%s%s%s%s%s\n", runner->uses.hdf5 ? "hdf5 " : "",
	       runner->uses.hdf5_parallel ? "parallel " : "", runner->uses.mpi ? "mpi " : "",
	       runner->uses.collective ? "collective " : "",
	       runner->uses.collective_hdf5 ? "collective_hdf5 " : "",
	       runner->uses.creates ? "creates" : "");
}

static void tell_problem(void *arg, const struct param *param, bool drop, const char *text)
{
	(void)arg;
	(void)param;
	(void)drop;
	fprintf(stderr, "trial: %s\n", text);
}

int main(int argc, char **argv)
{
	struct command_runner_options options = { .stop = &stop, .copy_limit = UINT64_C(1) << 30 };
	struct trial_limits limits = { .seconds = INFINITY };
	struct param_set set = { 0 };
	struct err err = { 0 };
	struct trial_runner runner = { 0 };
	struct param_set nothing = { 0 };
	int baselines = 0, runs = 1, c, r = 0;

	options.sluice = argc > 1 ? argv[1] : "sluice";
	optind = 2;
	while ((c = getopt(argc, argv, "+b:p:l:v:n:s:ck")) != -1) {
		switch (c) {
		case 'p':
			r = param_set_read(&set, optarg, tell_problem, NULL, &err);
			break;
		case 'b': /* runs without parameters, before the others */
			baselines = atoi(optarg);
			break;
		case 'l':
			limits.seconds = strtod(optarg, NULL);
			break;
		case 'v':
			options.verify = optarg;
			break;
		case 'n':
			runs = atoi(optarg);
			break;
		case 's':
			options.scratch = optarg;
			break;
		case 'c':
			options.check = true;
			break;
		case 'k':
			options.keep = true;
			break;
		default:
			return 2;
		}
	}
	options.argv = argv + optind;
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (r >= 0)
		r = command_runner_open(&runner, &options, &err);
	for (int i = 0; r >= 0 && i < baselines + runs; i++) {
		struct trial trial = { 0 };

		r = runner.ops->run(runner.state, i < baselines ? &nothing : &set, &limits, &trial,
				    &err);
		if (r >= 0)
			print_trial(&trial);
		fflush(stdout);
		trial_release(&trial);
	}
	if (runner.ops) {
		print_runner(&runner);
		runner.ops->close(runner.state);
	}
	param_set_release(&set);
	if (r < 0)
		fprintf(stderr, "trial: %s\n", err.text);
	return r < 0;
}
