// SPDX-License-Identifier: BSD-3-Clause
// Which calls of a run are shown. The address of the page holds the filter, under the names that the API uses.
import type { Span } from './span';

export const LEVELS = ['program', 'storage', 'all'] as const;
export type Level = typeof LEVELS[number];

export interface Filter {
	from_ns: number | null;
	to_ns: number | null;
	level: Level;
	layer: string | null;
	function: string | null;
	file: string | null;
	member: number | null;
	errors: boolean;
	min_ns: number | null;
}

function parseNumber(text: string | null): number | null {
	return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

export function parseFilter(search: string): Filter {
	const query = new URLSearchParams(search);
	const level = LEVELS.find((name) => name === query.get('level'));

	return {
		from_ns: parseNumber(query.get('from_ns')),
		to_ns: parseNumber(query.get('to_ns')),
		level: level ?? 'program',
		layer: query.get('layer') || null,
		function: query.get('function') || null,
		file: query.get('file') || null,
		member: parseNumber(query.get('member')),
		errors: query.get('errors') === '1',
		min_ns: parseNumber(query.get('min_ns')),
	};
}

/* Only what differs from the default, so that the same view has one address. */
export function filterQuery(filter: Filter): URLSearchParams {
	const query = new URLSearchParams();

	if (filter.from_ns !== null)
		query.set('from_ns', String(filter.from_ns));
	if (filter.to_ns !== null)
		query.set('to_ns', String(filter.to_ns));
	if (filter.level !== 'program')
		query.set('level', filter.level);
	for (const name of ['layer', 'function', 'file'] as const) {
		const value = filter[name];

		if (value !== null)
			query.set(name, value);
	}
	if (filter.member !== null)
		query.set('member', String(filter.member));
	if (filter.errors)
		query.set('errors', '1');
	if (filter.min_ns !== null)
		query.set('min_ns', String(filter.min_ns));
	return query;
}

/* Changes parameters of an address and keeps the others; null removes one. */
export function changeQuery(search: string, changes: Record<string, string | null>): string {
	const query = new URLSearchParams(search);

	for (const [name, value] of Object.entries(changes)) {
		if (value === null || value === '')
			query.delete(name);
		else
			query.set(name, value);
	}
	const text = query.toString();
	return text && `?${text}`;
}

/* The window that a filter selects. */
export function filterSpan(filter: Filter, whole: Span): Span {
	const from = Math.max(filter.from_ns ?? whole.from, whole.from);
	const to = Math.min(filter.to_ns ?? whole.to, whole.to);

	return from < to ? { from, to } : whole;
}

/* The parameters of an address that select a window; the whole run needs none. */
export function spanChanges(span: Span, whole: Span): Record<string, string | null> {
	return {
		from_ns: span.from > whole.from ? String(span.from) : null,
		to_ns: span.to < whole.to ? String(span.to) : null,
		offset: null,
	};
}
