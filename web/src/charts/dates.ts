// SPDX-License-Identifier: BSD-3-Clause
// Axes of time: a run counts from its start, other times are dates (UTC).
import { formatDate, formatPosition } from '../lib/format';
import type { Span } from '../lib/span';
import { decimalTicks } from './ticks';

export interface TimeAxis {
	ticks: (span: Span, count: number) => number[];
	label: (ns: number, step: number) => string;
}

const SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
const STEPS = [
	...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND), ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
	...[1, 2, 3, 6, 12].map((count) => count * HOUR), ...[1, 2, 7, 14, 28, 91, 364].map((count) => count * DAY),
];

/* At most about `count` round times. */
export function dateTicks(span: Span, count: number): number[] {
	const rough = (span.to - span.from) / Math.max(1, count), step = STEPS.find((candidate) => candidate >= rough) ?? STEPS[STEPS.length - 1];
	const ticks = [];

	if (rough < STEPS[0])
		return decimalTicks(span.from, span.to, count);
	for (let i = Math.ceil(span.from / step); i * step <= span.to; i++)
		ticks.push(i * step);
	return ticks;
}

/* The part of the date that tells a tick from its neighbors: 13:30, or 11-17 at midnight. */
export function dateLabel(ns: number, step: number): string {
	const date = formatDate(ns), time = date.slice(11);

	if (date.length < 19)
		return date;
	if (step >= DAY || (time === '00:00:00' && step > 0))
		return date.slice(5, 10);
	if (step > 0 && step < SECOND)
		return `${time}.${String(Math.round(ns / 1e6) % 1000).padStart(3, '0')}`;
	return step >= MINUTE || (step === 0 && time.endsWith(':00')) ? time.slice(0, 5) : time;
}

export const RUN_AXIS: TimeAxis = { ticks: (span, count) => decimalTicks(span.from, span.to, count), label: formatPosition };
export const DATE_AXIS: TimeAxis = { ticks: dateTicks, label: dateLabel };
