// SPDX-License-Identifier: BSD-3-Clause
// How much of a run is indexed: the least of the answers that are on the page.
import { createStore } from './store';

const parts = new Map<string, number>();
export const covered = createStore(1);

export function reportCovered(path: string, part: number): void {
	if (part < 1)
		parts.set(path, part);
	else
		parts.delete(path);
	covered.set(Math.min(1, ...parts.values()));
}
