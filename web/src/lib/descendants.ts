// SPDX-License-Identifier: BSD-3-Clause
// The calls below a call. The server tells the direct ones; those below them are asked for one by one, first a few
// automatically, then on request.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { request } from './api';
import type { Activity, ActivityRow } from './types';

/* Automatic requests of one page. Most causal chains are shorter. */
const BUDGET = 24;

export interface Descendants {
	/* undefined: not known yet */
	of: (key: string) => readonly ActivityRow[] | undefined;
	load: (key: string) => void;
}

export function useDescendants(path: string, activity: Activity): Descendants {
	const [known, setKnown] = useState(new Map<string, readonly ActivityRow[]>());
	const abort = useRef(new AbortController());

	const load = useCallback(async (key: string): Promise<readonly ActivityRow[]> => {
		const { signal } = abort.current;

		try {
			const { children } = await request<Activity>(`${path}/activities/${encodeURIComponent(key)}`, { signal });

			if (!signal.aborted)
				setKnown((old) => new Map(old).set(key, children));
			return children;
		} catch { /* the reader can try again */
			return [];
		}
	}, [path]);

	useEffect(() => {
		const controller = new AbortController();

		/* Level by level, the slowest calls first. */
		async function loadSome(): Promise<void> {
			const queue = [...activity.children].sort((a, b) => b.duration_ns - a.duration_ns).map(({ key }) => key);

			for (let i = 0; i < Math.min(queue.length, BUDGET) && !controller.signal.aborted; i++)
				queue.push(...(await load(queue[i])).map(({ key }) => key));
		}

		abort.current = controller;
		setKnown(new Map());
		void loadSome();
		return () => controller.abort();
	}, [activity, load]);
	return { of: (key) => key === activity.key ? activity.children : known.get(key), load: (key) => void load(key) };
}
