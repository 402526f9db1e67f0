// SPDX-License-Identifier: BSD-3-Clause
// The window that all charts and tables show, and the buttons that move it.
import { formatPosition, formatShare, formatTime } from '../lib/format';
import { panSpan, PAN_STEP, sameSpan, spanLength, zoomSpan, ZOOM_STEP } from '../lib/span';
import type { TimeView } from '../charts/time_plot';

interface Props extends TimeView {
	noun?: string; /* what the whole is */
	position?: (ns: number, step: number) => string;
}

export function RangeBar({ span, whole, onSpan, noun = 'run', position = formatPosition }: Props) {
	const isWhole = sameSpan(span, whole), step = spanLength(span) / 1000;
	const steps: Record<string, () => void> = {
		'+': () => onSpan(zoomSpan(span, whole, ZOOM_STEP), 'step'),
		'=': () => onSpan(zoomSpan(span, whole, ZOOM_STEP), 'step'),
		'-': () => onSpan(zoomSpan(span, whole, 1 / ZOOM_STEP), 'step'),
		ArrowLeft: () => onSpan(panSpan(span, whole, -PAN_STEP), 'step'),
		ArrowRight: () => onSpan(panSpan(span, whole, PAN_STEP), 'step'),
		Escape: () => onSpan(whole, 'choice'),
	};

	return (
		<div class="range" role="toolbar" aria-label={`Window of the ${noun}`} onKeyDown={(event) => {
			const action = event.ctrlKey || event.altKey || event.metaKey ? undefined : steps[event.key];

			if (!action)
				return;
			event.preventDefault();
			action();
		}}>
			<output>{isWhole ? `Whole ${noun}, ${formatTime(spanLength(whole))}`
				: `${position(span.from, step)} to ${position(span.to, step)} (${formatTime(spanLength(span))}, ${formatShare(spanLength(span), spanLength(whole))} of the ${noun})`}</output>
			<button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={steps['+']}>+</button>
			<button type="button" aria-label="Zoom out" title="Zoom out (-)" disabled={isWhole} onClick={steps['-']}>−</button>
			<button type="button" aria-label="Earlier" title="Earlier (left arrow)" disabled={span.from <= whole.from} onClick={steps.ArrowLeft}>←</button>
			<button type="button" aria-label="Later" title="Later (right arrow)" disabled={span.to >= whole.to} onClick={steps.ArrowRight}>→</button>
			<button type="button" title={`Show the whole ${noun} (Escape)`} disabled={isWhole} onClick={steps.Escape}>{`Whole ${noun}`}</button>
		</div>
	);
}
