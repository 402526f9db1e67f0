/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/merged_head.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/interruption.h"

struct merged_head *merged_head_new(void)
{
	struct merged_head *merged = xcalloc(1, sizeof(*merged));

	head_init(&merged->builder, &merged->head);
	merged->head.format = trace_container.name;
	return merged;
}

void merged_head_free(struct merged_head *merged)
{
	if (!merged)
		return;
	head_release(&merged->head);
	map_release(&merged->paths);
	for (size_t i = 0; i < merged->host_count; i++)
		free(merged->hosts[i]);
	free(merged->hosts);
	free(merged);
}

/* The ranks of a part are on few hosts, so the last one is usually right. */
const char *merged_head_host(void *merged, const char *name)
{
	struct merged_head *m = merged;

	for (size_t i = m->host_count; i-- > 0;) {
		if (strcmp(m->hosts[i], name) == 0)
			return m->hosts[i];
	}
	m->hosts = xgrow(m->hosts, &m->host_cap, m->host_count + 1, sizeof(*m->hosts));
	return m->hosts[m->host_count++] = xstrdup(name);
}

/* Adds a copy of a row; the texts of `row` stay with their owner. */
static void add_fact(struct merged_head *m, const struct fact *fact, const void *row)
{
	union fact_row copy = { 0 };
	struct err err;

	memcpy(&copy, row, fact->bytes);
	for (size_t i = 0; i < fact->count; i++) {
		char **text = (char **)((char *)&copy + fact->fields[i].offset);

		if (fact->fields[i].type == FACT_TEXT)
			*text = xstrdup(*text);
	}
	/* It cannot fail, because the part's head has been checked. */
	head_add(&m->builder, fact, &copy, &err);
}

static bool same_call(const struct call_info *a, const struct call_info *b)
{
	return a->layer == b->layer && a->class == b->class && strcmp(a->name, b->name) == 0;
}

/* Most parts have the same table. */
static uint16_t find_call(struct merged_head *m, const struct call_info *call, size_t guess)
{
	struct trace_head *head = &m->head;
	struct call_row row;

	if (guess < head->call_count && same_call(&head->calls[guess], call))
		return (uint16_t)guess;
	for (size_t i = 0; i < head->call_count; i++) {
		if (same_call(&head->calls[i], call))
			return (uint16_t)i;
	}
	if (head->call_count > UINT16_MAX)
		return 0;
	row = call_row_make(call, head->call_count);
	add_fact(m, &fact_call, &row);
	fact_release(&fact_call, &row);
	return (uint16_t)(head->call_count - 1);
}

static file_id find_file(struct merged_head *m, const char *path)
{
	uint64_t key = XXH64(path, strlen(path), 0);
	struct file_row row = { .path = (char *)path };
	file_id id;

	for (key += !key; (id = (file_id)(uintptr_t)map_get(&m->paths, key)); key += 1 + !(key + 1))
		if (strcmp(m->head.files[id], path) == 0)
			return id;
	if (m->head.file_count >= MERGED_FILES_MAX) {
		m->lost_files++;
		return 0;
	}
	row.id = (uint32_t)m->head.file_count;
	map_put(&m->paths, key, (void *)(uintptr_t)row.id);
	add_fact(m, &fact_file, &row);
	return row.id;
}

static void add_processes(struct merged_head *m, const struct trace_head *part,
			  const struct merged_map *map)
{
	for (size_t i = 0; i < part->process_count; i++) {
		struct process_info process = part->processes[i];

		if (m->head.process_count >= MERGED_PROCESSES_MAX)
			break;
		process.index = map->process_base + (uint32_t)i;
		if (process.parent >= 0)
			process.parent += (int32_t)map->process_base;
		process.attached_ns += map->shift_ns;
		add_fact(m, &fact_process, &process);
	}
}

/* The number in the merged head; -1 if it was left out. */
static int32_t find_process(const struct merged_head *m, const struct merged_map *map,
			    int32_t process)
{
	int64_t number = process + (int64_t)map->process_base;

	return process >= 0 && number < (int64_t)m->head.process_count ? (int32_t)number : -1;
}

static void add_notes(struct merged_head *m, const struct trace_head *part,
		      const struct merged_map *map)
{
	struct note interruption;

	if (interruption_make_note(&interruption, part))
		add_fact(m, &fact_note, &interruption);
	for (size_t i = 0; i < part->note_count; i++) {
		struct note note = part->notes[i];

		if (m->head.note_count >= MERGED_NOTES_MAX) {
			m->lost_notes += part->note_count - i;
			return;
		}
		note.process = find_process(m, map, note.process);
		if (note.time_ns >= 0)
			note.time_ns += map->shift_ns;
		add_fact(m, &fact_note, &note);
	}
}

/* Losses and counted calls of processes that were left out go to the first process. */
static void add_losses(struct merged_head *m, const struct trace_head *part,
		       const struct merged_map *map)
{
	for (size_t i = 0; i < part->loss_count; i++) {
		struct loss_info loss = part->losses[i];
		int32_t process = find_process(m, map, (int32_t)loss.process);

		loss.process = process < 0 ? 0 : (uint32_t)process;
		add_fact(m, &fact_loss, &loss);
	}
	for (size_t i = 0; i < part->aggregate_count; i++) {
		struct aggregate counted = part->aggregates[i];
		int32_t process = find_process(m, map, (int32_t)counted.process);
		struct aggregate_row row;

		counted.process = process < 0 ? 0 : (uint32_t)process;
		counted.file = map->files[counted.file];
		row = aggregate_row_make(&counted);
		add_fact(m, &fact_aggregate, &row);
		fact_release(&fact_aggregate, &row);
	}
}

static void add_statistics(struct merged_head *m, const struct trace_head *part,
			   const struct merged_map *map)
{
	uint32_t base = (uint32_t)m->head.statistic_count;

	if (base + part->statistic_count > MERGED_STATISTICS_MAX ||
	    m->head.sample_count + part->sample_count > MERGED_SAMPLES_MAX)
		return;
	for (size_t i = 0; i < part->statistic_count; i++) {
		struct statistic_info statistic = part->statistics[i];

		statistic.number += base;
		add_fact(m, &fact_statistic, &statistic);
	}
	for (size_t i = 0; i < part->sample_count; i++) {
		struct stat_sample sample = part->samples[i];

		sample.statistic += base;
		sample.time_ns += map->shift_ns;
		add_fact(m, &fact_sample, &sample);
	}
}

static void add_run(struct merged_head *m, const struct trace_head *part,
		    const struct merged_map *map)
{
	struct trace_head *head = &m->head;
	int64_t end = map->shift_ns + part->end.duration_ns;

	if (!m->parts) {
		add_fact(m, &fact_run, &part->run);
		head->end = part->end;
	}
	if (!m->parts || map->shift_ns < m->first_ns)
		m->first_ns = map->shift_ns;
	if (!m->parts || end > m->last_ns)
		m->last_ns = end;
	head->end.duration_ns = m->last_ns - m->first_ns;
	head->end.complete &= part->end.complete;
	if (!head->end.exit_status)
		head->end.exit_status = part->end.exit_status;
	head->activities += part->activities;
	head->damaged_blocks += part->damaged_blocks;
	m->parts++;
}

struct merged_map merged_head_add(struct merged_head *merged, const struct trace_head *part,
				  uint32_t process_base)
{
	struct merged_map map = {
		.calls = xcalloc(part->call_count + 1, sizeof(*map.calls)),
		.files = xcalloc(part->file_count + 1, sizeof(*map.files)),
		.process_base = process_base,
		.shift_ns = merged->parts ? part->run.started_ns - merged->head.run.started_ns : 0,
	};

	for (size_t i = 0; i < part->call_count; i++)
		map.calls[i] = find_call(merged, &part->calls[i], i);
	for (size_t i = 1; i < part->file_count; i++)
		map.files[i] = find_file(merged, part->files[i]);
	add_run(merged, part, &map);
	add_processes(merged, part, &map);
	add_notes(merged, part, &map);
	add_losses(merged, part, &map);
	add_statistics(merged, part, &map);
	return map;
}

void merged_map_release(struct merged_map *map)
{
	free(map->calls);
	free(map->files);
	*map = (struct merged_map){ 0 };
}
