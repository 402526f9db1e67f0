/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tuning session turns a request ("tune this command with these limits") into a tuning
 * (tune/loop/tuning.h): it checks the request, makes the plan or reads the plan of an unfinished
 * tuning, opens the trial runner, and afterwards saves a proved winner to the knowledge base and to
 * files. It prints nothing.
 *
 *	tuning_request_check(&request, err);
 *	tuning_session_open(&session, &request, config, err);
 *	tuning_session_run(session, &watch, err);
 *	tuning_session_remember(session, &entry, err);
 *	tuning_session_close(session);
 */
#ifndef SLUICE_TUNE_LOOP_SESSION_H
#define SLUICE_TUNE_LOOP_SESSION_H

#include "tune/loop/request.h"
#include "tune/loop/tuning.h"

struct tuning_session;

/*
 * Restores the files of tunings that were killed. Every command on tunings does it first. Returns
 * their number. err->code is set, and the text says why, if the files of another one cannot be
 * restored.
 */
int tuning_recover_files(const struct config *config, struct err *err);

/*
 * Opens the store, makes or reads the plan, and opens the trial runner. Changes the working
 * directory of the process to the one that the tuning was started in. -ENODATA if there is nothing
 * to resume, -ESTALE if the program has changed since, -EBUSY if the same tuning is running. First
 * restores the files of tunings that were killed. Nothing has been run yet.
 */
int tuning_session_open(struct tuning_session **session, const struct tuning_request *request,
			const struct config *config, struct err *err);

/* Restores the user's files for good. tuning_session_close() does it as well, but cannot say that
 * it failed. */
int tuning_session_finish(struct tuning_session *session, struct err *err);

/* Accepts NULL. */
void tuning_session_close(struct tuning_session *session);

/* What tuning_recover_files() returned and said when the session was opened. */
int tuning_session_recovered(const struct tuning_session *session, struct err *err);

/* The id of the unfinished tuning with the same command and options, which is resumed if the
 * request asks for it; 0: there is none. */
int64_t tuning_session_unfinished(const struct tuning_session *session);

/*
 * Starts or resumes the tuning and runs it to its end; fails as tuning_begin(), tuning_open() and
 * tuning_run(). After a failure, tuning_session_tuning() is what there is so far, or NULL.
 */
int tuning_session_run(struct tuning_session *session, const struct tuning_watch *watch,
		       struct err *err);
const struct tuning *tuning_session_tuning(const struct tuning_session *session);

/* The same parameters always cost the same: results are calculated, not measured. */
bool tuning_session_is_exact(const struct tuning_session *session);

/* Is there a winner that was proved and may be saved? */
bool tuning_session_has_winner(const struct tuning_session *session);

/* Did the tuning run to its end without a winner? On a simulated platform, that is of no use. */
bool tuning_session_found_nothing(const struct tuning_session *session);

/* Saves the winner, or that there is none, to the knowledge base as *entry. -EEXIST: the entry for
 * the same run is pinned, or there is no winner and an earlier tuning had one. */
int tuning_session_remember(const struct tuning_session *session, int64_t *entry, struct err *err);

/* Writes the winner to the files of the request's output prefix; 0 if there is none. */
int tuning_session_write(const struct tuning_session *session, struct err *err);
/* The prefix as an absolute path; NULL: none. */
const char *tuning_session_output(const struct tuning_session *session);

#endif
