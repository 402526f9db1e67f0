// SPDX-License-Identifier: BSD-3-Clause
// The addresses of the pages, below the base path.

/* Their addresses are their names. */
const PLAIN = ['runs', 'programs', 'compare', 'tunings', 'knowledge', 'storage', 'node', 'model', 'site', 'settings'] as const;
type PlainPage = typeof PLAIN[number];

export type Route =
	| { page: PlainPage }
	| { page: 'program'; name: string }
	| { page: 'tuning'; id: string }
	| { page: 'run' | 'window' | 'execution' | 'activities'; id: string }
	| { page: 'activity'; id: string; key: string }
	| { page: 'missing'; path: string };

function decode(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

export function parseRoute(path: string): Route {
	const parts = path.split('/').filter(Boolean).map(decode);
	const [first, id, page, key] = parts, plain = PLAIN.find((name) => name === first);

	if (parts.length === 0)
		return { page: 'runs' };
	if (parts.length === 1 && plain)
		return { page: plain };
	if (first === 'programs' && parts.length === 2)
		return { page: 'program', name: id };
	if (first === 'tunings' && parts.length === 2)
		return { page: 'tuning', id };
	if (first === 'runs' && parts.length === 2)
		return { page: 'run', id };
	if (first === 'runs' && parts.length === 3 && (page === 'window' || page === 'execution' || page === 'activities'))
		return { page, id };
	if (first === 'runs' && parts.length === 4 && page === 'activities')
		return { page: 'activity', id, key };
	return { page: 'missing', path };
}

export function routePath(route: Route): string {
	switch (route.page) {
	case 'program':
		return `/programs/${encodeURIComponent(route.name)}`;
	case 'tuning':
		return `/tunings/${encodeURIComponent(route.id)}`;
	case 'run':
		return `/runs/${encodeURIComponent(route.id)}`;
	case 'window':
	case 'execution':
	case 'activities':
		return `/runs/${encodeURIComponent(route.id)}/${route.page}`;
	case 'activity':
		return `/runs/${encodeURIComponent(route.id)}/activities/${encodeURIComponent(route.key)}`;
	case 'missing':
		return route.path;
	default:
		return `/${route.page}`;
	}
}
