// SPDX-License-Identifier: BSD-3-Clause
// Exact values beside the pointer.

interface Props {
	x: number;
	y: number;
	width: number; /* of the chart: the text is on the side that has room */
	lines: string[];
}

export function Tip({ x, y, width, lines }: Props) {
	const isLeft = x > width / 2;

	if (!lines.length)
		return null;
	return (
		<output class={`tip${isLeft ? ' tip-left' : ''}`} style={{ left: `${x}px`, top: `${Math.max(0, y)}px` }}>
			{lines.map((line, i) => <span key={i} class={i ? '' : 'tip-head'}>{line}</span>)}
		</output>
	);
}
