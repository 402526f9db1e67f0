// SPDX-License-Identifier: BSD-3-Clause
// A number with a bar that shows its part of the whole.

export function ShareBar({ part, whole, text }: { part: number; whole: number; text: string }) {
	const share = whole > 0 ? Math.min(1, part / whole) : 0;

	return <><span class="bar" aria-hidden="true"><span style={{ width: `${100 * share}%` }} /></span>{text}</>;
}
