/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/constraints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* ---- one value at a place ---- */

/* Values that do harm somewhere. Keep to what contract/hints.h refuses in the guest. */
static const struct danger {
	const char *name, *value;   /* NULL: any */
	enum middleware middleware; /* MIDDLEWARE_ANY: everywhere */
	const char *reason;
} dangers[] = {
	{ "cb_nodes", NULL, MIDDLEWARE_OMPIO,
	  "OMPIO loses data of writes with holes when it has several aggregators" },
	{ "cb_config_list", NULL, MIDDLEWARE_OMPIO,
	  "OMPIO loses data of writes with holes when it has several aggregators" },
	{ "transfer", "collective", MIDDLEWARE_ANY,
	  "a program whose ranks do not all take part in a transfer would hang" },
	{ 0 },
};

static bool danger_fits(const struct danger *danger, const struct tunable *tunable,
			const char *value, const struct tunable_context *context)
{
	return strcmp(danger->name, tunable->name) == 0 &&
	       (!danger->value || strcmp(danger->value, value) == 0) &&
	       (danger->middleware == MIDDLEWARE_ANY || danger->middleware == context->middleware);
}

static const char *danger_of(const struct tunable *tunable, const char *value,
			     const struct tunable_context *context)
{
	if (tunable->safety == TUNABLE_DANGEROUS)
		return tunable->warning;
	for (const struct danger *d = dangers; d->name; d++)
		if (danger_fits(d, tunable, value, context))
			return d->reason;
	return NULL;
}

int tunable_allow(const struct tunable *tunable, const char *value,
		  const struct tunable_context *context, struct err *err)
{
	const char *reason = danger_of(tunable, value, context);

	if (reason)
		return err_set(err, EPERM, "%s=%s is refused: %s", tunable->name, value, reason);
	if (tunable->safety > context->allowed)
		return err_set(err, EPERM,
			       "%s=%s is not applied: %s; params.allow = %s would let it",
			       tunable->name, value, tunable->warning,
			       tunable_safety_name(tunable->safety));
	return 0;
}

/* ---- two of them ---- */

static uint64_t number_of(const char *value)
{
	return value ? strtoull(value, NULL, 10) : 0;
}

static bool is_word(const char *value, const char *word)
{
	return value && strcmp(value, word) == 0;
}

/* What "*:N" lets a node have; 0: not to be told. */
static uint64_t list_limit(const char *list)
{
	if (!list)
		return 1;
	if (list[0] != '*' || strchr(list, ','))
		return 0;
	return list[1] == ':' ? number_of(list + 2) : 1;
}

/*
 * A rule looks at the value of one parameter and at that of another for the same files (NULL where
 * that is not set), and says whether it is broken.
 */
typedef bool (*rule)(const char *value, const char *other, const struct tunable_context *context);

static bool is_below(const char *value, const char *other, const struct tunable_context *context)
{
	(void)context;
	return other && number_of(value) < number_of(other);
}

static bool is_no_multiple(const char *value, const char *other,
			   const struct tunable_context *context)
{
	return other && !is_below(value, other, context) && number_of(value) % number_of(other);
}

static bool is_uneven(const char *value, const char *other, const struct tunable_context *context)
{
	uint64_t a = number_of(value), b = number_of(other);

	(void)context;
	return a && b && a % b && b % a;
}

static bool is_clamped(const char *value, const char *other, const struct tunable_context *context)
{
	uint64_t limit = list_limit(other);

	return context->nodes && limit && number_of(value) > limit * context->nodes;
}

static bool is_more_than_ranks(const char *value, const char *other,
			       const struct tunable_context *context)
{
	(void)other;
	return context->ranks && number_of(value) > context->ranks;
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
	uint64_t boundary = comma ? number_of(comma + 1) : 0;

	(void)other;
	(void)context;
	return boundary & (boundary - 1);
}

static bool is_no_stripe(const char *value, const char *other,
			 const struct tunable_context *context)
{
	(void)other;
	(void)context;
	return number_of(value) % 65536;
}

#define ANY_FS FILESYSTEM_ANY
#define ANY_MW MIDDLEWARE_ANY

/* A row for a middleware or a file system does not count where that is unknown. */
static const struct constraint {
	const char *name, *other; /* NULL: a rule about one */
	enum middleware middleware;
	enum filesystem filesystem;
	rule broken;
	enum constraint_weight weight;
	const char *text;
} constraints[] = {
	{ "cb_buffer_size", "striping_unit", ANY_MW, FILESYSTEM_LUSTRE, is_below, CONSTRAINT_IDLE,
	  "is smaller than striping_unit: every stripe is written in parts, by turns" },
	{ "cb_buffer_size", "striping_unit", ANY_MW, FILESYSTEM_LUSTRE, is_no_multiple,
	  CONSTRAINT_IDLE, "is no multiple of striping_unit: rounds end in the middle of stripes" },
	{ "cb_nodes", "striping_factor", ANY_MW, FILESYSTEM_LUSTRE, is_uneven, CONSTRAINT_ADVICE,
	  "neither divides striping_factor nor is a multiple of it: targets get uneven load" },
	{ "striping_unit", NULL, ANY_MW, FILESYSTEM_LUSTRE, is_no_stripe, CONSTRAINT_DROP,
	  "is no multiple of 65536, which Lustre insists on" },
	{ "cb_nodes", "cb_config_list", ANY_MW, ANY_FS, is_clamped, CONSTRAINT_ADVICE,
	  "is more than cb_config_list allows on these nodes (*:1 unless it is set): ROMIO takes "
	  "as many as that" },
	{ "cb_nodes", NULL, ANY_MW, ANY_FS, is_more_than_ranks, CONSTRAINT_ADVICE,
	  "is more than there are ranks" },
	{ "cb_nodes", "romio_cb_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_ADVICE,
	  "does nothing for writes where romio_cb_write is disable" },
	{ "cb_config_list", "romio_cb_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_ADVICE,
	  "does nothing for writes where romio_cb_write is disable" },
	{ "cb_buffer_size", "romio_cb_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_ADVICE,
	  "does nothing for writes where romio_cb_write is disable" },
	{ "cb_buffer_size", "collective_buffering", MIDDLEWARE_OMPIO, ANY_FS, is_switched_off,
	  CONSTRAINT_ADVICE, "does nothing where collective_buffering is false" },
	{ "cb_nodes", "transfer", ANY_MW, ANY_FS, is_independent, CONSTRAINT_ADVICE,
	  "does nothing for HDF5 datasets that are transferred independently" },
	{ "ind_wr_buffer_size", "romio_ds_write", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_IDLE,
	  "does nothing where romio_ds_write is disable" },
	{ "ind_rd_buffer_size", "romio_ds_read", ANY_MW, ANY_FS, is_disabled, CONSTRAINT_IDLE,
	  "does nothing where romio_ds_read is disable" },
	{ "chunk_size", "fill_time", ANY_MW, ANY_FS, is_filled, CONSTRAINT_ADVICE,
	  "costs one more pass over the file in parallel programs unless fill_time is never" },
	{ "alignment", NULL, ANY_MW, ANY_FS, is_no_boundary, CONSTRAINT_ADVICE,
	  "has a boundary that is no power of two: stripes and blocks are" },
	{ "ceph_object_size", "ceph_stripe_unit", ANY_MW, ANY_FS, is_no_multiple, CONSTRAINT_DROP,
	  "is no multiple of ceph_stripe_unit, which CephFS insists on" },
	{ "ceph_object_size", "ceph_stripe_unit", ANY_MW, ANY_FS, is_below, CONSTRAINT_DROP,
	  "is smaller than ceph_stripe_unit, which CephFS refuses" },
	{ 0 },
};

static bool constraint_counts(const struct constraint *c, const struct param *param,
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

static int pairs_check(const struct param_set *set, const struct param *param,
		       const struct tunable_context *context, bool with_text, constraint_tell tell,
		       void *arg)
{
	struct err said;
	int r = 0;

	for (const struct constraint *c = constraints; c->name && !r; c++) {
		if (!constraint_counts(c, param, context) ||
		    !constraint_is_broken(c, set, param, context))
			continue;
		if (with_text)
			err_set(&said, EPERM, "%s=%s %s", param->tunable->name, param->value,
				c->text);
		r = tell(arg, param, c->weight, with_text ? said.text : NULL);
	}
	return r;
}

static int deaf_tell(const struct param *param, const struct tunable_context *context,
		     bool with_text, constraint_tell tell, void *arg)
{
	struct err said;

	if (with_text)
		err_set(&said, EPERM, "%s=%s: nobody listens to it with %s on %s",
			param->tunable->name, param->value,
			context->middleware ? middleware_name(context->middleware) : "any MPI",
			filesystem_name(context->filesystem));
	return tell(arg, param, CONSTRAINT_ADVICE, with_text ? said.text : NULL);
}

static int param_check(const struct param_set *set, const struct param *param,
		       const struct tunable_context *context, bool with_text, constraint_tell tell,
		       void *arg)
{
	struct err said = { 0 };

	if (tunable_allow(param->tunable, param->value, context, with_text ? &said : NULL) < 0)
		return tell(arg, param, CONSTRAINT_DROP, with_text ? said.text : NULL);
	if (!tunable_listeners(param->tunable, context))
		return deaf_tell(param, context, with_text, tell, arg);
	return pairs_check(set, param, context, with_text, tell, arg);
}

int constraints_check(const struct param_set *set, const struct tunable_context *context,
		      bool with_text, constraint_tell tell, void *arg)
{
	int r = 0;

	for (size_t i = 0; i < set->count && !r; i++)
		r = param_check(set, &set->params[i], context, with_text, tell, arg);
	return r;
}
