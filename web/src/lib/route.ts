// SPDX-License-Identifier: BSD-3-Clause
// The addresses of the pages, below the base path.

export type Route =
	| { page: 'runs' | 'compare' | 'site' | 'settings' }
	| { page: 'storage' | 'node' | 'model' }
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
	const [first, id, page, key] = parts;

	if (parts.length === 0 || (first === 'runs' && parts.length === 1))
		return { page: 'runs' };
	if (parts.length === 1 && (first === 'compare' || first === 'site' || first === 'settings'))
		return { page: first };
	if (parts.length === 1 && (first === 'storage' || first === 'node' || first === 'model'))
		return { page: first };
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
	case 'runs':
	case 'compare':
	case 'site':
	case 'settings':
	case 'storage':
	case 'node':
	case 'model':
		return `/${route.page}`;
	case 'run':
		return `/runs/${encodeURIComponent(route.id)}`;
	case 'activity':
		return `/runs/${encodeURIComponent(route.id)}/activities/${encodeURIComponent(route.key)}`;
	case 'missing':
		return route.path;
	default:
		return `/runs/${encodeURIComponent(route.id)}/${route.page}`;
	}
}
