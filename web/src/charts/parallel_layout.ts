// SPDX-License-Identifier: BSD-3-Clause
// Parallel coordinates: an axis for each parameter, with its values from bottom to top, and one for the cost.
import { costSeconds, hasCost, type Brushes, type Range } from '../lib/tuning';
import type { Dimension, Objective, TuningRun } from '../lib/tuning_types';
import type { Area } from './axes';
import { logRange, logShare, logValue } from './log_scale';

export const AXIS_LEAST = 84; /* pixels between axes; the chart scrolls if there are many */
const LEFT = 70, RIGHT = 88, TOP = 34, BOTTOM = 14;

export interface ParallelFrame {
	area: Area;
	space: readonly Dimension[];
	objective: Objective | null;
	low: number; /* of costs, in seconds */
	high: number;
}

/* Runs that have a point of the space and a cost. */
export type Trial = TuningRun & { cost: number; values: (number | null)[] };

export function trialsOf(runs: readonly TuningRun[]): Trial[] {
	return runs.filter((run): run is Trial => hasCost(run) && run.values !== null);
}

export function parallelFrame(width: number, height: number, space: readonly Dimension[], trials: readonly Trial[], objective: Objective | null): ParallelFrame {
	const range = logRange(trials.map((run) => costSeconds(objective, run.cost))) ?? { low: 1, high: 10 };

	return {
		area: { x: LEFT, y: TOP, width: Math.max(1, width - LEFT - RIGHT), height: Math.max(1, height - TOP - BOTTOM) },
		space, objective, ...range,
	};
}

/* axis: the number of dimensions is the cost. */
export function axisX({ area, space }: ParallelFrame, axis: number): number {
	return area.x + area.width * axis / Math.max(1, space.length);
}

export function valueY({ area, space }: ParallelFrame, axis: number, index: number): number {
	const count = space[axis].values.length;

	return area.y + area.height * (1 - (count > 1 ? index / (count - 1) : 0.5));
}

export function costY({ area, low, high }: ParallelFrame, seconds: number): number {
	return area.y + area.height * (1 - logShare(seconds, low, high));
}

/* Corners of the line of a trial; axes that have no effect at its point are left out. */
export function trialLine(frame: ParallelFrame, trial: Trial): number[] {
	const points = trial.values.flatMap((index, axis) => index === null ? [] : [axisX(frame, axis), valueY(frame, axis, index)]);

	return [...points, axisX(frame, frame.space.length), costY(frame, costSeconds(frame.objective, trial.cost))];
}

/* The range of an axis between two heights: the values in it, or at least the nearest one. */
export function brushRange(frame: ParallelFrame, axis: number, from: number, to: number): Range {
	const share = (y: number) => Math.min(1, Math.max(0, 1 - (y - frame.area.y) / frame.area.height));
	const low = Math.min(share(from), share(to)), high = Math.max(share(from), share(to));

	if (axis === frame.space.length) {
		const perSecond = costSeconds(frame.objective, 1);
		const round = (value: number) => Number((logValue(value, frame.low, frame.high) / perSecond).toPrecision(4));

		return { low: round(low), high: round(high) };
	}
	const last = frame.space[axis].values.length - 1;
	const first = Math.ceil(low * last - 1e-9), end = Math.floor(high * last + 1e-9), near = Math.round((low + high) / 2 * last);

	return first <= end ? { low: first, high: end } : { low: near, high: near };
}

/* The part of an axis that its range covers: top and height. */
export function brushBox(frame: ParallelFrame, axis: number, range: Range): { top: number; height: number } {
	const y = (value: number) => axis === frame.space.length
		? Math.min(frame.area.y + frame.area.height, Math.max(frame.area.y, costY(frame, costSeconds(frame.objective, value)))) : valueY(frame, axis, value);
	const top = y(range.high), bottom = y(range.low), rim = axis === frame.space.length ? 0 : 8;

	return { top: top - rim, height: bottom - top + 2 * rim };
}

export function axisRange(brushes: Brushes, axis: number): Range | null {
	return axis < brushes.dimensions.length ? brushes.dimensions[axis] : brushes.cost;
}

/* The range after a key: the arrows move it, with Shift they widen it; null: no such key. */
export function stepRange(range: Range | null, key: string, isWider: boolean, last: number): Range | null {
	const step = key === 'ArrowUp' ? 1 : key === 'ArrowDown' ? -1 : 0;
	const fit = (value: number) => Math.min(last, Math.max(0, value));

	if (!step)
		return null;
	if (!range)
		return step > 0 ? { low: 0, high: 0 } : { low: last, high: last };
	if (isWider)
		return step > 0 ? { low: range.low, high: fit(range.high + 1) } : { low: fit(range.low - 1), high: range.high };
	const size = range.high - range.low, low = Math.min(last - size, Math.max(0, range.low + step));

	return { low, high: low + size };
}

/* The trial whose line passes nearest to a place, at most `reach` pixels away. */
export function nearestTrial(frame: ParallelFrame, trials: readonly Trial[], x: number, y: number, reach: number): Trial | null {
	let best: Trial | null = null, least = reach;

	for (const trial of trials) {
		const line = trialLine(frame, trial);

		for (let i = 2; i < line.length; i += 2) {
			if (x < line[i - 2] || x > line[i])
				continue;
			const share = (x - line[i - 2]) / Math.max(1e-9, line[i] - line[i - 2]), away = Math.abs(line[i - 1] + share * (line[i + 1] - line[i - 1]) - y);

			if (away < least) {
				least = away;
				best = trial;
			}
		}
	}
	return best;
}
