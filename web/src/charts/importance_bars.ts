// SPDX-License-Identifier: BSD-3-Clause
// The rows of the chart of importance.
import type { Importance } from '../lib/tuning_types';

export interface Bar {
	name: string;
	share: number;
	remark: string;
	series: number;
}

/* The most important first; what no single parameter explains comes last. */
export function importanceBars(importance: Importance): Bar[] {
	return [
		...[...importance.details].sort((a, b) => b.share - a.share).map(({ name, share, best }) =>
			({ name, share, remark: `best: ${best ?? 'unset'}`, series: 0 })),
		{ name: 'combinations', share: Math.max(0, importance.together), remark: '', series: 2 },
		{ name: 'noise, or too few trials', share: importance.unexplained, remark: '', series: 6 },
	];
}
