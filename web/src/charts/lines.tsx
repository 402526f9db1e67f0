// SPDX-License-Identifier: BSD-3-Clause
// Draws series over time with uPlot; the interaction is that of all charts over time.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatPosition } from '../lib/format';
import type { Span } from '../lib/span';
import { useStore } from '../lib/store';
import { isDark } from '../lib/theme';
import { BOTTOM, LEFT, RIGHT, timeTicks } from './axes';
import { palette } from './palette';
import { highest, valueLabel, valueTicks, type Bins, type Unit } from './series';
import { tickStep } from './ticks';

interface Props {
	width: number;
	height: number;
	bins: Bins;
	span: Span;
	unit: Unit;
}

/* Each bin is a step; the last value is repeated, so that the last step has a width. */
function alignedData(bins: Bins): uPlot.AlignedData {
	const count = bins.series[0]?.values.length ?? 0;
	const times = Array.from({ length: count + 1 }, (_, i) => bins.from_ns + i * bins.bin_ns);

	return [times, ...bins.series.map(({ values }) => [...values, values[count - 1] ?? 0])];
}

function options(props: Props, colorsAreDark: boolean): uPlot.Options {
	const colors = palette(colorsAreDark);
	const { width, height, bins, span, unit } = props;
	const ticks = timeTicks(span, width - LEFT - RIGHT), step = tickStep(ticks);
	const font = '12px system-ui, sans-serif';
	const high = highest(bins) || 1;

	return {
		width, height,
		padding: [8, RIGHT, 0, 0],
		legend: { show: false },
		cursor: { show: false },
		scales: { x: { time: false, range: () => [span.from, span.to] }, y: { range: () => [0, high] } },
		axes: [
			{
				size: BOTTOM, font, gap: 4, stroke: colors.mute, grid: { show: false },
				ticks: { stroke: colors.axis, size: 4, width: 1 }, border: { show: true, stroke: colors.axis, width: 1 },
				splits: () => ticks, values: (_, at) => at.map((ns) => formatPosition(ns, step)),
			},
			{
				size: LEFT, font, gap: 6, stroke: colors.mute, grid: { stroke: colors.grid, width: 1 }, ticks: { show: false },
				splits: () => valueTicks(unit, high, 4), values: (_, at) => at.map((value) => valueLabel(unit, value)),
			},
		],
		series: [{}, ...bins.series.map(({ name, color }): uPlot.Series => ({
			label: name, stroke: color, fill: `${color}40`, width: 1.5, points: { show: false },
			paths: uPlot.paths.stepped?.({ align: 1 }),
		}))],
	};
}

export function Lines(props: Props) {
	const host = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null);
	const dark = useStore(isDark);
	const data = useMemo(() => alignedData(props.bins), [props.bins]);
	const { width, height, bins, span, unit } = props;

	useLayoutEffect(() => {
		if (!host.current)
			return;
		plot.current?.destroy();
		plot.current = new uPlot(options({ width, height, bins, span, unit }, dark), data, host.current);
	}, [width, height, data, span.from, span.to, unit, dark]);
	useEffect(() => () => plot.current?.destroy(), []);
	return <div ref={host} class="lines" aria-hidden="true" />;
}
