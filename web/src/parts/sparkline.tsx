// SPDX-License-Identifier: BSD-3-Clause
// A small picture of values over time, without axes. The numbers are elsewhere on the page.
import { segments, type Values } from '../charts/course';

const WIDTH = 110, HEIGHT = 22;

export function Sparkline({ values, label }: { values: Values; label: string }) {
	const known = values.filter((value): value is number => value !== null);
	const least = Math.min(...known), most = Math.max(...known);
	const toX = (bin: number) => 1 + (WIDTH - 2) * (values.length > 1 ? bin / (values.length - 1) : 0.5);
	const toY = (value: number) => 2 + (HEIGHT - 4) * (most > least ? 1 - (value - least) / (most - least) : 0.5);

	if (!known.length)
		return <span class="d">–</span>;
	return (
		<svg class="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
			{segments(values).map((bins) => bins.length === 1
				? <circle key={bins[0]} cx={toX(bins[0])} cy={toY(values[bins[0]] ?? 0)} r={1.5} />
				: <polyline key={bins[0]} points={bins.map((bin) => `${toX(bin).toFixed(1)},${toY(values[bin] ?? 0).toFixed(1)}`).join(' ')} />)}
		</svg>
	);
}
