// SPDX-License-Identifier: BSD-3-Clause
// Values over time that may be unknown at times: their scale, their units, and how they are drawn.
import { formatBytes, formatShortCount, formatTime } from '../lib/format';
import type { Span } from '../lib/span';
import { drawTimeAxis, drawValueAxis, plotArea, timeX, type Area } from './axes';
import type { TimeAxis } from './dates';
import type { Palette } from './palette';
import type { Surface } from './surface';
import { binaryTicks, decimalTicks } from './ticks';

export type CourseUnit = 'seconds' | 'percent' | 'share' | 'bytes' | 'bytes/s' | 'count' | 'count/s';
export type Values = readonly (number | null)[];

export interface CourseSeries {
	name: string;
	color: string;
	values: Values;
	band?: { low: Values; high: Values }; /* from the least to the most */
	isFilled?: boolean; /* from 0 */
}

export interface Course {
	from_ns: number;
	bin_ns: number;
	series: CourseSeries[];
	shades?: { values: Values; color: string }; /* 0 to 1: how strongly the background of a bin is colored */
	marks?: { ns: number; color: string }[];
}

export function courseLabel(unit: CourseUnit, value: number): string {
	switch (unit) {
	case 'seconds':
		return formatTime(value * 1e9);
	case 'percent':
		return `${Number(value.toPrecision(3))}%`;
	case 'share':
		return `${Number((100 * value).toPrecision(3))}%`;
	case 'bytes':
		return formatBytes(value);
	case 'bytes/s':
		return `${formatBytes(value)}/s`;
	case 'count/s':
		return `${formatShortCount(value)}/s`;
	default:
		return formatShortCount(value);
	}
}

export interface Scale {
	low: number;
	high: number;
	isLog: boolean;
	ticks: number[];
	place: (value: number) => number; /* 0 at the bottom, 1 at the top */
}

const LOG_FROM = 30; /* a larger ratio of the values needs a logarithmic scale */

function logTicks(low: number, high: number): number[] {
	const ticks = [];
	const steps = Math.log10(high / low) > 3 ? [1] : [1, 2, 5];

	for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
		ticks.push(...steps.map((step) => step * 10 ** power));
	return ticks.filter((tick) => tick >= low && tick <= high);
}

function linearScale(high: number, unit: CourseUnit): Scale {
	const ticks = unit.startsWith('bytes') ? binaryTicks(0, high, 4) : decimalTicks(0, high, 4);

	return { low: 0, high, isLog: false, ticks, place: (value) => value / high };
}

/* Durations that differ much have a logarithmic scale; shares always have the same one. */
export function courseScale(series: readonly CourseSeries[], unit: CourseUnit): Scale {
	const known = series.flatMap(({ values, band }) => [...values, ...band?.low ?? [], ...band?.high ?? []])
		.filter((value): value is number => value !== null && isFinite(value));
	const positive = known.filter((value) => value > 0);
	const least = positive.reduce((low, value) => Math.min(low, value), Infinity), most = known.reduce((high, value) => Math.max(high, value), 0);

	if (unit === 'share')
		return linearScale(1, unit);
	if (unit === 'percent')
		return linearScale(Math.max(100, most), unit);
	if (unit !== 'seconds' || !(most / least > LOG_FROM))
		return linearScale(most * 1.05 || 1, unit);
	const low = least / 1.2, high = most * 1.2;
	return { low, high, isLog: true, ticks: logTicks(low, high), place: (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low) };
}

/* Runs of bins whose values belong together: a gap that is much longer than usual separates them. */
export function segments(values: Values): number[][] {
	const known = values.flatMap((value, i) => value === null ? [] : [i]);
	const gaps = known.slice(1).map((bin, i) => bin - known[i]).sort((a, b) => a - b);
	const longest = Math.max(3, 2.5 * (gaps[Math.floor(gaps.length / 2)] ?? 1));
	const parts: number[][] = [];

	known.forEach((bin, i) => {
		if (i && bin - known[i - 1] <= longest)
			parts[parts.length - 1].push(bin);
		else
			parts.push([bin]);
	});
	return parts;
}

/* The bin at a time that has a value, or the nearest one within two bins; -1: none. */
export function nearestBin(course: Course, ns: number): number {
	const at = Math.floor((ns - course.from_ns) / course.bin_ns);
	const hasValue = (bin: number) => course.series.some(({ values }) => (values[bin] ?? null) !== null);

	return [0, -1, 1, -2, 2].map((step) => at + step).find(hasValue) ?? -1;
}

interface Drawing {
	surface: Surface;
	area: Area;
	toX: (bin: number) => number; /* the middle of a bin */
	toY: (value: number) => number;
}

function drawBand({ surface, toX, toY }: Drawing, { band, values, color }: CourseSeries): void {
	if (!band)
		return;
	for (const bins of segments(values)) {
		const high = bins.flatMap((bin) => [toX(bin), toY(band.high[bin] ?? values[bin] ?? 0)]);
		const low = [...bins].reverse().flatMap((bin) => [toX(bin), toY(band.low[bin] ?? values[bin] ?? 0)]);

		surface.area([...high, ...low], color, 0.2);
	}
}

function drawLine({ surface, area, toX, toY }: Drawing, { values, color, isFilled }: CourseSeries): void {
	for (const bins of segments(values)) {
		const points = bins.flatMap((bin) => [toX(bin), toY(values[bin] ?? 0)]), bottom = area.y + area.height;

		if (bins.length === 1) {
			surface.rect(points[0] - 2, points[1] - 2, 4, 4, color);
			continue;
		}
		if (isFilled)
			surface.area([points[0], bottom, ...points, points[points.length - 2], bottom], color, 0.2);
		surface.line(points, color, 1.5);
	}
}

function drawShades(surface: Surface, area: Area, course: Course, toEdge: (bin: number) => number): void {
	const { shades } = course;

	/* A bin without a value has the color of the one before it, until the next value. */
	let last: number | null = null;
	for (let bin = 0, start = 0; shades && bin <= shades.values.length; bin++) {
		const value: number | null = bin < shades.values.length ? shades.values[bin] : null;

		if (bin < shades.values.length && value === null)
			continue;
		if (last !== null && last > 0.05) {
			const left = Math.max(area.x, toEdge(start)), right = Math.min(area.x + area.width, toEdge(bin));

			if (right > left)
				surface.area([left, area.y, right, area.y, right, area.y + area.height, left, area.y + area.height], shades.color, 0.25 * last);
		}
		last = value;
		start = bin;
	}
}

export function drawCourse(surface: Surface, width: number, height: number, course: Course, span: Span, unit: CourseUnit, axis: TimeAxis, colors: Palette): void {
	const area = plotArea(width, height), scale = courseScale(course.series, unit);
	const toEdge = (bin: number) => timeX(span, area, course.from_ns + bin * course.bin_ns);
	const inside = (x: number) => Math.min(area.x + area.width, Math.max(area.x, x));
	const drawing: Drawing = {
		surface, area, toX: (bin) => inside(toEdge(bin + 0.5)), toY: (value) => area.y + area.height * (1 - Math.min(1, Math.max(0, scale.place(value)))),
	};

	drawShades(surface, area, course, toEdge);
	drawValueAxis(surface, area, scale.ticks, drawing.toY, (value) => courseLabel(unit, value), colors);
	course.series.forEach((series) => drawBand(drawing, series));
	course.series.forEach((series) => drawLine(drawing, series));
	for (const { ns, color } of course.marks ?? [])
		if (ns >= span.from && ns <= span.to) {
			const x = timeX(span, area, ns);

			surface.line([x, area.y, x, area.y + area.height], color, 2);
			surface.area([x - 5, area.y, x + 5, area.y, x, area.y + 8], color, 1);
		}
	drawTimeAxis(surface, area, span, colors, false, axis);
}
