// SPDX-License-Identifier: BSD-3-Clause
// The address bar is the state of the application. Paths are those of lib/route.ts, without the base path of the server.
import { useEffect, useState } from 'preact/hooks';

export interface Place {
	path: string;
	search: string;
}

/* Steps that follow each other this fast are one entry of the history. */
const COALESCE_MS = 1000;

const base = new URL(document.baseURI).pathname.replace(/\/$/, '');
const listeners = new Set<() => void>();
let lastStep = 0;

export function currentPlace(): Place {
	const path = location.pathname;

	return { path: path.startsWith(base) ? path.slice(base.length) || '/' : path, search: location.search };
}

/* The address of a path of the application, for links and requests. */
export function address(path: string): string {
	return base + path;
}

function notify(): void {
	listeners.forEach((listener) => listener());
}

export function navigate(path: string, options: { replace?: boolean; keepScroll?: boolean } = {}): void {
	if (options.replace)
		history.replaceState(null, '', address(path));
	else
		history.pushState(null, '', address(path));
	if (!options.keepScroll)
		scrollTo(0, 0);
	notify();
}

/* Changes the query of the current page. A quick series of steps can be undone by going back once. */
export function changePlace(search: string, kind: 'step' | 'choice' = 'choice'): void {
	const now = performance.now(), isSeries = kind === 'step' && now - lastStep < COALESCE_MS;

	lastStep = kind === 'step' ? now : 0;
	if (search !== location.search)
		navigate(currentPlace().path + search, { replace: isSeries, keepScroll: true });
}

export function usePlace(): Place {
	const [place, setPlace] = useState(currentPlace);

	useEffect(() => {
		const update = () => setPlace(currentPlace());

		listeners.add(update);
		addEventListener('popstate', update);
		return () => {
			listeners.delete(update);
			removeEventListener('popstate', update);
		};
	}, []);
	return place;
}
