/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalogs of SIOX: the ontology of attributes, global ids of things, and the facts of each
 * run. Registering is idempotent: the same name always gets the same id, in every process.
 * Papers: SIOX-12 to SIOX-14.
 */
#ifndef SLUICE_STORE_CATALOG_H
#define SLUICE_STORE_CATALOG_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/*
 * Registers an attribute of the ontology, such as domain "POSIX", name "quantity/BytesToRead", type
 * "bytes". Returns its id, which is above 0, or -errno. An attribute that exists keeps its type.
 */
int64_t catalog_attribute(struct store *store, const char *domain, const char *name,
			  const char *type, struct err *err);

/* Things with global ids (SIOX: SystemInformationGlobalIDManager). */
enum thing_kind { THING_NODE, THING_DEVICE, THING_LAYER, THING_CALL, THING_KINDS };
extern const char *const thing_kind_names[THING_KINDS]; /* "node", "device", "layer", "call" */

/* Registers a thing. `of` is the id of its parent, e.g. the node of a device, or 0. */
int64_t catalog_thing(struct store *store, enum thing_kind kind, int64_t of, const char *name,
		      struct err *err);

/*
 * Sets or replaces a fact of a run (process -1) or of one of its processes (SIOX:
 * AssociationMapper).
 */
int catalog_fact_set(struct store *store, const char *run, int32_t process, const char *key,
		     const char *value, struct err *err);

/* Deletes the facts of all but the newest `count` runs, by their fact "started" (seconds). */
int catalog_keep_runs(struct store *store, int64_t count, struct err *err);

/*
 * The functions below call `seen` for each row, ordered by id (facts: by run, process, key). Texts
 * are valid during the call. A result other than 0 stops.
 */
typedef int (*catalog_attribute_seen)(void *arg, int64_t id, const char *domain, const char *name,
				      const char *type);
/* of_name is "" if the thing has no parent. */
typedef int (*catalog_thing_seen)(void *arg, int64_t id, int64_t of, const char *name,
				  const char *of_name);
typedef int (*catalog_fact_seen)(void *arg, const char *run, int32_t process, const char *key,
				 const char *value);
int catalog_attributes(struct store *store, catalog_attribute_seen seen, void *arg,
		       struct err *err);
int catalog_things(struct store *store, enum thing_kind kind, catalog_thing_seen seen, void *arg,
		   struct err *err);
/* run NULL: all runs. */
int catalog_facts(struct store *store, const char *run, catalog_fact_seen seen, void *arg,
		  struct err *err);

#endif
