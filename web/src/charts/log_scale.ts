// SPDX-License-Identifier: BSD-3-Clause
// A logarithmic axis: costs that differ by factors.

/* Round numbers from low to high: 1, 2 and 5 times powers of ten, or only powers if these are many. */
export function logTicks(low: number, high: number, count: number): number[] {
	const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));

	for (const steps of [[1, 2, 5], [1, 3], [1]]) {
		const ticks: number[] = [];

		for (let power = first; power <= last; power++)
			for (const step of steps) {
				const tick = Number((step * 10 ** power).toPrecision(3));

				if (tick >= low && tick <= high)
					ticks.push(tick);
			}
		if (ticks.length <= count || steps.length === 1)
			return ticks.length ? ticks : [low];
	}
	return [low];
}

const ROUND_SECONDS = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 86400, 172800, 432000, 864000];

/* The same for seconds, where above a minute other numbers are round. */
export function logTimeTicks(low: number, high: number, count: number): number[] {
	const above = ROUND_SECONDS.filter((tick) => tick >= low && tick <= high);
	const below = low < 60 ? logTicks(low, Math.min(high, 59), above.length ? Math.max(1, count - above.length) : count).filter((tick) => tick >= low && tick < 60) : [];
	const ticks = [...below, ...above], every = Math.ceil(ticks.length / count);

	return ticks.length ? ticks.filter((_, i) => i % every === 0) : [low];
}

/* A tick of such an axis, which is a round number of its unit. */
export function formatTimeTick(seconds: number): string {
	const [unit, name] = seconds >= 86400 ? [86400, 'd'] : seconds >= 3600 ? [3600, 'h'] : seconds >= 60 ? [60, 'min']
		: seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e-3, 'ms'] : seconds >= 1e-6 ? [1e-6, 'µs'] : [1e-9, 'ns'];

	return `${Number((seconds / unit).toPrecision(3))} ${name}`;
}

/* The range of positive values with some room; null: there are none. */
export function logRange(values: readonly number[]): { low: number; high: number } | null {
	if (!values.length)
		return null;
	return { low: Math.min(...values) / 1.15, high: Math.max(...values) * 1.15 };
}

/* 0 at low, 1 at high. */
export function logShare(value: number, low: number, high: number): number {
	return Math.log(value / low) / Math.log(high / low);
}

export function logValue(share: number, low: number, high: number): number {
	return low * (high / low) ** share;
}
