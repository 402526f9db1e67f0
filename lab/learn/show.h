/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `sluice learn` prints on standard output, as text or as JSON of schema sluice.learn/1:
 * methods, a table's columns, a model, a leaderboard.
 */
#ifndef SLUICE_LAB_LEARN_SHOW_H
#define SLUICE_LAB_LEARN_SHOW_H

#include <stdbool.h>
#include <stddef.h>

struct dataset;
struct model;
struct model_rows;
struct selection;
struct selection_plan;

#define LEARN_SCHEMA "sluice.learn/1"

/* "none" where there is none. */
static inline const char *learn_show_recipe(const char *recipe)
{
	return recipe && *recipe ? recipe : "none";
}

void learn_show_methods(bool json);
void learn_show_table(const char *path, const struct dataset *dataset, bool json);

/* coverage: of the intervals it tells about. */
void learn_show_model(const char *path, const struct model *model, double coverage, bool json);

/* all: every candidate; else the best one of each method. split: as in FOLDS_WORDS. */
void learn_show_board(const struct selection *selection, const struct selection_plan *plan,
		      const struct model_rows *rows, const char *split, bool all, bool json);

#endif
