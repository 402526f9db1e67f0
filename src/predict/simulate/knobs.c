/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/simulate/knobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "predict/simulate/description.h"

enum knob_kind { KNOB_NUMBER, KNOB_PAIR, KNOB_SWITCH, KNOB_SHAPE };

/* Size of an element of a chunked dataset: GCRM-IO writes floats. */
#define ELEMENT_BYTES 4

struct knob {
	const char *name;
	enum knob_kind kind;
	size_t offset;
};

/* bgl_nodes_pset is the total number of aggregators, as in the paper's text. */
static const struct knob knobs_known[] = {
	{ "striping_factor", KNOB_NUMBER, offsetof(struct knobs, stripes) },
	{ "striping_unit", KNOB_NUMBER, offsetof(struct knobs, unit) },
	{ "cb_nodes", KNOB_NUMBER, offsetof(struct knobs, aggregators) },
	{ "bgl_nodes_pset", KNOB_NUMBER, offsetof(struct knobs, aggregators) },
	{ "cb_buffer_size", KNOB_NUMBER, offsetof(struct knobs, buffer) },
	{ "chunk_size", KNOB_SHAPE, offsetof(struct knobs, chunk) },
	{ "alignment", KNOB_PAIR, offsetof(struct knobs, threshold) },
	{ "bglockless", KNOB_SWITCH, offsetof(struct knobs, is_lockless) },
	{ "IBM_largeblock_io", KNOB_SWITCH, offsetof(struct knobs, is_largeblock) },
};

/* Values have the form of tunable_parse(): plain digits, pairs with a comma. */
static int parse_number(const char *text, char end, double *out, const char **rest)
{
	char *stop;
	double value = strtod(text, &stop);

	if (stop == text || *stop != end || !isfinite(value) || value < 0)
		return -EINVAL;
	*out = value;
	*rest = stop + (end != 0);
	return 0;
}

static int parse_pair(const char *text, double *first, double *second)
{
	double a, b;

	if (parse_number(text, ',', &a, &text) < 0 || parse_number(text, 0, &b, &text) < 0)
		return -EINVAL;
	*first = a;
	*second = b;
	return 0;
}

/* Parses a size in bytes, or extents: "1,26,327680"; a single extent is followed by a comma. */
static int parse_shape(const char *text, double *bytes)
{
	double product = ELEMENT_BYTES, number;

	if (!strchr(text, ','))
		return parse_number(text, 0, bytes, &text);
	while (*text) {
		char end = strchr(text, ',') ? ',' : 0;

		if (parse_number(text, end, &number, &text) < 0)
			return -EINVAL;
		product *= number;
	}
	*bytes = product;
	return 0;
}

static bool is_enabled(const char *text)
{
	static const char *const yes[] = { "true", "1", "yes", "enable" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (strcmp(text, yes[i]) == 0)
			return true;
	return false;
}

static int set_knob(const struct knob *knob, struct knobs *knobs, const char *text)
{
	void *field = (char *)knobs + knob->offset;
	double number;
	int r;

	switch (knob->kind) {
	case KNOB_PAIR:
		return parse_pair(text, &knobs->threshold, &knobs->boundary);
	case KNOB_SWITCH:
		*(bool *)field = is_enabled(text);
		return 0;
	default:
		r = knob->kind == KNOB_SHAPE ? parse_shape(text, &number)
					     : parse_number(text, 0, &number, &text);
		if (r == 0 && number < 1)
			r = -EINVAL;
		if (r == 0)
			*(double *)field = number;
		return r;
	}
}

/* Ignores parameters that the model does not know. */
static int apply_param(const struct param *param, struct knobs *knobs, struct err *err)
{
	for (size_t i = 0; i < sizeof(knobs_known) / sizeof(knobs_known[0]); i++) {
		const struct knob *knob = &knobs_known[i];

		if (strcmp(knob->name, param->tunable->name) != 0)
			continue;
		if (set_knob(knob, knobs, param->value) < 0)
			return err_set(err, EINVAL, "the simulation does not support %s=%s",
				       knob->name, param->value);
		return 0;
	}
	return 0;
}

static void site_defaults(struct knobs *knobs, const struct platform *platform)
{
	*knobs = (struct knobs){ .stripes = platform->stripes,
				 .unit = platform->unit,
				 .buffer = platform->buffer,
				 .aggregators = platform->aggregators,
				 .threshold = platform->threshold,
				 .boundary = platform->boundary };
}

/* The default is one aggregator per stripe, or a fixed number per I/O node. */
static double default_aggregators(const struct knobs *knobs, const struct workload *workload,
				  const struct platform *p)
{
	double nodes = ceil((double)workload->ranks / p->cores);

	if (p->filesystem == FILESYSTEM_LUSTRE)
		return knobs->stripes;
	return p->io_node_aggregators * fmax(p->io_nodes_min, ceil(nodes / p->io_node_nodes));
}

int knobs_from_params(struct knobs *knobs, const struct workload *workload,
		      const struct platform *platform, const struct param_set *set, struct err *err)
{
	struct knobs k;

	site_defaults(&k, platform);
	for (size_t i = 0; i < set->count; i++) {
		const struct param *param = &set->params[i];
		int r;

		/* Use the value that applies to the kernel's file. */
		if (param_set_find(set, param->tunable, workload->name, NULL) != param)
			continue;
		r = apply_param(param, &k, err);
		if (r < 0)
			return r;
	}
	if (!k.aggregators)
		k.aggregators = default_aggregators(&k, workload, platform);
	k.aggregators = fmin(k.aggregators, (double)workload->ranks);
	if (platform->filesystem == FILESYSTEM_LUSTRE)
		k.stripes = fmin(k.stripes, platform->targets);
	k.boundary = fmax(k.boundary, 1);
	if (!workload->chunked)
		k.chunk = 0;
	*knobs = k;
	return 0;
}
