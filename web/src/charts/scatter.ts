// SPDX-License-Identifier: BSD-3-Clause
// Predicted against measured times on logarithmic axes.
import { formatTime } from '../lib/format';
import type { Pair } from '../lib/storage_types';
import { plotArea, type Area } from './axes';
import type { Palette } from './palette';
import type { Surface } from './surface';

const GROUP_SERIES: Record<string, number> = { writing: 1, reading: 0, 'held out': 4, communication: 2 };

export function groupColor(colors: Palette, group: string): string {
	return colors.series[GROUP_SERIES[group] ?? 6];
}

export interface PairRange {
	low: number;
	high: number;
}

/* The range of both axes; null without pairs. */
export function pairRange(pairs: readonly Pair[]): PairRange | null {
	let low = Infinity, high = 0;

	for (const [predicted, measured] of pairs) {
		low = Math.min(low, predicted, measured);
		high = Math.max(high, predicted, measured);
	}
	return high > 0 ? { low: low / 1.4, high: high * 1.4 } : null;
}

/* 0 to 1 */
export function pairPlace(range: PairRange, seconds: number): number {
	return Math.log(seconds / range.low) / Math.log(range.high / range.low);
}

/* The pair nearest to a point of the plot, whose coordinates are 0 to 1 from the lower left corner. */
export function nearestPair(pairs: readonly Pair[], range: PairRange, x: number, y: number): number {
	let nearest = -1, least = Infinity;

	pairs.forEach(([predicted, measured], i) => {
		const distance = (pairPlace(range, predicted) - x) ** 2 + (pairPlace(range, measured) - y) ** 2;

		if (distance < least) {
			least = distance;
			nearest = i;
		}
	});
	return nearest;
}

function decades(range: PairRange): number[] {
	const first = Math.ceil(Math.log10(range.low)), last = Math.floor(Math.log10(range.high)), step = Math.max(1, Math.ceil((last - first + 1) / 6));

	return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, i) => 10 ** (first + i * step));
}

/* A square plot, as wide as the surface permits. */
export function scatterArea(width: number, height: number): Area {
	const area = plotArea(width, height), side = Math.min(area.width, area.height * 1.5);

	return { ...area, width: side, height: area.height - 14 };
}

function drawFrame(surface: Surface, area: Area, range: PairRange, colors: Palette): void {
	const bottom = area.y + area.height;

	for (const tick of decades(range)) {
		const x = area.x + area.width * pairPlace(range, tick), y = bottom - area.height * pairPlace(range, tick);

		surface.line([x, area.y, x, bottom], colors.grid, 1);
		surface.line([area.x, y, area.x + area.width, y], colors.grid, 1);
		surface.text(x, bottom + 14, formatTime(tick * 1e9), { color: colors.mute, align: 'middle' });
		surface.text(area.x - 8, y, formatTime(tick * 1e9), { color: colors.mute, align: 'end' });
	}
	surface.line([area.x, area.y, area.x, bottom, area.x + area.width, bottom], colors.axis, 1);
	surface.text(area.x + area.width / 2, bottom + 31, 'predicted time', { color: colors.mute, align: 'middle' });
	surface.text(area.x + 6, area.y + 8, 'measured time', { color: colors.mute });
}

/* The interval around the diagonal is a constant factor, so its edges are parallel to it. */
function drawInterval(surface: Surface, area: Area, range: PairRange, factor: number, color: string): void {
	const shift = Math.log(factor) / Math.log(range.high / range.low), bottom = area.y + area.height;
	const point = (x: number, y: number) => [area.x + area.width * x, bottom - area.height * y];
	const cut = Math.min(1, shift);

	surface.area([...point(0, 0), ...point(0, cut), ...point(1 - cut, 1), ...point(1, 1), ...point(1, 1 - cut), ...point(cut, 0)], color, 0.14);
}

export function drawScatter(surface: Surface, width: number, height: number, pairs: readonly Pair[], factor: number | null, chosen: number, colors: Palette): void {
	const area = scatterArea(width, height), range = pairRange(pairs);

	if (!range)
		return;
	const toX = (seconds: number) => area.x + area.width * pairPlace(range, seconds);
	const toY = (seconds: number) => area.y + area.height * (1 - pairPlace(range, seconds));
	if (factor !== null && factor > 1)
		drawInterval(surface, area, range, factor, colors.select);
	drawFrame(surface, area, range, colors);
	surface.line([area.x, area.y + area.height, area.x + area.width, area.y], colors.axis, 1.5);
	pairs.forEach(([predicted, measured, group], i) => {
		const x = toX(predicted), y = toY(measured), size = i === chosen ? 7 : 4;

		surface.area([x, y - size, x + size, y, x, y + size, x - size, y], groupColor(colors, group), i === chosen ? 1 : 0.7);
	});
}
