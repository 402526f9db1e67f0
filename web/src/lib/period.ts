// SPDX-License-Identifier: BSD-3-Clause
// A window of dates. The address holds it as from_ns and to_ns; without them the server chooses.
import { useCallback, useMemo } from 'preact/hooks';
import type { TimeView } from '../charts/time_plot';
import { changeQuery, parseFilter } from './filter';
import { changePlace } from './location';
import type { Span } from './span';
import type { ProbeView } from './storage_types';

/* The parameters of a request for the window of the address. */
export function periodQuery(search: string): Record<string, string> {
	const { from_ns, to_ns } = parseFilter(search);

	return { ...from_ns !== null && { from_ns: String(from_ns) }, ...to_ns !== null && { to_ns: String(to_ns) } };
}

/* The path of a request: parameters that are null are left out. */
export function withQuery(path: string, parameters: Record<string, string | null>): string {
	const text = changeQuery('', parameters);

	return path + text;
}

/* What an answer shows, and all that there is; null: there is no data. */
export function periodSpans(view: ProbeView): { span: Span; whole: Span } | null {
	const { first_ns, last_ns, from_ns, to_ns } = view;

	if (first_ns === null || last_ns === null || from_ns === null || to_ns === null)
		return null;
	return {
		span: { from: from_ns, to: to_ns },
		whole: { from: Math.min(first_ns, from_ns), to: Math.max(last_ns, to_ns) },
	};
}

export function usePeriod(view: ProbeView | null): TimeView | null {
	const onSpan = useCallback((span: Span, kind: 'step' | 'choice') =>
		changePlace(changeQuery(location.search, { from_ns: String(span.from), to_ns: String(span.to) }), kind), []);

	return useMemo(() => {
		const spans = view && periodSpans(view);

		return spans && { ...spans, onSpan };
	}, [view, onSpan]);
}
