// SPDX-License-Identifier: BSD-3-Clause
// What the page waits for: requests, and how much of a run is indexed, which is the least of the answers on the page.
import { createStore } from './store';

const parts = new Map<string, number>();
export const covered = createStore(1);

/* The number of requests that have no answer yet. */
export const pending = createStore(0);

export function reportCovered(path: string, part: number): void {
	if (part < 1)
		parts.set(path, part);
	else
		parts.delete(path);
	covered.set(Math.min(1, ...parts.values()));
}
