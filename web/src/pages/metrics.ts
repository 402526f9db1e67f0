// SPDX-License-Identifier: BSD-3-Clause
// The metrics that a comparison has for its rows.
import { formatBytes, formatCount, formatRatio, formatTime, known } from '../lib/format';
import type { ComparedRow, Difference } from '../lib/types';

export interface Metric {
	name: string;
	title: string;
	format: (value: number) => string;
}

export const METRICS: readonly Metric[] = [
	{ name: 'run_time', title: 'run time', format: formatTime },
	{ name: 'io_time', title: 'time in I/O', format: formatTime },
	{ name: 'time', title: 'time of all threads', format: formatTime },
	{ name: 'time_per_call', title: 'time per call', format: formatTime },
	{ name: 'calls', title: 'calls', format: formatCount },
	{ name: 'errors', title: 'failed calls', format: formatCount },
	{ name: 'bytes_read', title: 'read', format: formatBytes },
	{ name: 'bytes_written', title: 'written', format: formatBytes },
	{ name: 'bytes_per_transfer', title: 'bytes per transfer', format: formatBytes },
	{ name: 'level', title: 'level', format: (value) => Number(value.toPrecision(4)).toString() },
];

export function difference(row: ComparedRow, metric: string): Difference | null {
	const value = row[metric];

	return typeof value === 'object' && value !== null && 'verdict' in value ? value as Difference : null;
}

export function ratioText(found: Difference | null): string {
	return known(found?.ratio, formatRatio);
}

/* The words of `sluice compare`. */
export function verdictText(result: Difference): string {
	const times = `run time A ${known(result.a, formatTime)}, B ${known(result.b, formatTime)}`;

	switch (result.verdict) {
	case 'same':
		return `${times}: no difference`;
	case 'too few runs':
		return `${times}: not significant without repetitions`;
	default:
		return `${times}: ${result.verdict}${result.ratio !== null ? ` (B/A ${formatRatio(result.ratio)})` : ''}`;
	}
}
