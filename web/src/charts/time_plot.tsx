// SPDX-License-Identifier: BSD-3-Clause
// What all charts over time share: dragging or Shift and arrow keys select a window, the pointer or arrow keys move a
// cursor that all charts show, and its values are shown as text. What is drawn below is the business of each chart.
// A finger that moves sideways selects, too; if it moves up or down, the browser scrolls the page and cancels the pointer.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { cursorTime } from '../lib/cursor';
import { useStore } from '../lib/store';
import { useWidth } from '../lib/size';
import { dragSpan, panSpan, PAN_STEP, spanLength, zoomSpan, ZOOM_STEP, type Span } from '../lib/span';
import { plotArea, timeX, type Area } from './axes';
import { Tip } from './tip';

export interface TimeView {
	span: Span;
	whole: Span;
	onSpan: (span: Span, kind: 'step' | 'choice') => void;
}

interface Props extends TimeView {
	label: string;
	height: number;
	/* The values at a time. `share` is the height of the pointer in the plot, 0 at the top; null for the keyboard. */
	describe: (ns: number, share: number | null) => string[];
	children: (width: number, area: Area) => ComponentChildren;
	mark?: Span | null; /* a window that is shown as selected */
	noun?: string; /* what the whole is */
	help?: string; /* what keys do, if it is not what they do in a chart over the time of a run */
	step?: number; /* how far an arrow key moves the cursor */
	onOpen?: (ns: number) => void; /* a click, or Enter without a selection */
}

const CURSOR_STEP = 0.01;
const helpOf = (noun: string) => `Arrow keys show values, Shift and arrow keys select a window, Enter shows it, Escape shows the whole ${noun}.`;
const TAP_PIXELS = 12; /* a finger that taps moves as far */

export function TimePlot(props: Props) {
	const { span, whole, onSpan, height, describe } = props;
	const root = useRef<HTMLDivElement>(null);
	const width = useWidth(root);
	const area = plotArea(width, height);
	const shared = useStore(cursorTime);
	const [share, setShare] = useState<number | null>(null);
	const [isOwner, setOwner] = useState(false);
	const [drag, setDrag] = useState<{ start: number; end: number } | null>(null);
	const cursor = shared !== null && shared >= span.from && shared <= span.to ? shared : null;

	useEffect(() => {
		setDrag(null);
	}, [span.from, span.to]);

	function position(event: PointerEvent): { x: number; y: number } {
		const box = root.current?.getBoundingClientRect();

		return {
			x: Math.min(1, Math.max(0, (event.clientX - (box?.left ?? 0) - area.x) / area.width)),
			y: Math.min(1, Math.max(0, (event.clientY - (box?.top ?? 0) - area.y) / area.height)),
		};
	}

	function moveTo(x: number, y: number | null): void {
		setOwner(true);
		setShare(y);
		cursorTime.set(Math.round(span.from + x * spanLength(span)));
	}

	function leave(): void {
		setOwner(false);
		cursorTime.set(null);
	}

	function apply(selection: { start: number; end: number } | null, leastPixels?: number): void {
		const chosen = selection && dragSpan(span, selection.start, selection.end, area.width, leastPixels);

		setDrag(null);
		if (chosen)
			onSpan(chosen, 'choice');
		else if (cursor !== null)
			props.onOpen?.(cursor);
	}

	function moveByKey(direction: number, isSelecting: boolean): void {
		const at = cursor === null ? 0.5 : (cursor - span.from) / spanLength(span);
		const x = Math.min(1, Math.max(0, at + direction * (props.step ? props.step / spanLength(span) : CURSOR_STEP)));

		setDrag(isSelecting ? { start: drag ? drag.start : at, end: x } : null);
		moveTo(x, null);
	}

	function onKey(event: KeyboardEvent): void {
		const at = cursor === null ? 0.5 : (cursor - span.from) / spanLength(span);
		const actions: Record<string, () => void> = {
			ArrowLeft: () => moveByKey(-1, event.shiftKey),
			ArrowRight: () => moveByKey(1, event.shiftKey),
			Enter: () => apply(drag),
			Escape: () => drag ? setDrag(null) : onSpan(whole, 'choice'),
			'+': () => onSpan(zoomSpan(span, whole, ZOOM_STEP, at), 'step'),
			'=': () => onSpan(zoomSpan(span, whole, ZOOM_STEP, at), 'step'),
			'-': () => onSpan(zoomSpan(span, whole, 1 / ZOOM_STEP, at), 'step'),
			a: () => onSpan(panSpan(span, whole, -PAN_STEP), 'step'),
			d: () => onSpan(panSpan(span, whole, PAN_STEP), 'step'),
		};
		const action = event.ctrlKey || event.altKey || event.metaKey ? undefined : actions[event.key];

		if (!action)
			return;
		event.preventDefault();
		action();
	}

	const mark = drag && { from: span.from + drag.start * spanLength(span), to: span.from + drag.end * spanLength(span) };
	return (
		<div ref={root} class="plot" style={{ height: `${height}px` }} tabIndex={0} role="group"
			aria-label={`${props.label}. ${props.help ?? helpOf(props.noun ?? 'run')}`}
			onKeyDown={onKey} onBlur={leave}
			onPointerMove={(event) => {
				const { x, y } = position(event);

				moveTo(x, y);
				if (drag && event.buttons === 1)
					setDrag({ start: drag.start, end: x });
			}}
			onPointerDown={(event) => {
				const { x, y } = position(event);

				if (event.button !== 0 || !event.isPrimary)
					return;
				moveTo(x, y);
				root.current?.setPointerCapture(event.pointerId);
				setDrag({ start: x, end: x });
			}}
			onPointerUp={(event) => drag && apply(drag, event.pointerType === 'touch' ? TAP_PIXELS : undefined)}
			onPointerCancel={() => {
				setDrag(null);
				leave();
			}}
			onPointerLeave={(event) => {
				/* The values stay where the finger was, until the focus goes elsewhere. */
				if (event.pointerType !== 'touch')
					leave();
			}}
			onDblClick={() => onSpan(whole, 'choice')}>
			{width > 0 && props.children(width, area)}
			{props.mark && <Band span={span} area={area} band={props.mark} name="mark" />}
			{mark && <Band span={span} area={area} band={mark} name="brush" />}
			{cursor !== null && <div class="cursor" style={{
				left: `${timeX(span, area, cursor)}px`, top: `${area.y}px`, height: `${area.height}px`,
			}} />}
			{isOwner && cursor !== null && !(drag && drag.start !== drag.end) && <Tip x={timeX(span, area, cursor)} y={area.y + (share ?? 0) * area.height}
				width={width} lines={describe(cursor, share)} />}
		</div>
	);
}

function Band(props: { span: Span; area: Area; band: Span; name: string }) {
	const { span, area, band } = props;
	const low = Math.max(span.from, Math.min(band.from, band.to)), high = Math.min(span.to, Math.max(band.from, band.to));
	const left = timeX(span, area, low), right = timeX(span, area, high);

	if (right < left)
		return null;
	return <div class={props.name} style={{
		left: `${left}px`, width: `${right - left}px`, top: `${area.y}px`, height: `${area.height}px`,
	}} />;
}
