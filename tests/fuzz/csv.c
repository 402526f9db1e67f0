/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a table. An accepted table must be consistent, and must be the same
 * after it was written and read again.
 */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->rows * dataset->width; i++) {
		const struct column *column = &dataset->columns[i % dataset->width];
		double value = dataset->values[i];

		if (column->levels && !isnan(value) &&
		    !(value >= 0 && value < (double)column->level_count))
			abort();
	}
	for (size_t i = 0; i < dataset->width; i++) {
		if (!*dataset->columns[i].name)
			abort();
	}
}

static void compare(const struct dataset *a, const struct dataset *b)
{
	if (a->rows != b->rows || a->width != b->width)
		abort();
	for (size_t i = 0; i < a->rows * a->width; i++) {
		if (a->values[i] != b->values[i] && !(isnan(a->values[i]) && isnan(b->values[i])))
			abort();
	}
	for (size_t i = 0; i < a->width; i++) {
		if (strcmp(a->columns[i].name, b->columns[i].name) != 0)
			abort();
		for (size_t j = 0; j < a->columns[i].level_count; j++)
			if (strcmp(a->columns[i].levels[j], b->columns[i].levels[j]) != 0)
				abort();
	}
}

static void write_and_read(const struct dataset *dataset)
{
	struct dataset again = { 0 };
	struct err err;
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/sluice-fuzz-%d.csv", (int)getpid());
	if (csv_write(dataset, path, &err) < 0 || csv_read(&again, path, &err) < 0)
		abort();
	unlink(path);
	compare(dataset, &again);
	dataset_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dataset dataset = { 0 };
	struct err err;

	if (csv_parse(&dataset, "fuzz", (const char *)data, size, &err) < 0)
		return 0;
	check(&dataset);
	if (size < 1 << 14)
		write_and_read(&dataset);
	dataset_release(&dataset);
	return 0;
}
