/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/constraints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* Values that do harm in some environments. Keep the table in line with contract/hints.h, by which
 * the guest refuses them. */
static const struct danger {
	const char *name;
	enum middleware middleware;
	const char *reason;
} dangers[] = {
	{ "cb_nodes", MIDDLEWARE_OMPIO,
	  "OMPIO loses data of writes with holes if there are several aggregators" },
	{ "cb_config_list", MIDDLEWARE_OMPIO,
	  "OMPIO loses data of writes with holes if there are several aggregators" },
	{ 0 },
};

static const char *find_danger(const struct tunable *tunable, const struct tunable_context *context)
{
	if (tunable->safety == TUNABLE_DANGEROUS)
		return tunable->warning;
	for (const struct danger *d = dangers; d->name; d++)
		if (strcmp(d->name, tunable->name) == 0 && d->middleware == context->middleware)
			return d->reason;
	return NULL;
}

bool tunable_may_hang(const struct tunable *tunable, const char *value)
{
	return tunable->hanging && value && strcmp(tunable->hanging, value) == 0;
}

enum tunable_safety tunable_value_safety(const struct tunable *tunable, const char *value,
					 const struct tunable_context *context)
{
	if (!tunable_may_hang(tunable, value))
		return tunable->safety;
	return context->is_lockstep ? TUNABLE_LAYOUT : TUNABLE_SEMANTICS;
}

int tunable_allow(const struct tunable *tunable, const char *value,
		  const struct tunable_context *context, struct err *err)
{
	const char *reason = find_danger(tunable, context);
	enum tunable_safety safety = tunable_value_safety(tunable, value, context);

	if (reason)
		return err_set(err, EPERM, "%s=%s is refused: %s", tunable->name, value, reason);
	if (safety <= context->allowed)
		return 0;
	if (tunable_may_hang(tunable, value))
		return err_set(err, EPERM,
			       "%s=%s is not applied: the program hangs unless all ranks make the "
			       "same transfers; 'sluice tune' finds out whether they do, and "
			       "params.allow = %s applies it regardless",
			       tunable->name, value, tunable_safety_name(safety));
	return err_set(err, EPERM, "%s=%s is not applied: %s; set params.allow = %s to apply it",
		       tunable->name, value, tunable->warning, tunable_safety_name(safety));
}

static uint64_t parse_number(const char *value)
{
	return value ? strtoull(value, NULL, 10) : 0;
}

static bool is_word(const char *value, const char *word)
{
	return value && strcmp(value, word) == 0;
}

/* The aggregators per node that "*:N" allows; 0: unknown. */
static uint64_t list_limit(const char *list)
{
	if (!list)
		return 1;
	if (list[0] != '*' || strchr(list, ','))
		return 0;
	return list[1] == ':' ? parse_number(list + 2) : 1;
}

/*
 * A rule gets the value of one parameter and the value of another one for the same files (NULL: not
 * set). It returns true if they violate the rule.
 */
typedef bool (*rule)(const char *value, const char *other, const struct tunable_context *context);

static bool is_below(const char *value, const char *other, const struct tunable_context *context)
{
	(void)context;
	return other && parse_number(value) < parse_number(other);
}

static bool is_no_multiple(const char *value, const char *other,
			   const struct tunable_context *context)
{
	return other && !is_below(value, other, context) &&
	       parse_number(value) % parse_number(other);
}

static bool is_uneven(const char *value, const char *other, const struct tunable_context *context)
{
	uint64_t a = parse_number(value), b = parse_number(other);

	(void)context;
	return a && b && a % b && b % a;
}

static bool is_clamped(const char *value, const char *other, const struct tunable_context *context)
{
	uint64_t limit = list_limit(other);

	return context->nodes && limit && parse_number(value) > limit * context->nodes;
}

static bool is_more_than_ranks(const char *value, const char *other,
			       const struct tunable_context *context)
{
	(void)other;
	return context->ranks && parse_number(value) > context->ranks;
}

static bool is_disabled(const char *value, const char *other, const struct tunable_context *context)
{
	(void)value;
	(void)context;
	return is_word(other, "disable");
}

static bool is_switched_off(const char *value, const char *other,
			    const struct tunable_context *context)
{
	(void)value;
	(void)context;
	return is_word(other, "false");
}

static bool is_independent(const char *value, const char *other,
			   const struct tunable_context *context)
{
	(void)value;
	(void)context;
	return is_word(other, "independent");
}

static bool is_filled(const char *value, const char *other, const struct tunable_context *context)
{
	(void)value;
	(void)context;
	return !is_word(other, "never");
}

static bool is_no_boundary(const char *value, const char *other,
			   const struct tunable_context *context)
{
	const char *comma = strchr(value, ',');
	uint64_t boundary = comma ? parse_number(comma + 1) : 0;

	(void)other;
	(void)context;
	return boundary & (boundary - 1);
}

static bool is_no_stripe(const char *value, const char *other,
			 const struct tunable_context *context)
{
	(void)other;
	(void)context;
	return parse_number(value) % 65536;
}

static bool is_no_chunk(const char *value, const char *other, const struct tunable_context *context)
{
	uint64_t chunk = parse_number(value);

	(void)other;
	(void)context;
	return chunk & (chunk - 1);
}

#define ANY_FS FILESYSTEM_ANY
#define ANY_MW MIDDLEWARE_ANY

/* A row for a certain middleware or file system does not apply if that is unknown. */
static const struct constraint {
	const char *name, *other; /* other NULL: the rule is about one parameter */
	enum middleware middleware;
	enum filesystem filesystem;
	rule broken;
	enum constraint_weight weight;
	const char *text;
} constraints[] = {
	{ "cb_buffer_size", "striping_unit", ANY_MW, FILESYSTEM_LUSTRE, is_below, CONSTRAINT_IDLE,
	  "is smaller than striping_unit: each stripe is written in several pieces" },
	{ "cb_buffer_size", "striping_unit", ANY_MW, FILESYSTEM_LUSTRE, is_no_multiple,
	  CONSTRAINT_IDLE,
	  "is not a multiple of striping_unit: rounds end in the middle of stripes" },
	{ "cb_nodes", "striping_factor", ANY_MW, FILESYSTEM_LUSTRE, is_uneven, CONSTRAINT_ADVICE,
	  "neither divides striping_factor nor is a multiple of it: the load on targets is "
	  "uneven" },
	{ "striping_unit", NULL, ANY_MW, FILESYSTEM_LUSTRE, is_no_stripe, CONSTRAINT_DROP,
	  "is not a multiple of 65536, as Lustre requires" },
	{ "striping_unit", NULL, ANY_MW, FILESYSTEM_CEPH, is_no_stripe, CONSTRAINT_DROP,
	  "is not a multiple of 65536, as CephFS requires" },
	{ "striping_unit", NULL, ANY_MW, FILESYSTEM_BEEGFS, is_no_chunk, CONSTRAINT_DROP,
	  "is not a power of two, as BeeGFS requires" },
	{ "cb_nodes", "cb_config_list", ANY_MW, ANY_FS, is_clamped, CONSTRAINT_ADVICE,
	  "is more than cb_config_list allows on these nodes (default *:1): ROMIO uses fewer "
	  "aggregators" },
	{ "cb_nodes", NULL, ANY_MW, ANY_FS, is_more_than_ranks, CONSTRAINT_ADVICE,
	  "exceeds the number of ranks" },
	{ "cb_nodes", "romio_cb_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_ADVICE,
	  "has no effect on writes while romio_cb_write is disable" },
	{ "cb_config_list", "romio_cb_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_ADVICE,
	  "has no effect on writes while romio_cb_write is disable" },
	{ "cb_buffer_size", "romio_cb_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_ADVICE,
	  "has no effect on writes while romio_cb_write is disable" },
	{ "cb_buffer_size", "collective_buffering", MIDDLEWARE_OMPIO, ANY_FS, is_switched_off,
	  CONSTRAINT_ADVICE, "has no effect while collective_buffering is false" },
	{ "cb_nodes", "transfer", ANY_MW, ANY_FS, is_independent, CONSTRAINT_ADVICE,
	  "has no effect on independent transfers of HDF5 datasets" },
	{ "ind_wr_buffer_size", "romio_ds_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_IDLE,
	  "has no effect while romio_ds_write is disable" },
	{ "ind_rd_buffer_size", "romio_ds_read", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_IDLE,
	  "has no effect while romio_ds_read is disable" },
	{ "chunk_size", "fill_time", ANY_MW, ANY_FS, is_filled, CONSTRAINT_ADVICE,
	  "makes parallel programs write the file twice unless fill_time is never" },
	{ "alignment", NULL, ANY_MW, ANY_FS, is_no_boundary, CONSTRAINT_ADVICE,
	  "has a boundary that is not a power of two, unlike stripes and blocks" },
	{ "ceph_object_size", "ceph_stripe_unit", ANY_MW, ANY_FS, is_no_multiple, CONSTRAINT_DROP,
	  "is not a multiple of ceph_stripe_unit, as CephFS requires" },
	{ "ceph_object_size", "ceph_stripe_unit", ANY_MW, ANY_FS, is_below, CONSTRAINT_DROP,
	  "is smaller than ceph_stripe_unit; CephFS rejects that" },
	{ 0 },
};

static bool constraint_applies(const struct constraint *c, const struct param *param,
			       const struct tunable_context *context)
{
	return strcmp(c->name, param->tunable->name) == 0 &&
	       (c->middleware == ANY_MW || c->middleware == context->middleware) &&
	       (c->filesystem == ANY_FS || c->filesystem == context->filesystem);
}

static bool constraint_is_broken(const struct constraint *c, const struct param_set *set,
				 const struct param *param, const struct tunable_context *context)
{
	const struct param *other = NULL;

	if (c->other)
		other = param_set_find(set, tunable_by_name(c->other), param->file, param->object);
	return c->broken(param->value, other ? other->value : NULL, context);
}

static int check_rules(const struct param_set *set, const struct param *param,
		       const struct tunable_context *context, bool with_text,
		       constraint_report report, void *arg)
{
	struct err said;
	int r = 0;

	for (const struct constraint *c = constraints; c->name && !r; c++) {
		if (!constraint_applies(c, param, context) ||
		    !constraint_is_broken(c, set, param, context))
			continue;
		if (with_text)
			err_set(&said, EPERM, "%s=%s %s", param->tunable->name, param->value,
				c->text);
		r = report(arg, param, c->weight, with_text ? said.text : NULL);
	}
	return r;
}

static int report_ineffective(const struct param *param, const struct tunable_context *context,
			      bool with_text, constraint_report report, void *arg)
{
	struct err said;

	if (with_text)
		err_set(&said, EPERM, "%s=%s has no effect with %s on %s", param->tunable->name,
			param->value,
			context->middleware ? middleware_name(context->middleware) : "any MPI",
			context->filesystem ? filesystem_name(context->filesystem)
					    : "any file system");
	return report(arg, param, CONSTRAINT_ADVICE, with_text ? said.text : NULL);
}

static int check_param(const struct param_set *set, const struct param *param,
		       const struct tunable_context *context, bool with_text,
		       constraint_report report, void *arg)
{
	struct err said = { 0 };

	if (tunable_allow(param->tunable, param->value, context, with_text ? &said : NULL) < 0)
		return report(arg, param, CONSTRAINT_DROP, with_text ? said.text : NULL);
	if (!tunable_consumers(param->tunable, context))
		return report_ineffective(param, context, with_text, report, arg);
	return check_rules(set, param, context, with_text, report, arg);
}

int constraints_check(const struct param_set *set, const struct tunable_context *context,
		      bool with_text, constraint_report report, void *arg)
{
	int r = 0;

	for (size_t i = 0; i < set->count && !r; i++)
		r = check_param(set, &set->params[i], context, with_text, report, arg);
	return r;
}
