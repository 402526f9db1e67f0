// SPDX-License-Identifier: BSD-3-Clause
// Charts draw on a surface: the canvas of the page, or the text of an SVG file that is exported.
import { visible } from '../lib/text';

export interface TextStyle {
	color: string;
	align?: 'start' | 'middle' | 'end';
	bold?: boolean;
	size?: number;
}

export interface Surface {
	rect(x: number, y: number, width: number, height: number, color: string): void;
	/* points: x and y in turns */
	line(points: readonly number[], color: string, width: number): void;
	area(points: readonly number[], color: string, opacity: number): void;
	/* y is the middle of the text */
	text(x: number, y: number, text: string, style: TextStyle): void;
}

const FONT = "system-ui, 'Helvetica Neue', Arial, sans-serif";
const SIZE = 12;

export function canvasSurface(context: CanvasRenderingContext2D): Surface {
	function trace(points: readonly number[]): void {
		context.beginPath();
		for (let i = 0; i + 1 < points.length; i += 2)
			context.lineTo(points[i], points[i + 1]);
	}

	return {
		rect: (x, y, width, height, color) => {
			context.fillStyle = color;
			context.fillRect(x, y, width, height);
		},
		line: (points, color, width) => {
			trace(points);
			context.strokeStyle = color;
			context.lineWidth = width;
			context.stroke();
		},
		area: (points, color, opacity) => {
			trace(points);
			context.globalAlpha = opacity;
			context.fillStyle = color;
			context.fill();
			context.globalAlpha = 1;
		},
		text: (x, y, text, style) => {
			context.font = `${style.bold ? '600 ' : ''}${style.size ?? SIZE}px ${FONT}`;
			context.textAlign = style.align === 'middle' ? 'center' : style.align ?? 'start';
			context.textBaseline = 'middle';
			context.fillStyle = style.color;
			context.fillText(text, x, y);
		},
	};
}

export function escapeXml(text: string): string {
	return visible(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const round = (value: number) => String(Math.round(value * 100) / 100);

export interface SvgSurface extends Surface {
	/* The whole picture */
	toString(): string;
}

export function svgSurface(width: number, height: number, title: string, background: string): SvgSurface {
	const parts: string[] = [];
	const pairs = (points: readonly number[]) => points.map(round).join(' ');

	return {
		rect: (x, y, w, h, color) => {
			parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="${color}"/>`);
		},
		line: (points, color, stroke) => {
			parts.push(`<polyline points="${pairs(points)}" fill="none" stroke="${color}" stroke-width="${stroke}"/>`);
		},
		area: (points, color, opacity) => {
			parts.push(`<polygon points="${pairs(points)}" fill="${color}" fill-opacity="${opacity}"/>`);
		},
		text: (x, y, text, style) => {
			parts.push(`<text x="${round(x)}" y="${round(y)}" dy="0.35em" fill="${style.color}" text-anchor="${style.align ?? 'start'}"`
				+ ` font-size="${style.size ?? SIZE}"${style.bold ? ' font-weight="600"' : ''}>${escapeXml(text)}</text>`);
		},
		toString: () => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
			+ ` font-family="${FONT}"><title>${escapeXml(title)}</title>`
			+ `<rect width="${width}" height="${height}" fill="${background}"/>\n${parts.join('\n')}\n</svg>\n`,
	};
}
