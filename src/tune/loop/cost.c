/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/cost.h"

#include <math.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/unit.h"
#include "tune/trial/trial.h"

static const struct {
	const char *name, *what;
} kinds[COST_KINDS] = {
	[COST_IO] = { "io", "I/O" },
	[COST_RUN] = { "run", "run" },
	[COST_READ] = { "read", "reading" },
	[COST_WRITE] = { "write", "writing" },
};

const char *cost_name(enum cost_kind kind)
{
	return kinds[kind].name;
}

const char *cost_label(enum cost_kind kind)
{
	return kinds[kind].what;
}

static double per_byte(double seconds, double bytes)
{
	return bytes > 0 ? seconds / bytes : NAN;
}

double cost_of(enum cost_kind kind, const struct trial *trial)
{
	double cost = kind == COST_IO	  ? trial->io_s
		      : kind == COST_RUN  ? trial->run_s
		      : kind == COST_READ ? per_byte(trial->read_s, trial->read_bytes)
					  : per_byte(trial->write_s, trial->write_bytes);

	return isfinite(cost) && cost > 0 ? cost : NAN;
}

void cost_text(enum cost_kind kind, double cost, struct buf *out)
{
	char text[UNIT_TEXT];

	if (!isfinite(cost) || !(cost > 0))
		buf_puts(out, "-");
	else if (kind == COST_READ || kind == COST_WRITE)
		buf_puts(out, unit_rate(text, 1 / cost, NS_PER_S));
	else
		buf_puts(out, unit_ns(text, (int64_t)(cost * NS_PER_S + 0.5)));
}
