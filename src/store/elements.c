/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/elements.h"

#include <stdlib.h>

#include "base/mem.h"

void elements_add(struct elements *elements, const struct element *row)
{
	elements->rows = xgrow(elements->rows, &elements->cap, elements->count + 1, sizeof(*row));
	elements->rows[elements->count++] = *row;
}

void elements_release(struct elements *elements)
{
	free(elements->rows);
	*elements = (struct elements){ 0 };
}
