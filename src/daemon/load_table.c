/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/load_table.h"

#include <stdio.h>
#include <string.h>

static bool is_entry(const struct load_entry *entry, uid_t user, const char *job, unsigned place)
{
	return entry->is_used && entry->name.user == user && entry->name.place == place &&
	       strncmp(entry->name.job, job, LOAD_JOB_BYTES - 1) == 0;
}

unsigned load_table_open(struct load_table *table, uid_t user, const char *job, unsigned place)
{
	unsigned found = 0;

	for (unsigned i = 1; i < LOAD_ENTRIES; i++) {
		if (is_entry(&table->entries[i], user, job, place)) {
			found = i;
			break;
		}
		if (!found && !table->entries[i].is_used)
			found = i;
	}
	if (found && !table->entries[found].is_used) {
		struct load_entry *entry = &table->entries[found];

		*entry = (struct load_entry){ .is_used = true,
					      .name = { .user = user, .place = place } };
		snprintf(entry->name.job, sizeof(entry->name.job), "%s", job);
	}
	table->entries[found].holders++;
	return found;
}

void load_table_close(struct load_table *table, unsigned entry)
{
	table->entries[entry].holders--;
}

void load_table_add(struct load_table *table, unsigned entry, enum load_operation operation,
		    uint64_t calls, uint64_t bytes)
{
	table->entries[entry].total.calls[operation] += calls;
	table->entries[entry].total.bytes[operation] += bytes;
}

/* Returns false if there is nothing new. */
static bool take_difference(struct load_counts *difference, const struct load_counts *total,
			    struct load_counts *seen)
{
	bool is_new = false;

	for (int i = 0; i < LOAD_OPERATIONS; i++) {
		difference->calls[i] = total->calls[i] - seen->calls[i];
		difference->bytes[i] = total->bytes[i] - seen->bytes[i];
		is_new |= difference->calls[i] > 0;
	}
	*seen = *total;
	return is_new;
}

static bool is_read(const struct load_entry *entry)
{
	return memcmp(&entry->total, &entry->seen[LOAD_METRICS], sizeof(entry->total)) == 0 &&
	       memcmp(&entry->total, &entry->seen[LOAD_REPORT], sizeof(entry->total)) == 0;
}

static bool has_job(const struct load_table *table, const char *job)
{
	for (unsigned i = 1; i < LOAD_ENTRIES; i++)
		if (table->entries[i].is_used && !strcmp(table->entries[i].name.job, job))
			return true;
	return false;
}

size_t load_table_read(struct load_table *table, enum load_reader reader, int64_t now_ns,
		       struct load_sum *out)
{
	size_t count = 0;

	for (unsigned i = 0; i < LOAD_ENTRIES; i++) {
		struct load_entry *entry = &table->entries[i];
		struct load_sum sum = entry->name;

		if (i && !entry->is_used)
			continue;
		sum.is_other = i == 0;
		if (take_difference(&sum.counts, &entry->total, &entry->seen[reader])) {
			entry->changed_ns = now_ns;
		} else if (i && reader == LOAD_METRICS && !entry->holders && is_read(entry) &&
			   now_ns - entry->changed_ns > LOAD_LINGER_NS) {
			entry->is_used = false;
			sum.is_gone = !has_job(table, sum.job);
			if (!sum.is_gone)
				continue;
		} else {
			continue;
		}
		out[count++] = sum;
	}
	return count;
}
