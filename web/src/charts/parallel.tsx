// SPDX-License-Identifier: BSD-3-Clause
// Parallel coordinates of the trials of a tuning. A range of an axis filters the trials of the whole page.
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { csv } from '../lib/csv';
import { useWidth } from '../lib/size';
import { useStore } from '../lib/store';
import { shorten, visible } from '../lib/text';
import { isDark } from '../lib/theme';
import { COST_TITLES, costSeconds, describeRange, formatCost, hasBrush, isLeft, type Brushes, type Range } from '../lib/tuning';
import type { Dimension, Objective, TuningRun } from '../lib/tuning_types';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { describeRun } from './history';
import { formatTimeTick, logShare, logTimeTicks } from './log_scale';
import { AXIS_LEAST, axisRange, axisX, brushBox, brushRange, costY, nearestTrial, parallelFrame, stepRange, trialLine, trialsOf, valueY, type ParallelFrame, type Trial } from './parallel_layout';
import { palette, rampColor, type Palette } from './palette';
import type { Surface } from './surface';
import { Tip } from './tip';

const HEIGHT = 320, GRIP = 36, REACH = 12, CLICK_PIXELS = 4, LETTER = 7, VALUE_LETTERS = 12;

function trialColor(frame: ParallelFrame, trial: Trial, colors: Palette): string {
	return rampColor(colors, 1 - logShare(costSeconds(frame.objective, trial.cost), frame.low, frame.high));
}

/* A label that can be read above the lines. */
function drawLabel(surface: Surface, right: number, y: number, text: string, colors: Palette): void {
	const left = right - LETTER * text.length - 2;

	surface.area([left, y - 8, right + 2, y - 8, right + 2, y + 8, left, y + 8], colors.back, 0.8);
	surface.text(right, y, text, { color: colors.text, align: 'end' });
}

function drawAxes(surface: Surface, frame: ParallelFrame, colors: Palette): void {
	const { area, space, objective } = frame, bottom = area.y + area.height, step = area.width / Math.max(1, space.length);
	const letters = Math.max(6, Math.floor((step - 8) / LETTER));

	space.forEach((dimension, axis) => {
		const x = axisX(frame, axis);

		surface.line([x, area.y, x, bottom], colors.axis, 1.5);
		surface.text(x, 12, shorten(dimension.name, letters), { color: colors.text, align: 'middle', bold: true });
		dimension.values.forEach((value, i) => {
			surface.line([x - 4, valueY(frame, axis, i), x + 4, valueY(frame, axis, i)], colors.axis, 1.5);
			drawLabel(surface, x - 8, valueY(frame, axis, i), shorten(value ?? 'unset', Math.min(VALUE_LETTERS, letters)), colors);
		});
	});
	const right = axisX(frame, space.length);
	surface.line([right, area.y, right, bottom], colors.axis, 1.5);
	surface.text(right, 12, COST_TITLES[objective ?? 'io'] ?? 'cost', { color: colors.text, align: 'middle', bold: true });
	for (const tick of logTimeTicks(frame.low, frame.high, 6)) {
		surface.line([right - 4, costY(frame, tick), right + 4, costY(frame, tick)], colors.axis, 1.5);
		surface.text(right + 8, costY(frame, tick), formatTimeTick(tick), { color: colors.mute });
	}
}

/* The best trials are drawn last, above the others; those that the filters exclude are drawn first. */
function drawParallel(surface: Surface, frame: ParallelFrame, trials: readonly Trial[], brushes: Brushes, chosen: number | null, colors: Palette): void {
	const ordered = [...trials].sort((a, b) => b.cost - a.cost), marked = trials.find(({ number }) => number === chosen);

	for (const trial of ordered)
		if (!isLeft(trial, brushes))
			surface.line(trialLine(frame, trial), colors.grid, 1);
	for (const trial of ordered)
		if (isLeft(trial, brushes))
			surface.line(trialLine(frame, trial), trialColor(frame, trial, colors), 1.8);
	if (marked) {
		surface.line(trialLine(frame, marked), colors.back, 6);
		surface.line(trialLine(frame, marked), colors.series[3], 3.5);
	}
	drawAxes(surface, frame, colors);
}

interface Props {
	runs: readonly TuningRun[];
	space: readonly Dimension[];
	objective: Objective | null;
	brushes: Brushes;
	chosen: number | null;
	onChoose: (number: number | null) => void;
	onBrush: (axis: number | null, range: Range | null) => void; /* axis null: remove all */
	name: string;
}

export function ParallelChart(props: Props) {
	const { runs, space, objective, brushes, chosen, onChoose, onBrush } = props;
	const dark = useStore(isDark), colors = palette(dark);
	const root = useRef<HTMLDivElement>(null), visibleWidth = useWidth(root);
	const trials = useMemo(() => trialsOf(runs), [runs]);
	const width = Math.max(visibleWidth, 160 + AXIS_LEAST * space.length);
	const frame = useMemo(() => parallelFrame(width, HEIGHT, space, trials, objective), [width, space, trials, objective]);
	const marked = trials.find(({ number }) => number === chosen);
	const left = trials.filter((trial) => isLeft(trial, brushes)).length;
	const draw = useCallback((surface: Surface) => drawParallel(surface, frame, trials, brushes, chosen, palette(dark)), [frame, trials, brushes, chosen, dark]);

	function pointAt(event: PointerEvent): { x: number; y: number } {
		const box = (event.currentTarget as HTMLElement).getBoundingClientRect();

		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	return (
		<Figure title="Trials by parameters" isWide
			about={hasBrush(brushes) ? `${left} of ${trials.length} trials are in the selected ranges.` : 'A line is a trial. Drag along an axis to select a range of it, which filters this page.'}
			ramp={{ colors: colors.ramp, low: 'slow', high: 'fast' }}
			tools={hasBrush(brushes) && <button type="button" onClick={() => onBrush(null, null)}>Show all trials</button>}
			exports={{
				name: `${props.name}-trials`, height: 400,
				draw: (surface, full, height) => drawParallel(surface, parallelFrame(full, height, space, trials, objective), trials, brushes, null, colors),
				csv: () => csv(['run', 'phase', ...space.map(({ name }) => name), 'cost'], trials.filter((trial) => isLeft(trial, brushes)).map((trial) =>
					[trial.number, trial.phase, ...trial.values.map((index, axis) => index === null ? null : space[axis].values[index]), trial.cost])),
			}}>
			<div ref={root} class="sideways" tabIndex={0} role="region" aria-label="Trials by parameters">
				{trials.length === 0 ? <p class="nothing">No trial with parameters has succeeded yet.</p> : (
					<div class="plot parallel" style={{ height: `${HEIGHT}px`, width: `${width}px` }}
						onPointerMove={(event) => {
							const { x, y } = pointAt(event);

							onChoose(nearestTrial(frame, trials, x, y, REACH)?.number ?? null);
						}} onPointerLeave={() => onChoose(null)}>
						{visibleWidth > 0 && <Canvas width={width} height={HEIGHT} draw={draw} />}
						{[...space.keys(), space.length].map((axis) => <Axis key={axis} {...{ axis, frame, brushes, onBrush }} />)}
						{marked && <Tip x={axisX(frame, space.length)} y={frame.area.y} width={width} lines={describeRun(marked, objective).map(visible)} />}
					</div>
				)}
			</div>
		</Figure>
	);
}

/* What selects a range of an axis: the pointer along it, or the arrow keys. */
function Axis({ axis, frame, brushes, onBrush }: { axis: number; frame: ParallelFrame } & Pick<Props, 'brushes' | 'onBrush'>) {
	const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
	const range = drag && Math.abs(drag.to - drag.from) > CLICK_PIXELS ? brushRange(frame, axis, drag.from, drag.to) : axisRange(brushes, axis);
	const isCost = axis === frame.space.length;
	const title = isCost ? COST_TITLES[frame.objective ?? 'io'] : visible(frame.space[axis].name);
	const selected = range === null ? 'all' : isCost ? `${formatCost(frame.objective, range.low)} to ${formatCost(frame.objective, range.high)}` : visible(describeRange(frame.space[axis], range));
	const box = range && brushBox(frame, axis, range);

	function place(event: PointerEvent): number {
		return event.clientY - (event.currentTarget as HTMLElement).getBoundingClientRect().top;
	}

	function onKey(event: KeyboardEvent): void {
		if (event.key === 'Escape') {
			onBrush(axis, null);
			return;
		}
		/* The cost has no values to step through: its axis is divided into ten parts. */
		const last = isCost ? 9 : frame.space[axis].values.length - 1, part = frame.area.height / 10;
		const bottom = frame.area.y + frame.area.height;
		const now = range && isCost ? { low: Math.round((bottom - (box?.top ?? 0) - (box?.height ?? 0)) / part), high: Math.round((bottom - (box?.top ?? 0)) / part) - 1 } : range;
		const next = stepRange(now, event.key, event.shiftKey, last);

		if (!next)
			return;
		event.preventDefault();
		onBrush(axis, isCost ? brushRange(frame, axis, bottom - next.low * part, bottom - (next.high + 1) * part) : next);
	}

	return (
		<>
			<div class="axis" style={{ left: `${axisX(frame, axis) - GRIP / 2}px`, width: `${GRIP}px` }} tabIndex={0} role="group"
				title={isCost ? title : `${title}: ${visible(frame.space[axis].help)} (${visible(frame.space[axis].layer)})`}
				aria-label={`${title}: ${selected}. Up and down arrow keys select, with Shift they widen the range, Escape selects all.`}
				onKeyDown={onKey}
				onPointerDown={(event) => {
					(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
					setDrag({ from: place(event), to: place(event) });
				}}
				onPointerMove={(event) => drag && setDrag({ from: drag.from, to: place(event) })}
				onPointerCancel={() => setDrag(null)}
				onPointerUp={(event) => {
					if (!drag)
						return;
					setDrag(null);
					if (Math.abs(place(event) - drag.from) > CLICK_PIXELS)
						onBrush(axis, brushRange(frame, axis, drag.from, place(event)));
					else
						onBrush(axis, axisRange(brushes, axis) || isCost ? null : brushRange(frame, axis, drag.from, drag.from));
				}} />
			{box && <div class="brush axis-brush" style={{ left: `${axisX(frame, axis) - 7}px`, width: '14px', top: `${box.top}px`, height: `${Math.max(3, box.height)}px` }} />}
		</>
	);
}
