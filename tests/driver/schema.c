/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the tables of the schema as they are documented in docs/reference/site.md.
 */
#include <stdio.h>

#include "store/schema.h"

static const char *const access_texts[] = {
	[ACCESS_ALL] = "everybody",
	[ACCESS_OWNER] = "owner",
	[ACCESS_CONCERNED] = "owner",
	[ACCESS_RUN] = "owner of the run",
	[ACCESS_STUDY] = "owner of the tuning",
	[ACCESS_ADMIN] = "administrators",
};

static void print_columns(const struct schema_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct schema_column *c = &table->columns[i];

		printf("%s`%s`", i ? ", " : "", c->name);
		if (c->nullable)
			printf("?");
		if (c->help)
			printf(" (%s)", c->help);
	}
}

int main(void)
{
	printf("| table | since | readers | columns |\n|---|---|---|---|\n");
	for (size_t i = 0; i < schema_table_count; i++) {
		const struct schema_table *t = &schema_tables[i];

		printf("| `%s`: %s | %d | %s | ", t->name, t->help, t->since,
		       access_texts[t->access]);
		print_columns(t);
		printf(" |\n");
	}
	return 0;
}
