// SPDX-License-Identifier: BSD-3-Clause
// The frame of a chart over time: its plot area, the axes and their labels.
import { spanLength, type Span } from '../lib/span';
import { RUN_AXIS, type TimeAxis } from './dates';
import type { Palette } from './palette';
import type { Surface } from './surface';
import { tickStep } from './ticks';

export interface Area {
	x: number;
	y: number;
	width: number;
	height: number;
}

/* Room for the labels of the value axis; all charts over time share it, so that their times are aligned. */
export const LEFT = 76;
export const RIGHT = 22;
export const BOTTOM = 26;
const TICK_PIXELS = 110;

export function plotArea(width: number, height: number, top = 8): Area {
	return { x: LEFT, y: top, width: Math.max(1, width - LEFT - RIGHT), height: Math.max(1, height - top - BOTTOM) };
}

export function timeTicks(span: Span, width: number, axis: TimeAxis = RUN_AXIS): number[] {
	return axis.ticks(span, Math.max(1, Math.floor(width / TICK_PIXELS)));
}

export function timeX(span: Span, area: Area, ns: number): number {
	return area.x + (ns - span.from) / spanLength(span) * area.width;
}

export function drawTimeAxis(surface: Surface, area: Area, span: Span, colors: Palette, hasGrid: boolean,
	axis: TimeAxis = RUN_AXIS): void {
	const ticks = timeTicks(span, area.width, axis), step = tickStep(ticks), bottom = area.y + area.height;

	for (const tick of ticks) {
		const x = timeX(span, area, tick);

		if (hasGrid)
			surface.line([x, area.y, x, bottom], colors.grid, 1);
		surface.line([x, bottom, x, bottom + 4], colors.axis, 1);
		surface.text(x, bottom + 14, axis.label(tick, step), { color: colors.mute, align: 'middle' });
	}
	surface.line([area.x, bottom, area.x + area.width, bottom], colors.axis, 1);
}

export function drawValueAxis(surface: Surface, area: Area, ticks: readonly number[], toY: (value: number) => number,
	format: (value: number) => string, colors: Palette): void {
	for (const tick of ticks) {
		const y = toY(tick);

		surface.line([area.x, y, area.x + area.width, y], colors.grid, 1);
		surface.text(area.x - 8, y, format(tick), { color: colors.mute, align: 'end' });
	}
}
