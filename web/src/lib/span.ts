// SPDX-License-Identifier: BSD-3-Clause
// A part of the time of a run, in nanoseconds, and the steps by which a reader moves it.

export interface Span {
	from: number;
	to: number;
}

export const ZOOM_STEP = 1.6;
export const PAN_STEP = 0.25;
const SHORTEST_NS = 100;
const CLICK_PIXELS = 4; /* a pointer that clicks moves less */

export function spanLength(span: Span): number {
	return span.to - span.from;
}

/* Moves the span into `whole` and gives it at least the shortest length; both ends become integers. */
export function clampSpan(span: Span, whole: Span): Span {
	const length = Math.min(Math.max(spanLength(span), SHORTEST_NS), spanLength(whole));
	const from = Math.min(Math.max(span.from, whole.from), whole.to - length);

	return { from: Math.round(from), to: Math.round(from + length) };
}

/* factor > 1 shows less. `at` is the position that stays where it is, as a share of the span. */
export function zoomSpan(span: Span, whole: Span, factor: number, at = 0.5): Span {
	const length = Math.max(spanLength(span) / factor, SHORTEST_NS);
	const center = span.from + at * spanLength(span);

	return clampSpan({ from: center - at * length, to: center + (1 - at) * length }, whole);
}

export function panSpan(span: Span, whole: Span, share: number): Span {
	const shift = share * spanLength(span);

	return clampSpan({ from: span.from + shift, to: span.to + shift }, whole);
}

export function sameSpan(a: Span, b: Span): boolean {
	return a.from === b.from && a.to === b.to;
}

/* The selection of a drag between two positions of a plot, as shares of its width; null for a click. */
export function dragSpan(span: Span, start: number, end: number, width: number, leastPixels = CLICK_PIXELS): Span | null {
	const low = Math.max(0, Math.min(start, end)), high = Math.min(1, Math.max(start, end));

	if ((high - low) * width < leastPixels)
		return null;
	return { from: Math.round(span.from + low * spanLength(span)), to: Math.round(span.from + high * spanLength(span)) };
}
