// SPDX-License-Identifier: BSD-3-Clause
// A chart with its title, its legend and the files that it can be saved as.
import type { ComponentChildren } from 'preact';
import { savePng, saveText } from '../lib/download';
import { isDark } from '../lib/theme';
import { palette } from './palette';
import { svgSurface, type Surface } from './surface';

export const EXPORT_WIDTH = 1000;
const TITLE_HEIGHT = 34;

export interface Exports {
	name: string; /* of the files, without suffix */
	height: number;
	draw: (surface: Surface, width: number, height: number) => void;
	csv: () => string;
}

interface Props {
	title: string;
	about?: string;
	isWide?: boolean;
	legend?: { name: string; color: string }[];
	tools?: ComponentChildren;
	exports: Exports | null; /* null: there is nothing to save */
	children: ComponentChildren;
}

/* The drawing of the chart below its title. */
function picture(title: string, exports: Exports, legend: Props['legend']): string {
	const colors = palette(isDark.get());
	const svg = svgSurface(EXPORT_WIDTH, exports.height + TITLE_HEIGHT, title, colors.back);
	const below: Surface = {
		rect: (x, y, width, height, color) => svg.rect(x, y + TITLE_HEIGHT, width, height, color),
		line: (points, color, width) => svg.line(moveDown(points), color, width),
		area: (points, color, opacity) => svg.area(moveDown(points), color, opacity),
		text: (x, y, text, style) => svg.text(x, y + TITLE_HEIGHT, text, style),
	};
	let right = EXPORT_WIDTH - 12;

	svg.text(12, TITLE_HEIGHT / 2, title, { color: colors.text, size: 17, bold: true });
	for (const { name, color } of [...legend ?? []].reverse()) {
		svg.text(right, TITLE_HEIGHT / 2, name, { color: colors.mute, align: 'end' });
		right -= 14 + 7 * name.length;
		svg.rect(right - 4, TITLE_HEIGHT / 2 - 5, 10, 10, color);
		right -= 18;
	}
	exports.draw(below, EXPORT_WIDTH, exports.height);
	return svg.toString();
}

const moveDown = (points: readonly number[]) => points.map((value, i) => i % 2 ? value + TITLE_HEIGHT : value);

export function Figure(props: Props) {
	const { title, exports, legend } = props;
	const svg = () => exports ? picture(title, exports, legend) : '';

	return (
		<figure class={props.isWide ? 'wide' : ''}>
			<figcaption>
				<h3>{title}</h3>
				{legend && <ul class="legend">{legend.map(({ name, color }) => (
					<li key={name}><span class="swatch" style={{ background: color }} />{name}</li>
				))}</ul>}
				{props.tools}
				{exports && <div class="exports" role="group" aria-label={`Save: ${title}`}>
					<button type="button" onClick={() => saveText(svg(), 'image/svg+xml', `${exports.name}.svg`)}>SVG</button>
					<button type="button" onClick={() => savePng(svg(), EXPORT_WIDTH, exports.height + TITLE_HEIGHT, `${exports.name}.png`)}>PNG</button>
					<button type="button" onClick={() => saveText(exports.csv(), 'text/csv', `${exports.name}.csv`)}>CSV</button>
				</div>}
				{props.about && <p>{props.about}</p>}
			</figcaption>
			{props.children}
		</figure>
	);
}
