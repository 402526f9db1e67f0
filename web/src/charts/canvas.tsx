// SPDX-License-Identifier: BSD-3-Clause
// A canvas in the resolution of the screen, drawn whenever `draw` changes.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { canvasSurface, type Surface } from './surface';

interface Props {
	width: number;
	height: number;
	draw: (surface: Surface) => void;
}

export function Canvas({ width, height, draw }: Props) {
	const canvas = useRef<HTMLCanvasElement>(null);

	useLayoutEffect(() => {
		const context = canvas.current?.getContext('2d');
		const scale = devicePixelRatio || 1;

		if (!canvas.current || !context)
			return;
		canvas.current.width = Math.round(width * scale);
		canvas.current.height = Math.round(height * scale);
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.clearRect(0, 0, width, height);
		draw(canvasSurface(context));
	}, [width, height, draw]);
	return <canvas ref={canvas} aria-hidden="true" style={{ width: `${width}px`, height: `${height}px` }} />;
}
