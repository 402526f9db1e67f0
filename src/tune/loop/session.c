/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "params/form_files.h"
#include "store/knowledge.h"
#include "store/outcomes.h"
#include "store/studies.h"
#include "tune/loop/outcome.h"
#include "tune/loop/tuning_process.h"
#include "tune/program/identity.h"
#include "tune/trial/command_runner.h"
#include "tune/trial/command_template.h"
#include "tune/trial/lock.h"
#include "tune/trial/snapshot.h"

struct tuning_session {
	const struct tuning_request *request;
	const struct config *config;
	struct store *store;
	struct trial_runner runner;
	struct tuning_plan plan;   /* until the tuning takes it over */
	struct param_set defaults; /* of the arguments in the space */
	struct identity identity;  /* of argv; empty on a simulated platform */
	char *output;	    /* absolute prefix, as the working directory changes; NULL: none */
	int64_t study;	    /* to resume; 0: a new one */
	int64_t unfinished; /* with the same plan; 0: none */
	struct tuning *tuning;
	char *state;  /* directory of tune/trial/snapshot.h */
	int lock;     /* of the plan; -1: none */
	char *locked; /* its file */
	int recovered;
	struct err recover_err;
};

int tuning_recover_files(const struct config *config, struct err *err)
{
	AUTO_FREE char *state = tuning_state_directory(config);
	int r = snapshot_recover(state, err);

	return r > 0 ? r : 0;
}

int tuning_session_recovered(const struct tuning_session *session, struct err *err)
{
	*err = session->recover_err;
	return session->recovered;
}

/* One process at a time runs a tuning. */
static int lock_plan(struct tuning_session *session, struct err *err)
{
	char digest[TUNING_DIGEST];
	int r = place_make_dir(session->state, 0700, err);

	if (r < 0)
		return r;
	tuning_plan_digest(&session->plan, digest);
	session->locked = tuning_lock_path(session->config, digest);
	session->lock = lock_take(session->locked, "this tuning", err);
	return session->lock < 0 ? session->lock : 0;
}

/* The arguments of a space that the user gave. */
static int read_argument_defaults(struct tuning_session *session, struct err *err)
{
	const struct tuning_plan *plan = &session->plan;
	struct space space = { 0 };
	int r;

	if (!plan->space_text)
		return 0;
	r = space_read_text(&space, "the space", plan->space_text, strlen(plan->space_text), err);
	if (r >= 0) {
		command_template_defaults(&space, &session->defaults);
		r = command_template_check(plan->argv, &session->defaults, err);
	}
	space_release(&space);
	return r;
}

/* Makes the identity of the command with the arguments of the set. */
static void identify_command(struct tuning_session *session, char *const *argv,
			     const struct param_set *set)
{
	char **filled = command_template_fill(argv, set, &session->defaults);

	identity_release(&session->identity);
	identity_init(&session->identity, filled,
		      config_text(session->config, SETTING_TUNE_PLATFORM));
	command_template_free(filled);
}

static int open_command(struct tuning_session *session, struct err *err)
{
	struct tuning_plan *plan = &session->plan;
	const char *platform = config_text(session->config, SETTING_TUNE_PLATFORM);
	struct command_runner_options options = {
		.argv = plan->argv,
		.defaults = &session->defaults,
		.platform = platform,
		.verify = plan->verify,
		.restore = plan->restore,
		.workdir = plan->workdir,
		.launcher = plan->launcher,
		.state = session->state,
		.copy_limit = config_number(session->config, SETTING_TUNE_COPY_LIMIT),
		.check = plan->check,
		.stop = session->request->stop,
		.look = session->request->look,
		.look_arg = session->request->look_arg,
	};

	const char *directory = plan->workdir ? plan->workdir : plan->directory;
	int r;

	if (chdir(directory) < 0)
		return err_set(err, errno, "cannot enter the working directory %s: %s", directory,
			       strerror(errno));
	r = read_argument_defaults(session, err);
	if (r < 0)
		return r;
	identify_command(session, plan->argv, &session->defaults);
	/* A plan that is resumed has its fingerprint already. */
	if (!plan->fingerprint)
		plan->fingerprint = xstrdup(session->identity.fingerprint);
	else if (strcmp(plan->fingerprint, session->identity.fingerprint) != 0)
		return err_set(err, ESTALE,
			       "%s has changed since the tuning was started; start a new tuning",
			       session->identity.program);
	r = lock_plan(session, err);
	return r < 0 ? r : command_runner_open(&session->runner, &options, err);
}

static int open_simulated(struct tuning_session *session, struct err *err)
{
	int r = tuning_request_open_simulated(&session->runner, &session->plan, err);

	return r < 0 ? r : lock_plan(session, err);
}

struct unfinished {
	int64_t id;
	char *plan;
};

static int unfinished_keep(void *arg, const struct study *study)
{
	struct unfinished *u = arg;

	u->id = study->id;
	u->plan = xstrdup(study->plan);
	return 1;
}

static int unfinished_check(void *arg, const struct study *study)
{
	return strcmp(study->state, "done") == 0 ? 1 : unfinished_keep(arg, study);
}

/* Reads the plan of the tuning that the request names by its id, or of the last unfinished one,
 * whatever its command was. */
static int resume_stored(struct tuning_session *session, struct err *err)
{
	int64_t id = session->request->tuning;
	struct unfinished u = { 0 };
	int r = id ? study_get(session->store, id, unfinished_check, &u, err)
		   : study_find(session->store, NULL, unfinished_keep, &u, err);

	if (r >= 0 && !u.plan)
		r = err_set(err, ENOENT, "tuning %" PRId64 " is finished", id);
	if (r == -ENOENT)
		return -ENODATA;
	if (r >= 0)
		r = tuning_plan_read(&session->plan, u.plan, err);
	free(u.plan);
	if (r >= 0)
		session->study = u.id;
	return r;
}

/* Looks for an unfinished tuning with the same plan, and takes its plan if the request asks so. */
static int resume_same(struct tuning_session *session, struct err *err)
{
	struct unfinished u = { 0 };
	char digest[TUNING_DIGEST];
	int r = 0;

	tuning_plan_digest(&session->plan, digest);
	if (study_find(session->store, digest, unfinished_keep, &u, NULL) < 0)
		return 0;
	session->unfinished = u.id;
	if (session->request->resume) {
		tuning_plan_release(&session->plan);
		r = tuning_plan_read(&session->plan, u.plan, err);
		session->study = u.id;
	}
	free(u.plan);
	return r;
}

/* A directory that cannot be written to must not be noticed after hours. */
static int output_check(const char *prefix, struct err *err)
{
	const char *slash = strrchr(prefix, '/');
	AUTO_FREE char *folder =
		slash ? xstrndup(prefix, (size_t)(slash - prefix) + 1) : xstrdup(".");

	return access(folder, W_OK | X_OK) == 0
		       ? 0
		       : err_set(err, errno, "--output: %s: %s", folder, strerror(errno));
}

static char *absolute_prefix(const char *prefix)
{
	AUTO_FREE char *here = getcwd(NULL, 0);

	return *prefix == '/' || !here ? xstrdup(prefix) : place_join(here, prefix);
}

static int session_prepare(struct tuning_session *session, struct err *err)
{
	const struct tuning_request *request = session->request;
	bool is_named = request->simulate || request->argv;
	int r = store_open(&session->store, config_text(session->config, SETTING_STORE_PATH), err);

	if (r >= 0 && request->output)
		r = output_check(request->output, err);
	if (r >= 0)
		r = is_named ? tuning_request_plan(request, session->config, &session->plan, err)
			     : resume_stored(session, err);
	if (r < 0)
		return r;
	if (request->output)
		session->output = absolute_prefix(request->output);
	r = session->plan.on ? open_simulated(session, err) : open_command(session, err);
	if (r >= 0 && is_named)
		r = resume_same(session, err);
	return r;
}

int tuning_session_open(struct tuning_session **out, const struct tuning_request *request,
			const struct config *config, struct err *err)
{
	struct tuning_session *session = xcalloc(1, sizeof(*session));
	int r;

	session->request = request;
	session->config = config;
	session->lock = -1;
	session->state = tuning_state_directory(config);
	/* Before anything else can change them. */
	session->recovered = tuning_recover_files(config, &session->recover_err);
	r = session_prepare(session, err);
	if (r < 0)
		tuning_session_close(session);
	else
		*out = session;
	return r < 0 ? r : 0;
}

int tuning_session_finish(struct tuning_session *session, struct err *err)
{
	const struct trial_runner *runner = &session->runner;

	return runner->ops && runner->ops->finish ? runner->ops->finish(runner->state, err) : 0;
}

void tuning_session_close(struct tuning_session *session)
{
	if (!session)
		return;
	/* The runner uses texts of the plan, which the tuning owns. */
	if (session->runner.ops)
		session->runner.ops->close(session->runner.state);
	tuning_close(session->tuning);
	tuning_plan_release(&session->plan);
	identity_release(&session->identity);
	if (session->lock >= 0)
		unlink(session->locked);
	auto_close(&session->lock);
	free(session->locked);
	free(session->state);
	param_set_release(&session->defaults);
	free(session->output);
	store_close(session->store);
	free(session);
}

int64_t tuning_session_unfinished(const struct tuning_session *session)
{
	return session->unfinished;
}

static void winner_set(const struct tuning_session *session, struct param_set *set)
{
	space_set(&tuning_plan(session->tuning)->space, tuning_result(session->tuning)->best->point,
		  set);
	if (session->defaults.count)
		set->command = tuning_winner_command(session->tuning);
}

/* The knowledge base gets the winner with its own arguments: it was proven with these. */
static void adopt_winner_arguments(struct tuning_session *session)
{
	struct param_set set;

	if (!session->defaults.count || !tuning_session_has_winner(session))
		return;
	winner_set(session, &set);
	identify_command(session, tuning_plan(session->tuning)->argv, &set);
	param_set_release(&set);
}

int tuning_session_run(struct tuning_session *session, const struct tuning_watch *watch,
		       struct err *err)
{
	int r;

	if (session->study)
		r = tuning_open(&session->tuning, session->study, &session->plan, &session->runner,
				session->store, watch, err);
	else
		r = tuning_begin(&session->tuning, &session->plan, &session->runner, session->store,
				 watch, err);
	if (r >= 0) {
		lock_describe(session->lock, tuning_history(session->tuning)->study);
		r = tuning_run(session->tuning, err);
	}
	if (r >= 0)
		adopt_winner_arguments(session);
	return r;
}

const struct tuning *tuning_session_tuning(const struct tuning_session *session)
{
	return session->tuning;
}

bool tuning_session_is_exact(const struct tuning_session *session)
{
	return session->runner.ops->is_exact;
}

bool tuning_session_has_winner(const struct tuning_session *session)
{
	return tuning_has_winner(session->tuning);
}

bool tuning_session_found_nothing(const struct tuning_session *session)
{
	const struct tuning_result *result = tuning_result(session->tuning);

	return session->identity.program && !result->proof.holds && result->is_complete;
}

/* The key is made as `sluice run` makes it before a run (run/known.h). */
static struct knowledge_key winner_key(const struct tuning_session *session)
{
	const struct identity *id = &session->identity;
	const struct trial_runner *runner = &session->runner;
	unsigned size_class = outcomes_size_class(tuning_result(session->tuning)->bytes);

	/* A kernel on a simulated platform has no command line. */
	if (!id->program)
		return (struct knowledge_key){
			.program = runner->program,
			.fingerprint = runner->fingerprint,
			.arguments = "",
			.platform = runner->platform,
			.filesystem = filesystem_name(runner->context.filesystem),
			.ranks = runner->ranks,
			.size_class = size_class,
		};
	return (struct knowledge_key){
		.program = id->program,
		.fingerprint = id->fingerprint,
		.arguments = id->arguments,
		.platform = id->platform,
		.filesystem = filesystem_name(id->filesystem),
		/* The options of sbatch or an allocation may determine what srun starts. */
		.ranks = id->launcher && !id->ranks ? tuning_plan(session->tuning)->context.ranks
						    : id->ranks,
		.size_class = size_class,
	};
}

/* The parameters of the winner as JSON; "" if there is none. */
static int write_winner(const struct tuning_session *session, struct buf *out, struct err *err)
{
	struct param_set set = { 0 };
	int r;

	if (!tuning_session_has_winner(session))
		return 0;
	winner_set(session, &set);
	r = param_json.write(&set, out, err);
	param_set_release(&set);
	return r;
}

int tuning_session_remember(const struct tuning_session *session, int64_t *entry, struct err *err)
{
	const struct tuning *tuning = session->tuning;
	const struct tuning_result *result = tuning_result(tuning);
	const struct proof nothing = {
		.before = result->level, .after = result->level, .gain = 1, .low = 1, .high = 1
	};
	const struct proof *proof = tuning_session_has_winner(session) ? &result->proof : &nothing;
	AUTO_FREE char *study = xprintf("%" PRId64, tuning_history(tuning)->study);
	AUTO_BUF struct buf parameters = { 0 };
	int r = write_winner(session, &parameters, err);

	if (r < 0)
		return r;
	return knowledge_put(session->store,
			     &(struct knowledge){
				     .key = winner_key(session),
				     .parameters = buf_text(&parameters),
				     .objective = cost_name(tuning_plan(tuning)->objective),
				     .before = proof->before,
				     .after = proof->after,
				     .gain = proof->gain,
				     .gain_low = proof->low,
				     .gain_high = proof->high,
				     .found_ns = clock_realtime_ns(),
				     .study = study,
				     .conditions = tuning_result(tuning)->conditions,
				     .compared = tuning_result(tuning)->compared,
			     },
			     entry, err);
}

int tuning_session_write(const struct tuning_session *session, struct err *err)
{
	struct param_set set = { 0 };
	int r;

	if (!session->output)
		return 0;
	winner_set(session, &set);
	r = param_forms_write_all(&set, session->output, err);
	param_set_release(&set);
	return r;
}

const char *tuning_session_output(const struct tuning_session *session)
{
	return session->output;
}
