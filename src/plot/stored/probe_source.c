/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/stored/probe_source.h"

#include "base/date.h"
#include "base/err.h"

int probe_source_open(struct forecast_data *data, const struct plot_source *source, double from_s,
		      struct err *err)
{
	struct forecast_query query;

	forecast_query_init(&query, source->config);
	if (source->name) {
		query.system = source->name;
		query.is_default_system = false;
	}
	query.from_s = from_s;
	return forecast_data_open(data, &query, err);
}

void probe_source_start(const struct forecast_data *data, const struct plot_kind *kind,
			const char *about, struct plot *plot)
{
	const struct chronicle *rows = forecast_data_rows(data);
	char from[DATE_TEXT], to[DATE_TEXT];
	double from_s, to_s;

	figure_init(&plot->figure, kind->title, about);
	if (chronicle_span(rows, &from_s, &to_s))
		figure_text(&plot->figure, "%s: %zu target%s, %s to %s UTC", rows->system,
			    rows->target_count, rows->target_count == 1 ? "" : "s",
			    date_text(from, from_s), date_text(to, to_s));
}
