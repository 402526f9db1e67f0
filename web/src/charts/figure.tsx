// SPDX-License-Identifier: BSD-3-Clause
// A chart with its title, its legend and the files that it can be saved as.
import type { ComponentChildren } from 'preact';
import { savePng, saveText } from '../lib/download';
import { isDark } from '../lib/theme';
import { palette, type Palette } from './palette';
import { svgSurface, type Surface } from './surface';

const EXPORT_WIDTH = 1000;
const TITLE_HEIGHT = 34;

export interface Exports {
	name: string; /* of the files, without suffix */
	height: number;
	draw: (surface: Surface, width: number, height: number) => void;
	csv: () => string;
}

export interface LegendEntry {
	name: string;
	color: string;
}

interface Props {
	title: string;
	about?: string;
	isWide?: boolean;
	legend?: LegendEntry[];
	ramp?: { colors: readonly string[]; low: string; high: string }; /* the legend of a chart whose colors are values */
	tools?: ComponentChildren;
	exports: Exports | null; /* null: there is nothing to save */
	children: ComponentChildren;
}

/* Squares with names, right-aligned in the line of the title. */
function drawLegend(surface: Surface, entries: readonly LegendEntry[], colors: Palette): void {
	const middle = TITLE_HEIGHT / 2;
	let right = EXPORT_WIDTH - 12;

	for (const { name, color } of [...entries].reverse()) {
		surface.text(right, middle, name, { color: colors.mute, align: 'end' });
		right -= name ? 14 + 7 * name.length : 10;
		surface.rect(right - 4, middle - 5, 10, 10, color);
		right -= name ? 18 : 0;
	}
}

/* The drawing of the chart below its title. */
function picture(title: string, exports: Exports, legend: readonly LegendEntry[]): string {
	const colors = palette(isDark.get());
	const svg = svgSurface(EXPORT_WIDTH, exports.height + TITLE_HEIGHT, title, colors.back);
	const below: Surface = {
		rect: (x, y, width, height, color) => svg.rect(x, y + TITLE_HEIGHT, width, height, color),
		line: (points, color, width) => svg.line(moveDown(points), color, width),
		area: (points, color, opacity) => svg.area(moveDown(points), color, opacity),
		text: (x, y, text, style) => svg.text(x, y + TITLE_HEIGHT, text, style),
	};

	svg.text(12, TITLE_HEIGHT / 2, title, { color: colors.text, size: 17, bold: true });
	drawLegend(svg, legend, colors);
	exports.draw(below, EXPORT_WIDTH, exports.height);
	return svg.toString();
}

/* Colors that are values, as squares without gaps; the last one has the name of the highest value. */
function rampEntries(ramp: Props['ramp']): LegendEntry[] {
	return ramp ? ramp.colors.map((color, i) => ({ color, name: i === ramp.colors.length - 1 ? ramp.high : '' })) : [];
}

const moveDown = (points: readonly number[]) => points.map((value, i) => i % 2 ? value + TITLE_HEIGHT : value);

export function Figure(props: Props) {
	const { title, exports, legend } = props;
	const svg = () => exports ? picture(title, exports, legend ?? rampEntries(props.ramp)) : '';

	return (
		<figure class={props.isWide ? 'wide' : ''}>
			<figcaption>
				<h3>{title}</h3>
				{legend && <ul class="legend">{legend.map(({ name, color }) => (
					<li key={name}><span class="swatch" style={{ background: color }} />{name}</li>
				))}</ul>}
				{props.ramp && <span class="ramp"><span>{props.ramp.low}</span>
					{props.ramp.colors.map((color) => <span key={color} class="swatch" style={{ background: color }} />)}<span>{props.ramp.high}</span></span>}
				{props.tools}
				{props.about && <p>{props.about}</p>}
				{exports && <div class="exports" role="group" aria-label={`Save: ${title}`}>
					<button type="button" onClick={() => saveText(svg(), 'image/svg+xml', `${exports.name}.svg`)}>SVG</button>
					<button type="button" onClick={() => savePng(svg(), EXPORT_WIDTH, exports.height + TITLE_HEIGHT, `${exports.name}.png`)}>PNG</button>
					<button type="button" onClick={() => saveText(exports.csv(), 'text/csv', `${exports.name}.csv`)}>CSV</button>
				</div>}
			</figcaption>
			{props.children}
		</figure>
	);
}
