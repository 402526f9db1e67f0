// SPDX-License-Identifier: BSD-3-Clause
// The history of a tuning: the cost of each run in order, the best so far and the baseline that is repeated throughout.
import { useCallback, useMemo, useRef } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatDate, formatTime } from '../lib/format';
import { useWidth } from '../lib/size';
import { useStore } from '../lib/store';
import { shorten, visible } from '../lib/text';
import { isDark } from '../lib/theme';
import { bestSoFar, COST_TITLES, costSeconds, formatCost, hasCost, isBaseline, isLeft, PHASE_NAMES, type Brushes } from '../lib/tuning';
import type { Objective, Phase, TuningRun } from '../lib/tuning_types';
import { drawValueAxis, plotArea, type Area } from './axes';
import { Canvas } from './canvas';
import { Figure, type LegendEntry } from './figure';
import { formatTimeTick, logRange, logShare, logTimeTicks } from './log_scale';
import { palette, type Palette } from './palette';
import type { Surface } from './surface';
import { decimalTicks } from './ticks';
import { Tip } from './tip';

const HEIGHT = 300, TOP = 14, RADIUS = 3.5, TITLE_LETTERS = 70;
const BASELINE = 6, FAILED = 3, BEST = 7;
const PHASE_SERIES: Partial<Record<Phase, number>> = { search: 0, simplify: 5, proof: 2, partial: 4 };

interface Frame {
	area: Area;
	low: number;
	high: number;
	last: number; /* number of the last run */
}

function makeFrame(width: number, height: number, runs: readonly TuningRun[], objective: Objective | null): Frame {
	const range = logRange(runs.filter(hasCost).map((run) => costSeconds(objective, run.cost))) ?? { low: 1, high: 10 };

	return { area: plotArea(width, height, TOP), ...range, last: Math.max(1, ...runs.map(({ number }) => number)) };
}

const toX = ({ area, last }: Frame, number: number) => area.x + area.width * (number - 0.5) / last;
const toY = ({ area, low, high }: Frame, seconds: number) => area.y + area.height * (1 - logShare(seconds, low, high));

/* Failed runs have no cost; they are at the upper edge. */
function place(frame: Frame, run: TuningRun, objective: Objective | null): [number, number] {
	return [toX(frame, run.number), hasCost(run) ? toY(frame, costSeconds(objective, run.cost)) : frame.area.y];
}

function runColor(run: TuningRun, colors: Palette): string {
	return colors.series[!hasCost(run) ? FAILED : isBaseline(run) ? BASELINE : PHASE_SERIES[run.phase] ?? BASELINE];
}

function drawBest(surface: Surface, frame: Frame, runs: readonly TuningRun[], objective: Objective | null, colors: Palette): void {
	const points: number[] = [];

	for (const { number, cost } of bestSoFar(runs)) {
		const y = toY(frame, costSeconds(objective, cost));

		points.push(toX(frame, number), points[points.length - 1] ?? y, toX(frame, number), y);
	}
	if (points.length)
		surface.line([...points, toX(frame, frame.last), points[points.length - 1]], colors.series[BEST], 1.5);
}

function drawHistory(surface: Surface, frame: Frame, runs: readonly TuningRun[], objective: Objective | null, brushes: Brushes, chosen: number | null, colors: Palette): void {
	const { area } = frame, bottom = area.y + area.height;
	const baselines = runs.filter((run) => isBaseline(run) && hasCost(run));

	drawValueAxis(surface, area, logTimeTicks(frame.low, frame.high, 7), (value) => toY(frame, value), formatTimeTick, colors);
	for (const tick of decimalTicks(0, frame.last, Math.max(2, Math.floor(area.width / 70))).filter((value) => value >= 1 && Number.isInteger(value)))
		surface.text(toX(frame, tick), bottom + 14, String(tick), { color: colors.mute, align: 'middle' });
	surface.line([area.x, bottom, area.x + area.width, bottom], colors.axis, 1);
	surface.line(baselines.flatMap((run) => place(frame, run, objective)), colors.series[BASELINE], 1);
	drawBest(surface, frame, runs, objective, colors);
	for (const run of runs) {
		const [x, y] = place(frame, run, objective), size = run.number === chosen ? RADIUS * 1.8 : RADIUS;

		if (run.phase === 'unrecorded')
			continue;
		if (run.number === chosen)
			surface.line([x, area.y, x, bottom], colors.axis, 1);
		if (!isBaseline(run) && !isLeft(run, brushes))
			surface.rect(x - 1.5, y - 1.5, 3, 3, colors.axis);
		else if (hasCost(run))
			surface.rect(x - size, y - size, 2 * size, 2 * size, runColor(run, colors));
		else
			surface.area([x - size - 1, y - size, x + size + 1, y - size, x, y + size + 1], runColor(run, colors), 1);
	}
}

/* What the pointer shows of a run, here and in other charts. */
export function describeRun(run: TuningRun, objective: Objective | null): string[] {
	return [
		`run ${run.number}: ${run.phase === 'unrecorded' ? `run time ${formatTime(run.run_s * 1e9)}` : run.state === 'good' ? formatCost(objective, run.cost) : run.state}`,
		`${PHASE_NAMES[run.phase]}${isBaseline(run) ? ', without parameters' : ''}`,
		...run.parameters && !run.baseline ? [shorten(run.parameters, TITLE_LETTERS)] : [],
		...run.reason ? [shorten(run.reason, TITLE_LETTERS)] : [],
		`took ${formatTime(run.run_s * 1e9)}, started ${formatDate(run.begun_ns)} UTC`,
	];
}

function legendEntries(runs: readonly TuningRun[], colors: Palette): LegendEntry[] {
	const phases = (Object.keys(PHASE_SERIES) as Phase[]).filter((phase) => runs.some((run) => run.phase === phase && hasCost(run) && !isBaseline(run)));

	return [
		{ name: 'baseline', color: colors.series[BASELINE] },
		...phases.map((phase) => ({ name: PHASE_NAMES[phase], color: colors.series[PHASE_SERIES[phase] ?? 0] })),
		...runs.some((run) => run.phase !== 'unrecorded' && !hasCost(run)) ? [{ name: 'failed or aborted (top)', color: colors.series[FAILED] }] : [],
		{ name: 'best so far (line)', color: colors.series[BEST] },
	];
}

interface Props {
	runs: readonly TuningRun[];
	objective: Objective | null;
	brushes: Brushes;
	chosen: number | null; /* number of the run that the pointer is at, in any chart */
	onChoose: (number: number | null) => void;
	name: string;
}

export function HistoryChart({ runs, objective, brushes, chosen, onChoose, name }: Props) {
	const dark = useStore(isDark), colors = palette(dark);
	const root = useRef<HTMLDivElement>(null), width = useWidth(root);
	const shown = useMemo(() => runs.filter(({ phase }) => phase !== 'unrecorded'), [runs]);
	const frame = useMemo(() => makeFrame(width, HEIGHT, shown, objective), [width, shown, objective]);
	const run = shown.find(({ number }) => number === chosen);
	const title = `${COST_TITLES[objective ?? 'io'] ?? 'Cost'} of each run`;
	const draw = useCallback((surface: Surface) => drawHistory(surface, frame, shown, objective, brushes, chosen, palette(dark)),
		[frame, shown, objective, brushes, chosen, dark]);

	function nearest(event: PointerEvent): number | null {
		const x = event.clientX - (root.current?.getBoundingClientRect().left ?? 0);

		return shown.reduce<TuningRun | null>((best, other) =>
			best && Math.abs(toX(frame, best.number) - x) <= Math.abs(toX(frame, other.number) - x) ? best : other, null)?.number ?? null;
	}

	function onKey(event: KeyboardEvent): void {
		const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0, at = shown.findIndex(({ number }) => number === chosen);

		if (!step || !shown.length)
			return;
		event.preventDefault();
		onChoose(shown[Math.min(shown.length - 1, Math.max(0, at < 0 ? 0 : at + step))].number);
	}

	return (
		<Figure title={title.charAt(0).toUpperCase() + title.slice(1)} isWide legend={legendEntries(shown, colors)}
			about="Lower is better. The baseline, without parameters, is repeated throughout."
			exports={{
				name: `${name}-history`, height: 360,
				draw: (surface, full, height) => drawHistory(surface, makeFrame(full, height, shown, objective), shown, objective, brushes, null, colors),
				csv: () => csv(['run', 'phase', 'state', 'cost', 'run_s', 'io_s', 'parameters', 'begun_ns'], runs.map((row) =>
					[row.number, row.phase, row.state, row.cost, row.run_s, row.io_s, row.parameters, row.begun_ns])),
			}}>
			<div ref={root} class="plot" style={{ height: `${HEIGHT}px` }} tabIndex={0} role="group"
				aria-label={`${title}. Left and right arrow keys show runs.`} onKeyDown={onKey} onBlur={() => onChoose(null)}
				onPointerMove={(event) => onChoose(nearest(event))} onPointerLeave={() => onChoose(null)}>
				{width > 0 && <Canvas width={width} height={HEIGHT} draw={draw} />}
				{run && <Tip x={toX(frame, run.number)} y={frame.area.y} width={width} lines={describeRun(run, objective).map(visible)} />}
			</div>
		</Figure>
	);
}
