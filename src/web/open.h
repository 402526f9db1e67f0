/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the run that a request names.
 */
#ifndef SLUICE_WEB_OPEN_H
#define SLUICE_WEB_OPEN_H

struct open_run;
struct web_call;

/*
 * The run with this id, or a unique prefix of one. Names of files are not accepted: a request must
 * not reach what is not in the directory of traces. Returns NULL if there is none; the request was
 * then answered. The caller returns it with run_cache_put().
 */
struct open_run *open_named_run(struct web_call *call, const char *id);

#endif
