// SPDX-License-Identifier: BSD-3-Clause
// Where in a file the calls read and write, over time.
import type { ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatBytes, formatCount, formatPosition, formatTime } from '../lib/format';
import type { Span } from '../lib/span';
import { useStore } from '../lib/store';
import { isDark } from '../lib/theme';
import type { Access, Offsets } from '../lib/types';
import { fileRange, nearestAccess } from './accesses';
import { drawTimeAxis, drawValueAxis, plotArea, timeX } from './axes';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { palette, READ, WRITE, type Palette } from './palette';
import type { Surface } from './surface';
import { binaryTicks } from './ticks';
import { TimePlot, type TimeView } from './time_plot';

const HEIGHT = 260, LEAST_PIXELS = 2;

function drawOffsets(surface: Surface, width: number, height: number, offsets: Offsets, span: Span, colors: Palette): void {
	const area = plotArea(width, height), { low, high } = fileRange(offsets.accesses);
	const toY = (offset: number) => area.y + area.height * (1 - (offset - low) / (high - low));

	drawValueAxis(surface, area, binaryTicks(low, high, 5), toY, formatBytes, colors);
	for (const [start, duration, offset, bytes, way] of offsets.accesses) {
		const left = Math.max(area.x, timeX(span, area, start));
		const right = Math.min(area.x + area.width, timeX(span, area, start + duration));
		const top = toY(offset + bytes), tall = Math.max(LEAST_PIXELS, toY(offset) - top);

		if (start <= span.to && start + duration >= span.from)
			surface.rect(Math.min(left, area.x + area.width - LEAST_PIXELS), Math.min(top, area.y + area.height - tall),
				Math.max(LEAST_PIXELS, right - left), tall, colors.series[way ? WRITE : READ]);
	}
	drawTimeAxis(surface, area, span, colors, false);
}

function describeAccess(access: Access | null, who: string): string[] {
	if (!access)
		return [];
	const [start, duration, offset, bytes, way, member] = access;

	return [
		`${way ? 'written' : 'read'} by ${who} ${member}`,
		`offset ${formatCount(offset)}, ${formatCount(bytes)} bytes`,
		`at ${formatPosition(start, 1e3)}, for ${formatTime(duration)}`,
	];
}

interface Props extends TimeView {
	offsets: Offsets;
	run: string;
	who: string;
	tools?: ComponentChildren;
}

export function OffsetsChart(props: Props) {
	const { offsets, span, who } = props;
	const dark = useStore(isDark), colors = palette(dark);
	const { low, high } = useMemo(() => fileRange(offsets.accesses), [offsets]);
	const legend = [{ name: 'read', color: colors.series[READ] }, { name: 'written', color: colors.series[WRITE] }];
	const about = offsets.sampled ? 'A sample of the accesses: there are too many to show all. Select a shorter window to see each.'
		: offsets.accesses.length ? undefined : 'No call with a known offset is selected. Storage calls have offsets: choose the level "storage".';

	return (
		<Figure title="Offsets over time" about={about} isWide legend={legend} tools={props.tools} exports={{
			name: `${props.run}-offsets`, height: 360,
			draw: (surface, width, height) => drawOffsets(surface, width, height, offsets, span, colors),
			csv: () => csv(['start_ns', 'duration_ns', 'offset', 'bytes', 'way', 'member'], offsets.accesses.map(
				([start, duration, offset, bytes, way, member]) => [start, duration, offset, bytes, way ? 'write' : 'read', member])),
		}}>
			<TimePlot {...props} label="Offsets over time" height={HEIGHT} describe={(ns, share) =>
				describeAccess(nearestAccess(offsets.accesses, span, ns, high - (share ?? 0.5) * (high - low), high - low), who)}>
				{(width) => <OffsetsCanvas {...{ width, offsets, span, dark }} />}
			</TimePlot>
		</Figure>
	);
}

function OffsetsCanvas({ width, offsets, span, dark }: { width: number; offsets: Offsets; span: Span; dark: boolean }) {
	const draw = useCallback((surface: Surface) => drawOffsets(surface, width, HEIGHT, offsets, span, palette(dark)),
		[width, offsets, span.from, span.to, dark]);

	return <Canvas width={width} height={HEIGHT} draw={draw} />;
}
