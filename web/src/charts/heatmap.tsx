// SPDX-License-Identifier: BSD-3-Clause
// Ranks (or processes) over time: how busy each of them was.
import type { ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatBytes, formatPosition, formatRate, formatShare, formatShortCount, formatTime, plural } from '../lib/format';
import type { Span } from '../lib/span';
import { useStore } from '../lib/store';
import { isDark } from '../lib/theme';
import type { Heatmap } from '../lib/types';
import { drawTimeAxis, plotArea, timeX, type Area } from './axes';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { palette, rampColor, type Palette } from './palette';
import type { Surface } from './surface';
import { TimePlot, type TimeView } from './time_plot';

export const HEAT_KINDS = ['time', 'bytes', 'calls'] as const;
export type HeatKind = typeof HEAT_KINDS[number];

const ROW_PIXELS = 14, LEAST_PIXELS = 120, MOST_PIXELS = 420, LABEL_PIXELS = 13;

function largest(values: readonly (readonly number[])[]): number {
	return values.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
}

/* A row stands for one rank or for several that follow each other. */
function rowName(row: Heatmap['rows'][number], who: string): string {
	return row.first_member === row.last_member ? `${who} ${row.first_member}` : `${row.first_member} to ${row.last_member}`;
}

function heatmapHeight(rows: number): number {
	return Math.min(MOST_PIXELS, Math.max(LEAST_PIXELS, rows * ROW_PIXELS + 34));
}

/* Cells of the same color that follow each other are one rectangle. */
function drawRow(surface: Surface, area: Area, map: Heatmap, span: Span, row: number, most: number, colors: Palette): void {
	const height = area.height / map.rows.length, y = area.y + row * height, gap = height > 6 ? 1 : 0;
	const toX = (bin: number) => Math.min(area.x + area.width, Math.max(area.x, timeX(span, area, map.from_ns + bin * map.bin_ns)));
	const values = map.values[row];
	const color = (i: number) => values[i] > 0 ? rampColor(colors, values[i] / most) : '';

	for (let i = 0; i < values.length;) {
		const shade = color(i), start = i;

		while (i < values.length && color(i) === shade)
			i++;
		if (shade && toX(i) > toX(start))
			surface.rect(toX(start), y, toX(i) - toX(start), height - gap, shade);
	}
}

function drawLabels(surface: Surface, area: Area, map: Heatmap, who: string, colors: Palette): void {
	const height = area.height / map.rows.length, every = Math.max(1, Math.ceil(LABEL_PIXELS / height));

	for (let row = 0; row < map.rows.length; row += every)
		surface.text(area.x - 8, area.y + (row + 0.5) * height, rowName(map.rows[row], who), { color: colors.mute, align: 'end' });
}

function drawHeatmap(surface: Surface, width: number, height: number, map: Heatmap, span: Span, who: string, colors: Palette): void {
	const area = plotArea(width, height), most = largest(map.values) || 1;

	for (let row = 0; row < map.rows.length; row++)
		drawRow(surface, area, map, span, row, most, colors);
	drawLabels(surface, area, map, who, colors);
	drawTimeAxis(surface, area, span, colors, false);
}

function shortValue(map: Heatmap, value: number): string {
	switch (map.of) {
	case 'bytes':
		return formatRate(value, map.bin_ns);
	case 'calls':
		return `${formatShortCount(value * 1e9 / map.bin_ns)}/s`;
	default:
		return formatShare(value, map.bin_ns);
	}
}

function describeValue(map: Heatmap, value: number, members: number): string {
	switch (map.of) {
	case 'bytes':
		return formatBytes(value);
	case 'calls':
		return plural(Math.round(value), 'call');
	default:
		return `${formatTime(value)} in calls (${formatShare(value, map.bin_ns * members)} of the time)`;
	}
}

function describeCell(map: Heatmap, who: string, ns: number, share: number | null): string[] {
	const bin = Math.min(Math.floor((ns - map.from_ns) / map.bin_ns), (map.values[0]?.length ?? 0) - 1);
	const time = `${formatPosition(map.from_ns + bin * map.bin_ns, map.bin_ns)}, for ${formatTime(map.bin_ns)}`;

	if (bin < 0 || !map.rows.length)
		return [];
	if (share === null) {
		const sum = map.values.reduce((total, row) => total + row[bin], 0);

		return [time, `all: ${describeValue(map, sum, map.rows.length)}`];
	}
	const index = Math.min(map.rows.length - 1, Math.floor(share * map.rows.length)), row = map.rows[index];
	return [`${rowName(row, who)} at ${time}`, describeValue(map, map.values[index][bin], row.last_member - row.first_member + 1)];
}

const TITLES: Record<HeatKind, string> = { time: 'Time in calls', bytes: 'Bytes', calls: 'Calls' };

interface Props extends TimeView {
	map: Heatmap;
	run: string;
	who: string; /* rank or process */
	tools?: ComponentChildren;
}

export function HeatmapChart(props: Props) {
	const { map, span, who } = props;
	const dark = useStore(isDark), colors = palette(dark);
	const height = heatmapHeight(map.rows.length);
	const kind = HEAT_KINDS.find((name) => name === map.of) ?? 'time';
	const title = `${TITLES[kind]} by ${who} over time`;
	const most = useMemo(() => largest(map.values), [map]);
	const ramp = { colors: colors.ramp, low: '0', high: shortValue(map, most) };

	return (
		<Figure title={title} isWide ramp={ramp} tools={props.tools} exports={{
			name: `${props.run}-heatmap-${map.of}`, height: Math.max(height, 200),
			draw: (surface, width, full) => drawHeatmap(surface, width, full, map, span, who, colors),
			csv: () => csv(['name', 'start_ns', 'duration_ns', map.of], map.rows.flatMap((row, i) =>
				map.values[i].map((value, bin) => [rowName(row, who), map.from_ns + bin * map.bin_ns, map.bin_ns, value]))),
		}}>
			<TimePlot {...props} label={title} height={height} describe={(ns, share) => describeCell(map, who, ns, share)}>
				{(width) => <HeatmapCanvas {...{ width, height, map, span, who, dark }} />}
			</TimePlot>
		</Figure>
	);
}

function HeatmapCanvas(props: { width: number; height: number; map: Heatmap; span: Span; who: string; dark: boolean }) {
	const { width, height, map, span, who, dark } = props;
	const draw = useCallback((surface: Surface) => drawHeatmap(surface, width, height, map, span, who, palette(dark)),
		[width, height, map, span.from, span.to, who, dark]);

	return <Canvas width={width} height={height} draw={draw} />;
}
