/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `sluice lab learn` prints on standard output, as text or as JSON of schema sluice.learn/1:
 * the methods, the columns of a table, a model, the leaderboard of a selection.
 */
#ifndef SLUICE_LAB_LEARN_PRINT_H
#define SLUICE_LAB_LEARN_PRINT_H

#include <stdbool.h>
#include <stddef.h>

struct dataset;
struct model;
struct model_rows;
struct selection;
struct selection_plan;

#define LEARN_SCHEMA "sluice.learn/1"

/* The recipe as text; "none" for an empty one. */
static inline const char *learn_recipe_text(const char *recipe)
{
	return recipe && *recipe ? recipe : "none";
}

/* Prints all methods with their settings. */
void learn_print_methods(bool json);

/* Prints type, range and missing values of each column. */
void learn_print_table(const char *path, const struct dataset *dataset, bool json);

/*
 * Prints the origin, score, prediction interval and most important inputs of a model. `path` NULL:
 * the model was just fitted; its inner description is left out. `coverage` is that of the interval.
 */
void learn_print_model(const char *path, const struct model *model, double coverage, bool json);

/*
 * Prints the candidates of a selection, best first. `all`: every candidate; else the best one of
 * each method. `split` is a word of FOLDS_WORDS.
 */
void learn_print_board(const struct selection *selection, const struct selection_plan *plan,
		       const struct model_rows *rows, const char *split, bool all, bool json);

#endif
