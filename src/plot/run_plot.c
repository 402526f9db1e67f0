/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/run_plot.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>

#include "base/date.h"
#include "base/err.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"

static void put_members(struct buf *line, const struct profile *profile)
{
	size_t ranks = profile->summary.ranks.count, processes = profile->head->process_count;

	if (ranks)
		buf_printf(line, ", %zu rank%s", ranks, ranks == 1 ? "" : "s");
	if (ranks && profile->summary.ranks.hosts)
		buf_printf(line, " on %zu node%s", profile->summary.ranks.hosts,
			   profile->summary.ranks.hosts == 1 ? "" : "s");
	if (!ranks)
		buf_printf(line, ", %zu process%s", processes, processes == 1 ? "" : "es");
}

void run_plot_start(struct plot *plot, const struct plot_source *source,
		    const struct plot_kind *kind, const char *about)
{
	const struct trace_head *head = source->profile->head;
	AUTO_BUF struct buf line = { 0 };
	char duration[UNIT_TEXT], when[DATE_TEXT];

	figure_init(&plot->figure, kind->title, about);
	if (source->width > 0)
		plot->figure.width = source->width;
	if (source->is_embedded) {
		figure_embed(&plot->figure);
		return;
	}
	if (head->run.command && *head->run.command)
		figure_text(&plot->figure, "%s", head->run.command);
	buf_puts(&line, unit_ns(duration, head->end.duration_ns));
	put_members(&line, source->profile);
	if (head->run.started_ns)
		buf_printf(&line, ", started %s UTC",
			   date_text(when, floor((double)head->run.started_ns / 1e9)));
	if (source->file)
		buf_printf(&line, "; only files that match %s", source->file);
	figure_text(&plot->figure, "%s", buf_text(&line));
}

void run_plot_directions(struct plot *plot)
{
	static const struct figure_key keys[] = { { PLOT_READ_COLOR, "read", false },
						  { PLOT_WRITE_COLOR, "written", false } };

	figure_legend(&plot->figure, keys, 2);
}

size_t run_plot_bins(const struct timeline *timeline, const struct trace_head *head)
{
	int64_t span = head->end.duration_ns - timeline->from_ns;

	if (span <= 0)
		return TIMELINE_BINS;
	return size_max(
		size_min((size_t)((span + timeline->bin_ns - 1) / timeline->bin_ns), TIMELINE_BINS),
		1);
}

double run_plot_time_s(const struct timeline *timeline, size_t bin)
{
	return ((double)timeline->from_ns + (double)bin * (double)timeline->bin_ns) / 1e9;
}

bool run_plot_selects(const struct plot_source *source, file_id file)
{
	const char *path = profile_file(source->profile, file);

	if (source->file)
		return fnmatch(source->file, path, 0) == 0 ||
		       fnmatch(source->file, path_base_name(path), 0) == 0;
	return source->all || profile_file_class(source->profile, file) == FILE_USER;
}

const char *run_plot_member_word(const struct profile *profile)
{
	return profile->summary.ranks.count ? "rank" : "process";
}

char *run_plot_member_name(const struct profile *profile, int64_t member)
{
	const struct trace_head *head = profile->head;

	if (profile->summary.ranks.count || member < 0 || (uint64_t)member >= head->process_count ||
	    !head->processes[member].program)
		return xprintf("%s %" PRId64, run_plot_member_word(profile), member);
	return xprintf("%" PRId64 ": %s", member, path_base_name(head->processes[member].program));
}

int run_plot_no_data(struct err *err, const char *what)
{
	return err_set(err, ENODATA, "this run has no %s to draw", what);
}
