// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes at known offsets of a file.
import { spanLength, type Span } from '../lib/span';
import type { Access } from '../lib/types';

/* The part of the file that is accessed: 64 B at least, so that a scale exists. */
export function fileRange(accesses: readonly Access[]): { low: number; high: number } {
	let low = Infinity, high = 0;

	for (const [, , offset, bytes] of accesses) {
		low = Math.min(low, offset);
		high = Math.max(high, offset + bytes);
	}
	if (!accesses.length)
		return { low: 0, high: 64 };
	return { low: low < high / 4 ? 0 : low, high: Math.max(high, low + 64) };
}

/* The access nearest to a point of the plot; both axes count alike. */
export function nearestAccess(accesses: readonly Access[], span: Span, ns: number, offset: number, height: number): Access | null {
	let nearest: Access | null = null, least = Infinity;

	for (const access of accesses) {
		const [start, duration, from, bytes] = access;
		const x = Math.max(start - ns, 0, ns - start - duration) / spanLength(span);
		const y = Math.max(from - offset, 0, offset - from - bytes) / height;
		const distance = x * x + y * y;

		if (distance < least) {
			least = distance;
			nearest = access;
		}
	}
	return nearest;
}
