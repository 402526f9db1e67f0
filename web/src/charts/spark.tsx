// SPDX-License-Identifier: BSD-3-Clause
// A chart in a cell of a table: the latest values of a program, and where their level shifted.

const WIDTH = 150, HEIGHT = 28, MARGIN = 3;

interface Props {
	values: readonly (number | null)[];
	shift?: number; /* position of the first value of the new level */
	label: string;
}

export function Spark({ values, shift, label }: Props) {
	const high = Math.max(...values.map((value) => value ?? 0)) || 1, step = (WIDTH - 2 * MARGIN) / Math.max(1, values.length - 1);
	const x = (i: number) => values.length > 1 ? MARGIN + i * step : WIDTH / 2;
	const y = (value: number) => HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * value / high;
	const points = values.map((value, i) => ({ x: x(i), y: value === null ? null : y(value) }));
	const known = points.filter((point): point is { x: number; y: number } => point.y !== null);

	if (!known.length)
		return null;
	return (
		<svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
			{shift !== undefined && <line class="spark-shift" x1={x(shift - 0.5)} x2={x(shift - 0.5)} y1={0} y2={HEIGHT} />}
			<polyline points={known.map((point) => `${point.x},${point.y}`).join(' ')} />
			<circle cx={known[known.length - 1].x} cy={known[known.length - 1].y} r={2.5} />
		</svg>
	);
}
