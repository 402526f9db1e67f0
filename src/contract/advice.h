/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program may ask for (include/sluice/instrument.h): the forecast of storage targets, and
 * the best known values of parameters. The host writes it into the control page before the first
 * process starts and never changes it; the guest only reads it. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_ADVICE_H
#define SLUICE_CONTRACT_ADVICE_H

#include <stdint.h>

#define ADVICE_TARGETS 64
#define ADVICE_NAME_BYTES 64
#define ADVICE_PATH_BYTES 256
#define ADVICE_BEST_BYTES 16384

struct advice_target {
	char name[ADVICE_NAME_BYTES];
	char path[ADVICE_PATH_BYTES]; /* of the directory that it stores; "": unknown */
	double busy, share;	      /* as in struct sluice_target */
	double slowdown;
};

/*
 * `best` has one line per value, "FILE<tab>NAME<tab>VALUE<tab>SOURCE\n": FILE is a pattern as in
 * contract/parameters.h, SOURCE a word of contract/sources.h. The first line that matches decides.
 */
struct advice {
	uint32_t target_count;
	double age_s;	  /* of the newest probe at the start of the run */
	double max_age_s; /* older forecasts are worthless */
	struct advice_target targets[ADVICE_TARGETS];
	char best[ADVICE_BEST_BYTES];
};

#endif
