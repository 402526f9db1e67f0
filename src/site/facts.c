/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/facts.h"

#include <string.h>

#include "store/schema.h"

const struct site_fact site_facts[] = {
	{ "run_call", &fact_call, "call", "number", "call" },
	{ "run_process", &fact_process, NULL, NULL, "process" },
	{ "run_file", &fact_file, "file", "id", "file" },
	{ "run_host", &fact_host, NULL, NULL, "number" },
	{ "run_loss", &fact_loss, NULL, NULL, "process" },
	{ "run_counter", &fact_aggregate, NULL, NULL, "process, file, layer, class_group" },
	{ "statistic", &fact_statistic, NULL, NULL, "number" },
	{ "sample", &fact_sample, NULL, NULL, "statistic, time_ns" },
	{ "note", &fact_note, NULL, NULL, "number" },
};

const size_t site_fact_count = sizeof(site_facts) / sizeof(site_facts[0]);

const struct site_fact *site_fact_of(const struct fact *fact)
{
	for (size_t i = 0; i < site_fact_count; i++)
		if (site_facts[i].fact == fact)
			return &site_facts[i];
	return NULL;
}

const struct fact_field *site_fact_field(const struct site_fact *fact,
					 const struct schema_column *column)
{
	const char *name = column->name;

	if (fact->column && !strcmp(fact->column, name))
		name = fact->field;
	for (size_t i = 0; i < fact->fact->count; i++)
		if (!strcmp(fact->fact->fields[i].name, name))
			return &fact->fact->fields[i];
	return NULL;
}
