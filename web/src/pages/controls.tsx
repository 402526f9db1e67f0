// SPDX-License-Identifier: BSD-3-Clause
// The window and the filter of a run, which stay in sight while the reader scrolls.
import type { TimeView } from '../charts/time_plot';
import type { RunView } from '../lib/run_view';
import { FilterBar } from '../parts/filter_bar';
import { RangeBar } from '../parts/range_bar';

export function Controls({ run, view, hasDuration }: { run: RunView; view: TimeView; hasDuration?: boolean }) {
	const lists = run.overview.data;

	return (
		<div class="controls">
			<RangeBar {...view} />
			<FilterBar filter={run.filter} search={run.search} who={run.who} hasDuration={hasDuration}
				layers={lists?.layers.map(({ layer }) => layer) ?? []}
				functions={[...new Set(lists?.functions.map((row) => row.function))].sort()}
				files={lists?.files.map(({ file }) => file) ?? []} />
		</div>
	);
}
