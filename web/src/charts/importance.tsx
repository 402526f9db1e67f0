// SPDX-License-Identifier: BSD-3-Clause
// How much of the variance of the costs each parameter explains, as the tuner has computed it.
import { useCallback, useMemo, useRef } from 'preact/hooks';
import { csv } from '../lib/csv';
import { useWidth } from '../lib/size';
import { useStore } from '../lib/store';
import { shorten } from '../lib/text';
import { isDark } from '../lib/theme';
import type { Importance } from '../lib/tuning_types';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { importanceBars, type Bar } from './importance_bars';
import { palette, type Palette } from './palette';
import type { Surface } from './surface';

const ROW = 30, LETTER = 7.2, NAME_SHARE = 0.34, NAME_MOST = 220, REMARK = 200;

function drawBars(surface: Surface, width: number, bars: readonly Bar[], colors: Palette): void {
	const left = Math.min(NAME_MOST, width * NAME_SHARE), room = Math.max(20, width - left - REMARK), most = Math.max(0.01, ...bars.map(({ share }) => share));

	bars.forEach(({ name, share, remark, series }, i) => {
		const y = (i + 0.5) * ROW, long = Math.max(1, room * share / most);

		surface.text(left - 8, y, shorten(name, Math.floor((left - 8) / LETTER)), { color: colors.text, align: 'end' });
		surface.rect(left, y - 8, long, 16, colors.series[series]);
		surface.text(left + long + 6, y, `${Math.round(100 * share)}%`, { color: colors.text, bold: true });
		surface.text(left + long + 44, y, shorten(remark, Math.floor((REMARK - 44) / LETTER)), { color: colors.mute });
	});
}

export function ImportanceChart({ importance, name }: { importance: Importance; name: string }) {
	const dark = useStore(isDark), colors = palette(dark);
	const root = useRef<HTMLDivElement>(null), width = useWidth(root);
	const bars = useMemo(() => importanceBars(importance), [importance]);
	const height = ROW * bars.length;
	const draw = useCallback((surface: Surface) => drawBars(surface, width, bars, palette(dark)), [width, bars, dark]);

	return (
		<Figure title="Importance of parameters" about="Share of the variance of all trials' costs that a parameter explains alone, and its best value on average."
			exports={{
				name: `${name}-importance`, height: height + 8,
				draw: (surface, full) => drawBars(surface, full, bars, colors),
				csv: () => csv(['parameter', 'share', 'best_value', 'worst_by_best'], [
					...importance.details.map((part) => [part.name, part.share, part.best, part.factor]),
					['(combinations)', importance.together, null, null], ['(noise)', importance.unexplained, null, null]]),
			}}>
			<div ref={root} class="still" style={{ height: `${height}px` }} role="img"
				aria-label={`Importance of parameters. ${bars.map((bar) => `${bar.name}: ${Math.round(100 * bar.share)}%`).join('; ')}`}>
				{width > 0 && <Canvas width={width} height={height} draw={draw} />}
			</div>
		</Figure>
	);
}
