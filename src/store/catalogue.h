/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalogues of SIOX: the ontology of attributes, global ids of things, and the facts of each
 * run. Registering is idempotent: the same name gets the same id from every process, for ever.
 */
#ifndef SLUICE_STORE_CATALOGUE_H
#define SLUICE_STORE_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* SIOX's ontology: domain "POSIX", name "quantity/BytesToRead", type "bytes". Ids are above 0. The
 * type of who came first stays. */
int64_t catalogue_attribute(struct store *store, const char *domain, const char *name,
			    const char *type, struct err *err);
/* 0 where there is none. */
int64_t catalogue_attribute_find(struct store *store, const char *domain, const char *name,
				 struct err *err);
/* An attribute of an attribute: a unit, a meaning. Setting replaces. */
int catalogue_attribute_set(struct store *store, int64_t id, const char *key, const char *value,
			    struct err *err);

/* SystemInformationGlobalIDManager. */
enum thing_kind { THING_NODE, THING_DEVICE, THING_LAYER, THING_CALL, THING_KINDS };
extern const char *const thing_kind_names[THING_KINDS]; /* "node", "device", "layer", "call" */

/* `of` is the id of what it belongs to (the node of a device, the layer of a call), 0 for none. */
int64_t catalogue_thing(struct store *store, enum thing_kind kind, int64_t of, const char *name,
			struct err *err);

/* AssociationMapper: facts of one run or one of its processes (-1: the run); setting replaces. */
int catalogue_fact_set(struct store *store, const char *run, int32_t process, const char *key,
		       const char *value, struct err *err);

/* Forgets the facts of all but the newest runs, by their fact "started" (seconds), of the run. */
int catalogue_runs_keep(struct store *store, int64_t count, struct err *err);

/* Lists by id (facts: by run, process, key). Texts are valid during the call; non-zero stops. */
typedef int (*catalogue_attribute_seen)(void *arg, int64_t id, const char *domain, const char *name,
					const char *type);
typedef int (*catalogue_note_seen)(void *arg, const char *key, const char *value);
/* of_name is "" where it belongs to nothing. */
typedef int (*catalogue_thing_seen)(void *arg, int64_t id, int64_t of, const char *name,
				    const char *of_name);
typedef int (*catalogue_fact_seen)(void *arg, const char *run, int32_t process, const char *key,
				   const char *value);
int catalogue_attributes(struct store *store, catalogue_attribute_seen seen, void *arg,
			 struct err *err);
/* What was set of one attribute, by key. */
int catalogue_attribute_notes(struct store *store, int64_t id, catalogue_note_seen seen, void *arg,
			      struct err *err);
int catalogue_things(struct store *store, enum thing_kind kind, catalogue_thing_seen seen,
		     void *arg, struct err *err);
/* run NULL: of all. */
int catalogue_facts(struct store *store, const char *run, catalogue_fact_seen seen, void *arg,
		    struct err *err);

#endif
