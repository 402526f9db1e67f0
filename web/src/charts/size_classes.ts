// SPDX-License-Identifier: BSD-3-Clause
// Calls by the size of their requests.
import type { WindowAnswer } from '../lib/types';

export interface SizeClass {
	low: number;
	high: number | null; /* null: no limit */
	reads: number;
	writes: number;
}

/* The classes from the smallest to the largest that has calls. */
export function sizeClasses(sizes: WindowAnswer['sizes']): SizeClass[] {
	const all = sizes.edges.map((low, i) => ({
		low, high: sizes.edges[i + 1] ?? null, reads: sizes.reads[i] ?? 0, writes: sizes.writes[i] ?? 0,
	}));
	const used = all.map(({ reads, writes }) => reads + writes > 0);
	const first = used.indexOf(true);

	return first < 0 ? [] : all.slice(first, used.lastIndexOf(true) + 1);
}
