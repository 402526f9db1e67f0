// SPDX-License-Identifier: BSD-3-Clause
// What the runs of a tuning say, as far as the tuner itself does not say it.
import { formatBytes, formatTime } from './format';
import type { Dimension, Gain, Phase, TuningRun } from './tuning_types';

const GIB = 2 ** 30, UNKNOWN = '–';

export const PHASE_NAMES: Record<Phase, string> = {
	default: 'baseline', drift: 'baseline', search: 'search', simplify: 'simplification', proof: 'confirmation',
	unrecorded: 'without recording', partial: 'ablation',
};

export const COST_TITLES: Record<string, string> = {
	io: 'I/O time', run: 'run time', read: 'time per GiB read', write: 'time per GiB written',
};

export function isPerByte(objective: string | null): boolean {
	return objective === 'read' || objective === 'write';
}

/* As the tuner writes it: a time, or a rate. */
export function formatCost(objective: string | null, cost: number | null | undefined): string {
	if (cost === null || cost === undefined || !(cost > 0))
		return UNKNOWN;
	return isPerByte(objective) ? `${formatBytes(1 / cost)}/s` : formatTime(cost * 1e9);
}

/* The number that charts show: seconds, or seconds per GiB. */
export function costSeconds(objective: string | null, cost: number): number {
	return isPerByte(objective) ? cost * GIB : cost;
}

export function formatGain({ gain, gain_low, gain_high }: Pick<Gain, 'gain' | 'gain_low' | 'gain_high'>): string {
	if (gain === null)
		return UNKNOWN;
	const interval = gain_low !== null && gain_high !== null && gain_low !== gain_high ? ` (${gain_low.toFixed(2)} to ${gain_high.toFixed(2)})` : '';

	return `${gain.toFixed(2)} ×${interval}`;
}

/* How the data was compared is a word and what it is about: "identical: 2 files, 1.50 GiB". */
export function comparedWord(compared: string | null): string {
	return compared?.split(':')[0] ?? UNKNOWN;
}

export function isBaseline(run: TuningRun): boolean {
	return run.baseline && run.phase !== 'unrecorded' && run.phase !== 'partial';
}

/* Runs without recording have no cost of the objective. */
export function hasCost(run: TuningRun): run is TuningRun & { cost: number } {
	return run.phase !== 'unrecorded' && run.state === 'good' && run.cost !== null && run.cost > 0;
}

/* The lowest cost of the baseline and the search so far, at each of their runs; later runs only confirm it. */
export function bestSoFar(runs: readonly TuningRun[]): { number: number; cost: number }[] {
	const steps: { number: number; cost: number }[] = [];
	let best = Infinity;

	for (const run of runs) {
		if (!hasCost(run) || !['default', 'drift', 'search'].includes(run.phase))
			continue;
		best = Math.min(best, run.cost);
		steps.push({ number: run.number, cost: best });
	}
	return steps;
}

/* Adds runs that the server has sent; a stream that was interrupted may send some again. */
export function mergeRuns(known: readonly TuningRun[], more: readonly TuningRun[]): TuningRun[] {
	const byNumber = new Map(known.map((run) => [run.number, run]));

	more.forEach((run) => byNumber.set(run.number, run));
	return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

/* --- filters: a range of each axis, which the address holds as d0=1..3 (indices of values) and cost=0.1..2 --- */

export interface Range {
	low: number;
	high: number;
}

export interface Brushes {
	dimensions: (Range | null)[];
	cost: Range | null;
}

function parseRange(text: string | null): Range | null {
	const parts = text?.split('..') ?? [], [low, high] = parts.map(Number);

	return parts.length === 2 && parts.every((part) => part !== '') && low <= high ? { low, high } : null;
}

export function rangeText({ low, high }: Range): string {
	return `${low}..${high}`;
}

export function parseBrushes(search: string, space: readonly Dimension[]): Brushes {
	const query = new URLSearchParams(search);

	return { dimensions: space.map((_, i) => parseRange(query.get(`d${i}`))), cost: parseRange(query.get('cost')) };
}

export function hasBrush({ dimensions, cost }: Brushes): boolean {
	return cost !== null || dimensions.some((range) => range !== null);
}

function isIn(value: number | null | undefined, range: Range | null): boolean {
	return range === null || (value !== null && value !== undefined && value >= range.low && value <= range.high);
}

/* Is the run one that the filters leave? */
export function isLeft(run: TuningRun, brushes: Brushes): boolean {
	if (!isIn(hasCost(run) ? run.cost : null, brushes.cost))
		return false;
	return brushes.dimensions.every((range, i) => isIn(run.values?.[i], range));
}

/* "4096 to 65536", in the words of the dimension. */
export function describeRange(dimension: Dimension, { low, high }: Range): string {
	const name = (index: number) => dimension.values[Math.min(dimension.values.length - 1, Math.max(0, Math.round(index)))] ?? 'unset';

	return low === high ? name(low) : `${name(low)} to ${name(high)}`;
}
