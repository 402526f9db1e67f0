/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Equal bins over a window. The bytes and time of calls are spread evenly over the bins that they
 * cover; a call's number is in the bin of its start. Adding a call takes the same time however many
 * bins it covers.
 */
#ifndef SLUICE_OBSERVE_WINDOW_BINS_H
#define SLUICE_OBSERVE_WINDOW_BINS_H

#include "observe/window/chapter.h"
#include "observe/window/window.h"

struct bins {
	size_t count;
	int64_t from_ns, to_ns, bin_ns;
};

struct bin_values {
	double bytes[2], time_ns;
};

/* The sums of bins: what is completely inside of one, and parts of what is in several. */
struct bin_sums {
	struct window_sum *whole;
	struct bin_values *parts;
	struct bin_values *change; /* of what each bin from this one on gets */
};

/* At most WINDOW_BINS_MAX bins; none if the window is empty. */
struct bins bins_divide(const struct window_frame *frame, size_t count);

/* Sums for `rows` times the bins. */
void bin_sums_init(struct bin_sums *sums, const struct bins *bins, size_t rows);
void bin_sums_release(struct bin_sums *sums);

/* Adds calls to a row. inside: they start in the window, so that their number counts. */
void bins_add(const struct bins *bins, struct bin_sums *sums, size_t row,
	      const struct window_sum *sum, const struct row_span *span, bool inside);

/* The bins of a row; out has room for all. */
void bins_finish(const struct bins *bins, const struct bin_sums *sums, size_t row,
		 struct window_sum *out);

#endif
