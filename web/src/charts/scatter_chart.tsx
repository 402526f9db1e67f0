// SPDX-License-Identifier: BSD-3-Clause
// Predicted against measured times of a model. Arrow keys go through the measurements.
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatRatio, formatTime } from '../lib/format';
import { useWidth } from '../lib/size';
import type { Pair } from '../lib/storage_types';
import { useStore } from '../lib/store';
import { visible } from '../lib/text';
import { isDark } from '../lib/theme';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { palette } from './palette';
import { drawScatter, groupColor, nearestPair, pairPlace, pairRange, scatterArea } from './scatter';
import type { Surface } from './surface';
import { Tip } from './tip';

const HEIGHT = 400;

interface Props {
	pairs: readonly Pair[];
	factor: number | null; /* of the prediction interval; null: none */
	interval: string; /* what the interval is */
	about: string;
	name: string;
}

function describePair([predicted, measured, group, what]: Pair, factor: number | null): string[] {
	const ratio = measured / predicted;

	return [
		`${visible(what)} (${visible(group)})`, `predicted ${formatTime(predicted * 1e9)}`, `measured ${formatTime(measured * 1e9)}`,
		`measured / predicted ${formatRatio(ratio)}${factor === null ? '' : ratio <= factor && ratio >= 1 / factor ? ', inside the interval' : ', outside the interval'}`,
	];
}

export function ScatterChart({ pairs: given, factor, interval, about, name }: Props) {
	const dark = useStore(isDark), colors = palette(dark);
	const root = useRef<HTMLDivElement>(null), width = useWidth(root);
	const [chosen, setChosen] = useState(-1);
	const pairs = useMemo(() => [...given].sort((a, b) => a[0] - b[0]), [given]);
	const range = pairRange(pairs), area = scatterArea(width, HEIGHT);
	const legend = [...new Set(pairs.map(([, , group]) => group))].map((group) => ({ name: group, color: groupColor(colors, group) }));
	const draw = useCallback((surface: Surface) => drawScatter(surface, width, HEIGHT, pairs, factor, chosen, palette(dark)), [width, pairs, factor, chosen, dark]);
	const at = chosen >= 0 ? pairs[chosen] : undefined;

	function onKey(event: KeyboardEvent): void {
		const step = { ArrowRight: 1, ArrowLeft: -1, Home: -pairs.length, End: pairs.length }[event.key];

		if (step === undefined)
			return;
		event.preventDefault();
		setChosen(Math.min(pairs.length - 1, Math.max(0, chosen + step)));
	}

	return (
		<Figure title="Predicted and measured times" about={about} legend={factor === null ? legend : [...legend, { name: interval, color: `${colors.select}40` }]}
			exports={{
				name, height: 420, draw: (surface, full, height) => drawScatter(surface, full, height, pairs, factor, -1, colors),
				csv: () => csv(['group', 'operation', 'predicted_s', 'measured_s'], pairs.map(([predicted, measured, group, what]) => [group, what, predicted, measured])),
			}}>
			<div ref={root} class="plot" style={{ height: `${HEIGHT}px` }} tabIndex={0} role="group"
				aria-label="Predicted and measured times. Arrow keys show the values of each measurement." onKeyDown={onKey} onBlur={() => setChosen(-1)}
				onPointerLeave={() => setChosen(-1)} onPointerMove={(event) => {
					const box = root.current?.getBoundingClientRect();
					const x = (event.clientX - (box?.left ?? 0) - area.x) / area.width, y = 1 - (event.clientY - (box?.top ?? 0) - area.y) / area.height;

					setChosen(range ? nearestPair(pairs, range, x, y) : -1);
				}}>
				{width > 0 && <Canvas width={width} height={HEIGHT} draw={draw} />}
				{at && range && <Tip x={area.x + area.width * pairPlace(range, at[0])} y={area.y + area.height * (1 - pairPlace(range, at[1]))}
					width={width} lines={describePair(at, factor)} />}
			</div>
		</Figure>
	);
}
