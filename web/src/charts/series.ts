// SPDX-License-Identifier: BSD-3-Clause
// Values per bin of time: how they are labeled, looked up and drawn on a surface.
import { formatBytes, formatShortCount } from '../lib/format';
import type { Span } from '../lib/span';
import { drawTimeAxis, drawValueAxis, plotArea, timeX } from './axes';
import type { Palette } from './palette';
import type { Surface } from './surface';
import { binaryTicks, decimalTicks } from './ticks';

export interface Bins {
	from_ns: number;
	bin_ns: number;
	series: { name: string; color: string; values: readonly number[] }[];
}

export type Unit = 'bytes' | 'count' | 'share';

export function valueTicks(unit: Unit, high: number, count: number): number[] {
	return unit === 'bytes' ? binaryTicks(0, high, count) : decimalTicks(0, high, count);
}

export function valueLabel(unit: Unit, value: number): string {
	switch (unit) {
	case 'bytes':
		return `${formatBytes(value)}/s`;
	case 'share':
		return Number(value.toPrecision(4)).toString();
	default:
		return `${formatShortCount(value)}/s`;
	}
}

/* The bin that contains a time; -1 outside of all. */
export function binAt(bins: Bins, ns: number): number {
	const count = bins.series[0]?.values.length ?? 0;
	const index = Math.floor((ns - bins.from_ns) / bins.bin_ns);

	return index >= 0 && index < count ? index : index === count ? count - 1 : -1;
}

export function highest(bins: Bins): number {
	let most = 0;

	for (const { values } of bins.series)
		for (const value of values)
			most = Math.max(most, value);
	return most;
}

/* Sums of bins as rates per second. */
export function perSecond(values: readonly number[], bin_ns: number): number[] {
	return values.map((value) => value * 1e9 / bin_ns);
}

/* Corners of the steps of a series, x and y in turns. */
function steps(bins: Bins, values: readonly number[], toX: (ns: number) => number, toY: (value: number) => number): number[] {
	const points: number[] = [];

	values.forEach((value, i) => {
		const start = bins.from_ns + i * bins.bin_ns;

		points.push(toX(start), toY(value), toX(start + bins.bin_ns), toY(value));
	});
	return points;
}

export function drawSeries(surface: Surface, width: number, height: number, bins: Bins, span: Span, unit: Unit, colors: Palette): void {
	const area = plotArea(width, height), high = highest(bins) || 1;
	const toX = (ns: number) => Math.min(area.x + area.width, Math.max(area.x, timeX(span, area, ns)));
	const toY = (value: number) => area.y + area.height * (1 - value / high);

	drawValueAxis(surface, area, valueTicks(unit, high, 4), toY, (value) => valueLabel(unit, value), colors);
	for (const { values, color } of bins.series) {
		const points = steps(bins, values, toX, toY);

		surface.area([area.x, toY(0), ...points, area.x + area.width, toY(0)], color, 0.25);
		surface.line(points, color, 1.5);
	}
	drawTimeAxis(surface, area, span, colors, false);
}
