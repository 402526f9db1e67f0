/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast evaluate --csv: writes the rows that the methods were evaluated on, with labels,
 * folds, features and, for rows of the test, the score of each method and its probability of busy.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cmd/forecast/forecast_internal.h"

static void write_header(FILE *out, const struct judgment *judgment,
			 const struct features_plan *plan)
{
	fputs("target,bytes,time_s,seconds,set,label,posterior,busy,shuffled_fold,blocked_fold",
	      out);
	for (size_t i = 0; i < features_width(plan); i++)
		fprintf(out, ",%s", features_name(plan, i));
	for (size_t m = 0; m < JUDGMENT_METHODS; m++)
		if (judgment->methods[m])
			fprintf(out, ",score_%s,chance_%s", judgment_method(m), judgment_method(m));
	putc('\n', out);
}

/* Writes an empty cell if the value is missing. */
static void write_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, ",%.17g", value);
	else
		putc(',', out);
}

static void write_fold(FILE *out, const uint32_t *folds, size_t row, size_t train)
{
	if (folds && row < train)
		fprintf(out, ",%u", folds[row]);
	else
		putc(',', out);
}

static void write_row(FILE *out, const struct evaluated *evaluated,
		      const struct judgment_case *judged, const struct judgment_rows *rows,
		      const char *target, size_t i)
{
	bool is_test = i >= rows->train;

	fprintf(out, "%s,%llu,%.17g,%.17g,%s,%g,%.17g,", target,
		(unsigned long long)evaluated->chronicle->sizes[judged->size], rows->rows.time_s[i],
		rows->rows.seconds[i], is_test ? "test" : "train", rows->labels[i],
		rows->posterior[i]);
	if (rows->busy)
		fprintf(out, "%d", rows->busy[i]);
	write_fold(out, rows->shuffled, i, rows->train);
	write_fold(out, rows->blocked, i, rows->train);
	for (size_t k = 0; k < rows->rows.width; k++)
		write_number(out, rows->rows.x[i * rows->rows.width + k]);
	for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
		const struct judgment_cell *cell = &judged->cells[m];
		bool is_known = is_test && cell->is_known;

		if (!evaluated->judgment.methods[m])
			continue;
		write_number(out, is_known ? cell->score[i - rows->train] : NAN);
		write_number(out, is_known ? cell->chance[i - rows->train] : NAN);
	}
	putc('\n', out);
}

static int write_case(FILE *out, const struct evaluated *evaluated,
		      const struct judgment_case *judged, const struct features *features,
		      const struct judgment_plan *plan, struct err *err)
{
	AUTO_BUF struct buf target = { 0 };
	struct judgment_rows rows;
	int r = judgment_rows_make(&rows, &evaluated->judgment, evaluated->chronicle, features,
				   plan, judged->target, judged->size, err);

	if (r < 0)
		return r;
	buf_put_csv_cell(&target, evaluated->chronicle->targets[judged->target]);
	for (size_t i = 0; i < rows.rows.rows; i++)
		write_row(out, evaluated, judged, &rows, buf_text(&target), i);
	judgment_rows_release(&rows);
	return 0;
}

int forecast_csv(const struct command *command, const struct forecast_args *args,
		 const struct evaluated *evaluated, const struct site *site,
		 const struct judgment_plan *plan)
{
	AUTO_FCLOSE FILE *out = fopen(args->csv, "we");
	struct features_plan features_plan = plan->features;
	struct features features;
	struct err err = { 0 };
	int r = 0;

	if (!out)
		return command_fail(command, "%s: %s", args->csv, strerror(errno));
	features_plan.chains = evaluated->judgment.chains;
	features_plan.borders = evaluated->judgment.borders;
	features_plan.ignores_programs = evaluated->judgment.ignores_programs;
	features_init(&features, evaluated->chronicle, site, &features_plan);
	write_header(out, &evaluated->judgment, &plan->features);
	for (size_t i = 0; r >= 0 && i < evaluated->judgment.case_count; i++)
		r = write_case(out, evaluated, &evaluated->judgment.cases[i], &features, plan,
			       &err);
	features_release(&features);
	if (r < 0)
		return command_fail_err(command, r, &err);
	if (fflush(out) != 0 || ferror(out))
		return command_fail(command, "%s: %s", args->csv, strerror(errno));
	return COMMAND_GOOD;
}
