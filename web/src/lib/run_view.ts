// SPDX-License-Identifier: BSD-3-Clause
// What the pages of a run have in common: its filter, its window, and the requests that both lead to.
import { useCallback, useMemo } from 'preact/hooks';
import type { TimeView } from '../charts/time_plot';
import { useApi, type Answer } from './api';
import { changeQuery, filterQuery, filterSpan, parseFilter, spanChanges, type Filter } from './filter';
import { changePlace, usePlace } from './location';
import type { Span } from './span';
import type { RunRow, Runs, WindowAnswer } from './types';

export interface RunView {
	id: string;
	path: string; /* of the API */
	search: string;
	row: RunRow | null; /* what the list of runs says about it; null: not known yet */
	filter: Filter;
	overview: Answer<WindowAnswer>; /* of the whole run and all calls */
	view: TimeView | null; /* null until the length of the run is known */
	who: 'rank' | 'process';
}

export function useRunRow(id: string): RunRow | null {
	const { data } = useApi<Runs>(`/runs?search=${encodeURIComponent(id)}&limit=10`);

	return data?.runs.find((row) => row.id === id) ?? null;
}

export function useRunView(id: string): RunView {
	const { search } = usePlace();
	const path = `/runs/${encodeURIComponent(id)}`, row = useRunRow(id);
	const overview = useApi<WindowAnswer>(`${path}/window?level=all&bins=1`, { isFixed: true });
	const filter = useMemo(() => parseFilter(search), [search]);
	const from = overview.data?.from_ns ?? null, to = overview.data?.to_ns ?? null;
	const whole = useMemo<Span | null>(() => from !== null && to !== null && from < to ? { from, to } : null, [from, to]);
	const onSpan = useCallback((span: Span, kind: 'step' | 'choice') => {
		if (whole)
			changePlace(changeQuery(location.search, spanChanges(span, whole)), kind);
	}, [whole]);
	const view = useMemo(() => whole && { span: filterSpan(filter, whole), whole, onSpan }, [filter, whole, onSpan]);

	return {
		id, path, search, row, filter, overview, view,
		who: row?.ranks ? 'rank' : 'process',
	};
}

/* The path of a request about the calls that the filter selects. */
export function windowPath(run: RunView, what: string, parameters: Record<string, string | number> = {}, filter: Filter = run.filter): string {
	const query = filterQuery({ ...filter, min_ns: what === 'activities' ? filter.min_ns : null });

	for (const [name, value] of Object.entries(parameters))
		query.set(name, String(value));
	const text = query.toString();
	return `${run.path}/${what}${text && `?${text}`}`;
}
