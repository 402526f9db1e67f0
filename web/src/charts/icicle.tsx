// SPDX-License-Identifier: BSD-3-Clause
// Which calls cause which: the time of each call below that of the call that encloses it.
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { csv } from '../lib/csv';
import { formatBytes, formatCount, formatShare, formatTime } from '../lib/format';
import { useWidth } from '../lib/size';
import { useStore } from '../lib/store';
import { shorten, visible } from '../lib/text';
import { isDark } from '../lib/theme';
import type { Causes } from '../lib/types';
import { Canvas } from './canvas';
import { Figure } from './figure';
import { boxPath, layoutIcicle, mergeFiles, type Box } from './icicle_layout';
import { contrastColor, layerColor, palette, type Palette } from './palette';
import type { Surface } from './surface';
import { Tip } from './tip';

const ROW = 26, LETTER = 7, LEAST_PIXELS = 0.5, PATH_LETTERS = 60;

function drawIcicle(surface: Surface, width: number, boxes: readonly Box[], chosen: Box | null, colors: Palette): void {
	for (const box of boxes) {
		const x = box.left * width, wide = box.width * width, y = box.depth * ROW;
		const color = layerColor(colors, box.node.layer), letters = Math.floor((wide - 8) / LETTER);

		if (wide < LEAST_PIXELS)
			continue;
		surface.rect(x, y, Math.max(LEAST_PIXELS, wide - 1), ROW - 1, color);
		if (letters >= 3)
			surface.text(x + 5, y + ROW / 2, visible(box.node.function).slice(0, letters), { color: contrastColor(color) });
		if (box === chosen)
			surface.line([x + 1, y + 1, x + wide - 2, y + 1, x + wide - 2, y + ROW - 2, x + 1, y + ROW - 2, x + 1, y + 1], colors.text, 2);
	}
}

function describeBox(box: Box, total: number): string[] {
	const { node } = box, inner = box.children.reduce((sum, child) => sum + child.node.time_ns, 0);

	return [
		visible(boxPath(box).join(' › ')),
		`${visible(node.layer)}: ${formatTime(node.time_ns)} (${formatShare(node.time_ns, total)})`,
		...inner ? [`${formatTime(Math.max(0, node.time_ns - inner))} outside of the calls that it caused`] : [],
		`${formatCount(node.calls)} calls${node.errors ? `, ${formatCount(node.errors)} failed` : ''}`,
		`read ${formatBytes(node.bytes_read)}, written ${formatBytes(node.bytes_written)}`,
		...node.file ? [shorten(node.file, PATH_LETTERS)] : [],
	];
}

/* The box that an arrow key leads to. */
function stepBox(boxes: readonly Box[], from: Box | null, key: string): Box | null {
	if (!from)
		return boxes[0] ?? null;
	const row = boxes.filter((box) => box.depth === from.depth).sort((a, b) => a.left - b.left), at = row.indexOf(from);

	switch (key) {
	case 'ArrowUp':
		return from.parent ?? from;
	case 'ArrowDown':
		return from.children[0] ?? from;
	case 'ArrowLeft':
		return row[at - 1] ?? from;
	default:
		return row[at + 1] ?? from;
	}
}

interface Props {
	causes: Causes;
	run: string;
	onFunction: (name: string) => void;
}

export function IcicleChart({ causes, run, onFunction }: Props) {
	const dark = useStore(isDark), colors = palette(dark);
	const root = useRef<HTMLDivElement>(null), width = useWidth(root);
	const [rootNode, setRootNode] = useState<number | null>(null);
	const nodes = useMemo(() => mergeFiles(causes.nodes), [causes]);
	const boxes = useMemo(() => layoutIcicle(nodes, rootNode), [nodes, rootNode]);
	const [chosenId, setChosenId] = useState<number | null>(null);
	const chosen = boxes.find((box) => box.node.id === chosenId) ?? null;
	const height = Math.max(1, ...boxes.map((box) => box.depth + 1)) * ROW;
	const total = nodes.reduce((sum, node) => node.parent === 0 ? sum + node.time_ns : sum, 0);
	const layers = [...new Set(nodes.map((node) => node.layer))];
	const draw = useCallback((surface: Surface) => drawIcicle(surface, width, boxes, chosen, palette(dark)), [width, boxes, chosen, dark]);

	function boxAt(event: MouseEvent): Box | null {
		const place = root.current?.getBoundingClientRect();
		const x = (event.clientX - (place?.left ?? 0)) / width, depth = Math.floor((event.clientY - (place?.top ?? 0)) / ROW);

		return boxes.find((box) => box.depth === depth && x >= box.left && x < box.left + box.width) ?? null;
	}

	function onKey(event: KeyboardEvent): void {
		if (event.key.startsWith('Arrow')) {
			setChosenId(stepBox(boxes, chosen, event.key)?.node.id ?? null);
		} else if (event.key === 'Enter' && chosen) {
			setRootNode(chosen.node.id);
		} else if (event.key === 'f' && chosen && !event.ctrlKey && !event.metaKey) {
			onFunction(chosen.node.function);
		} else if (event.key === 'Escape') {
			setRootNode(null);
		} else {
			return;
		}
		event.preventDefault();
	}

	return (
		<Figure title="Causes of calls" legend={layers.map((layer) => ({ name: visible(layer), color: layerColor(colors, layer) }))}
			about="A box is as wide as the time of the calls; below it are the calls that they caused."
			tools={rootNode !== null && <button type="button" onClick={() => setRootNode(null)}>Show all calls</button>}
			exports={{
				name: `${run}-causes`, height: height + 12,
				draw: (surface, full) => drawIcicle(surface, full, boxes, null, colors),
				csv: () => csv(['path', 'layer', 'calls', 'errors', 'bytes_read', 'bytes_written', 'time_ns'], boxes.map((box) => [
					boxPath(box).join(';'), box.node.layer, box.node.calls, box.node.errors, box.node.bytes_read, box.node.bytes_written, box.node.time_ns])),
			}}>
			{boxes.length === 0 ? <p class="nothing">No call is selected.</p> : (
				<div ref={root} class="plot icicle" style={{ height: `${height}px` }} tabIndex={0} role="group"
					aria-label="Causes of calls. Arrow keys move between calls, Enter enlarges a call, f filters by its function, Escape shows all calls."
					onKeyDown={onKey} onBlur={() => setChosenId(null)} onPointerLeave={() => setChosenId(null)}
					onPointerMove={(event) => setChosenId(boxAt(event)?.node.id ?? null)}
					onClick={(event) => setRootNode(boxAt(event)?.node.id ?? null)}>
					{width > 0 && <Canvas width={width} height={height} draw={draw} />}
					{chosen && <Tip x={(chosen.left + chosen.width / 2) * width} y={(chosen.depth + 1) * ROW} width={width} lines={describeBox(chosen, total)} />}
				</div>
			)}
		</Figure>
	);
}
