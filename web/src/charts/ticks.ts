// SPDX-License-Identifier: BSD-3-Clause
// Positions of the lines of an axis.

function niceStep(rough: number, steps: readonly number[], base: number): number {
	const power = base ** Math.floor(Math.log(rough) / Math.log(base));
	const step = steps.find((candidate) => candidate * power >= rough * 0.999);

	return (step ?? base) * power;
}

function positions(low: number, high: number, step: number): number[] {
	const ticks = [];

	for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
		ticks.push(i * step + 0); /* not -0 */
	return ticks;
}

/* At most about `count` round decimal numbers from low to high. */
export function decimalTicks(low: number, high: number, count: number): number[] {
	if (!(high > low))
		return [low];
	return positions(low, high, niceStep((high - low) / Math.max(1, count), [1, 2, 5], 10));
}

/* Multiples of powers of two, which are round numbers of bytes. */
export function binaryTicks(low: number, high: number, count: number): number[] {
	if (!(high > low))
		return [low];
	return positions(low, high, Math.max(1, niceStep((high - low) / Math.max(1, count), [1], 2)));
}

export function tickStep(ticks: readonly number[]): number {
	return ticks.length > 1 ? ticks[1] - ticks[0] : 0;
}
