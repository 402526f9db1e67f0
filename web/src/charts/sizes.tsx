// SPDX-License-Identifier: BSD-3-Clause
// How large the requests are: calls by size, in powers of two.
import { useCallback, useRef, useState } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatBytes, formatCount, formatShare, formatShortCount } from '../lib/format';
import { useWidth } from '../lib/size';
import { useStore } from '../lib/store';
import { isDark } from '../lib/theme';
import type { WindowAnswer } from '../lib/types';
import { drawValueAxis, plotArea, type Area } from './axes';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { palette, READ, WRITE, type Palette } from './palette';
import { sizeClasses, type SizeClass } from './size_classes';
import type { Surface } from './surface';
import { decimalTicks } from './ticks';
import { Tip } from './tip';

const HEIGHT = 240, LABEL_PIXELS = 64;

function drawSizes(surface: Surface, width: number, height: number, classes: readonly SizeClass[], colors: Palette): void {
	const area = plotArea(width, height), step = area.width / Math.max(1, classes.length), bottom = area.y + area.height;
	const most = Math.max(1, ...classes.map(({ reads, writes }) => Math.max(reads, writes)));
	const every = Math.max(1, Math.ceil(LABEL_PIXELS / step)), bar = Math.min(40, step * 0.4);
	const toY = (value: number) => bottom - area.height * value / most;

	drawValueAxis(surface, area, decimalTicks(0, most, 4).filter(Number.isInteger), toY, formatShortCount, colors);
	classes.forEach(({ low, reads, writes }, i) => {
		const middle = area.x + (i + 0.5) * step;

		surface.rect(middle - bar, toY(reads), bar, bottom - toY(reads), colors.series[READ]);
		surface.rect(middle, toY(writes), bar, bottom - toY(writes), colors.series[WRITE]);
		if (i % every === 0)
			surface.text(middle, bottom + 14, formatBytes(low), { color: colors.mute, align: 'middle' });
	});
	surface.line([area.x, bottom, area.x + area.width, bottom], colors.axis, 1);
}

function describeClass(size: SizeClass, total: number): string[] {
	const range = size.high === null ? `${formatBytes(size.low)} or more`
		: size.high - size.low <= 1 ? formatBytes(size.low) : `${formatBytes(size.low)} to less than ${formatBytes(size.high)}`;
	const line = (name: string, count: number) => `${formatCount(count)} ${name} (${formatShare(count, total)} of all)`;

	return [range, line('reads', size.reads), line('writes', size.writes)];
}

export function SizesChart({ answer, run }: { answer: WindowAnswer; run: string }) {
	const dark = useStore(isDark), colors = palette(dark);
	const root = useRef<HTMLDivElement>(null), width = useWidth(root);
	const classes = sizeClasses(answer.sizes), total = classes.reduce((sum, { reads, writes }) => sum + reads + writes, 0);
	const [chosen, setChosen] = useState<number | null>(null);
	const area = plotArea(width, HEIGHT);
	const legend = [{ name: 'reads', color: colors.series[READ] }, { name: 'writes', color: colors.series[WRITE] }];
	const draw = useCallback((surface: Surface) => drawSizes(surface, width, HEIGHT, sizeClasses(answer.sizes), palette(dark)), [width, answer, dark]);

	function onKey(event: KeyboardEvent): void {
		const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;

		if (!step || !classes.length)
			return;
		event.preventDefault();
		setChosen(Math.min(classes.length - 1, Math.max(0, chosen === null ? 0 : chosen + step)));
	}

	return (
		<Figure title="Sizes of requests" legend={legend} exports={{
			name: `${run}-sizes`, height: 300,
			draw: (surface, full, height) => drawSizes(surface, full, height, classes, colors),
			csv: () => csv(['at_least_bytes', 'less_than_bytes', 'reads', 'writes'],
				classes.map(({ low, high, reads, writes }) => [low, high, reads, writes])),
		}}>
			{classes.length === 0 ? <p class="nothing">No read or write is selected.</p> : (
				<div ref={root} class="plot" style={{ height: `${HEIGHT}px` }} tabIndex={0} role="group"
					aria-label="Sizes of requests. Arrow keys show values." onKeyDown={onKey} onBlur={() => setChosen(null)}
					onPointerLeave={() => setChosen(null)}
					onPointerMove={(event) => setChosen(classAt(event, root.current, area, classes.length))}>
					{width > 0 && <Canvas width={width} height={HEIGHT} draw={draw} />}
					{chosen !== null && classes[chosen] && <Tip x={area.x + (chosen + 0.5) * area.width / classes.length} y={area.y}
						width={width} lines={describeClass(classes[chosen], total)} />}
				</div>
			)}
		</Figure>
	);
}

function classAt(event: PointerEvent, root: HTMLElement | null, area: Area, count: number): number | null {
	const share = (event.clientX - (root?.getBoundingClientRect().left ?? 0) - area.x) / area.width;

	return share >= 0 && share < 1 ? Math.floor(share * count) : null;
}
