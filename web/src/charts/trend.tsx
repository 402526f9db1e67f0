// SPDX-License-Identifier: BSD-3-Clause
// One measure of the runs of a program, in the order of time. Runs have equal distances, because many of them may have
// been made in one night and none in the next week; the axis shows when they were started.
import { useCallback } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatDate } from '../lib/format';
import type { Measure, ProgramEvent, ProgramRun } from '../lib/program_types';
import { axisDates, findBuilds, findLevels, MEASURE_TEXTS, runAt, RUN_UNIT as UNIT, shortBinary, spanWindow, windowSpan, type RunWindow } from '../lib/program_view';
import type { Span } from '../lib/span';
import { useStore } from '../lib/store';
import { shorten } from '../lib/text';
import { isDark } from '../lib/theme';
import { drawValueAxis, plotArea, timeX, type Area } from './axes';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { palette, type Palette } from './palette';
import type { Surface } from './surface';
import { binaryTicks, decimalTicks } from './ticks';
import { TimePlot } from './time_plot';

const HEIGHT = 190, TICK_PIXELS = 130, COMMAND_LETTERS = 60;
const HELP = 'Arrow keys go from run to run and show its value, Enter opens the run, Shift and arrow keys select runs, Enter then shows only these, Escape shows all runs.';

interface Props {
	program: string;
	runs: readonly ProgramRun[];
	events: readonly ProgramEvent[];
	measure: Measure;
	shown: RunWindow;
	onShow: (shown: RunWindow, kind: 'step' | 'choice') => void;
	onOpen: (run: ProgramRun) => void;
}

function valueTicks(measure: Measure, high: number): number[] {
	return measure === 'throughput' || measure.startsWith('bytes') ? binaryTicks(0, high, 4) : decimalTicks(0, high, 4);
}

function circle(x: number, y: number, radius: number): number[] {
	return Array.from({ length: 13 }, (_, i) => [x + radius * Math.cos(i * Math.PI / 6), y + radius * Math.sin(i * Math.PI / 6)]).flat();
}

function drawDates(surface: Surface, area: Area, span: Span, props: Props, colors: Palette): void {
	const { runs, shown } = props, bottom = area.y + area.height;
	const count = Math.max(1, Math.min(shown.to - shown.from, Math.floor(area.width / TICK_PIXELS)));

	const places = Array.from({ length: count }, (_, k) => shown.from + Math.floor((k + 0.5) * (shown.to - shown.from) / count));

	axisDates(places.map((i) => runs[i].started_ns)).forEach((date, k) => {
		const x = timeX(span, area, (places[k] + 0.5) * UNIT);

		surface.line([x, bottom, x, bottom + 4], colors.axis, 1);
		surface.text(x, bottom + 14, date, { color: colors.mute, align: 'middle' });
	});
	surface.line([area.x, bottom, area.x + area.width, bottom], colors.axis, 1);
}

/* Where a measure shifted: a line, and its levels before and after. */
function drawShifts(surface: Surface, area: Area, span: Span, props: Props, toY: (value: number) => number, colors: Palette): void {
	const inside = (position: number) => Math.min(area.x + area.width, Math.max(area.x, timeX(span, area, position * UNIT)));

	findLevels(props.runs, props.events, props.measure).forEach(({ from, to, value }, i) => {
		if (to <= props.shown.from || from >= props.shown.to)
			return;
		surface.line([inside(from), toY(value), inside(to), toY(value)], colors.series[3], 2);
		if (i && from > props.shown.from)
			surface.line([inside(from), area.y, inside(from), area.y + area.height], colors.series[3], 1);
	});
}

/* Triangles below the axis: the program was built anew. */
function drawBuilds(surface: Surface, area: Area, span: Span, props: Props, colors: Palette): void {
	const bottom = area.y + area.height;

	for (const i of findBuilds(props.runs)) {
		const x = timeX(span, area, i * UNIT);

		if (i > props.shown.from && i < props.shown.to)
			surface.area([x, bottom, x - 4, bottom + 6, x + 4, bottom + 6], colors.text, 1);
	}
}

function drawTrend(surface: Surface, width: number, height: number, props: Props, colors: Palette): void {
	const { runs, measure, shown } = props, area = plotArea(width, height), span = windowSpan(shown);
	const values = runs.slice(shown.from, shown.to).map((run) => run[measure]);
	const high = 1.08 * Math.max(...values.map((value) => value ?? 0)) || 1;
	const toY = (value: number) => area.y + area.height * (1 - value / high);
	const radius = Math.max(1.5, Math.min(4, area.width / values.length / 3));

	drawValueAxis(surface, area, valueTicks(measure, high), toY, MEASURE_TEXTS[measure].format, colors);
	drawDates(surface, area, span, props, colors);
	drawShifts(surface, area, span, props, toY, colors);
	values.forEach((value, i) => {
		const run = runs[shown.from + i];
		const points = value === null ? [] : circle(timeX(span, area, (shown.from + i + 0.5) * UNIT), toY(value), radius);

		if (run.comparable)
			surface.area(points, colors.series[0], 1);
		else
			surface.line(points, colors.mute, 1);
	});
	drawBuilds(surface, area, span, props, colors);
}

function describe(run: ProgramRun, measure: Measure): string[] {
	const { title, format } = MEASURE_TEXTS[measure], value = run[measure];

	return [
		`${title} ${value === null ? 'unknown' : format(value)}`,
		`${formatDate(run.started_ns)} UTC`,
		shorten(run.command, COMMAND_LETTERS),
		...run.binary ? [`build ${shortBinary(run.binary)}`] : [],
		...run.tags.length ? [`tags: ${run.tags.join(' ')}`] : [],
		...run.comparable ? [] : [run.exit_status > 0 ? `not compared: exit code ${run.exit_status}` : `not compared: ${run.state}`],
	];
}

function trendCsv({ runs, measure, shown }: Props): string {
	return csv(['run', 'started (UTC)', measure, 'comparable', 'binary', 'command'], runs.slice(shown.from, shown.to)
		.map((run) => [run.id, formatDate(run.started_ns), run[measure], run.comparable ? 1 : 0, run.binary, run.command]));
}

export function TrendChart(props: Props) {
	const { runs, measure, shown, onShow } = props, { title, about } = MEASURE_TEXTS[measure];
	const colors = palette(useStore(isDark)), whole = windowSpan({ from: 0, to: runs.length });
	const draw = useCallback((surface: Surface, width: number) => drawTrend(surface, width, HEIGHT, props, colors),
		[runs, props.events, measure, shown.from, shown.to, colors]);
	const isShown = props.events.some(({ shifts }) => shifts.some((shift) => shift.measure === measure));

	return (
		<Figure title={title} about={about} legend={isShown ? [{ name: 'level', color: colors.series[3] }] : undefined}
			exports={{ name: `${props.program.replace(/[^\w.-]+/g, '-')}-${measure}`, height: HEIGHT, draw, csv: () => trendCsv(props) }}>
			<TimePlot label={`${title} of ${runs.length} runs`} help={HELP} height={HEIGHT} span={windowSpan(shown)} whole={whole} step={UNIT}
				onSpan={(span, kind) => onShow(spanWindow(span, runs.length), kind)}
				onOpen={(ns) => props.onOpen(runs[runAt(ns, runs.length)])}
				describe={(ns) => describe(runs[runAt(ns, runs.length)], measure)}>
				{(width) => <Canvas width={width} height={HEIGHT} draw={(surface) => draw(surface, width)} />}
			</TimePlot>
		</Figure>
	);
}
