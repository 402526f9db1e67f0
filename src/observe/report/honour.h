/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Did anybody listen to a parameter? MPICH's ROMIO and HDF5 tell what they made of it when they are
 * asked. Open MPI repeats what it was told, so what counts there is what the calls beneath show:
 * how many ranks wrote to storage in collective writes, and how much at a time. Where nothing can
 * be shown the judgement says so.
 */
#ifndef SLUICE_OBSERVE_REPORT_HONOUR_H
#define SLUICE_OBSERVE_REPORT_HONOUR_H

#include "observe/report/parameters.h"

enum honour {
	HONOUR_NOBODY,
	HONOUR_SOMEBODY,
	HONOUR_UNKNOWN, /* it may well have an effect, but none that we can see */
};

struct judgement {
	enum honour honour;
	const char *by; /* "ROMIO", "HDF5", "OMPIO": of SOMEBODY, else who was asked; may be "" */
	char why[128];	/* what it is concluded from; of SOMEBODY it may be empty */
};

/* row is one that was asked for. */
struct judgement honour_judge(const struct parameter *row, const struct evidence *evidence);

/* "yes", "no", "unknown" */
const char *honour_name(enum honour honour);

#endif
