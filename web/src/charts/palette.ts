// SPDX-License-Identifier: BSD-3-Clause
// The colors of charts, those of src/chart/style.c: `sluice plot`, the HTML report and this application look alike.

export interface Palette {
	text: string;
	mute: string;
	back: string;
	grid: string;
	axis: string;
	select: string;
	series: readonly string[];
	ramp: readonly string[];
}

const VIRIDIS = ['#fde725', '#addc30', '#5ec962', '#28ae80', '#21918c', '#2c728e', '#3b528b', '#472d7b', '#440154'];

const LIGHT: Palette = {
	text: '#222222', mute: '#5c5c5c', back: '#ffffff', grid: '#e4e4e4', axis: '#8a8a8a', select: '#0b5fa5',
	series: ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#7f7f7f', '#222222'],
	ramp: VIRIDIS,
};

const DARK: Palette = {
	text: '#dddddd', mute: '#a8a8a8', back: '#17191d', grid: '#33363c', axis: '#777777', select: '#84bdf2',
	series: ['#4aa8e0', '#f0b429', '#2cc295', '#f5823c', '#e0a0c4', '#9ad4f5', '#9c9c9c', '#e6e6e6'],
	ramp: [...VIRIDIS].reverse(),
};

export const READ = 0, WRITE = 1;

export function palette(isDark: boolean): Palette {
	return isDark ? DARK : LIGHT;
}

/* share: 0 to 1 */
export function rampColor(colors: Palette, share: number): string {
	const count = colors.ramp.length;

	return colors.ramp[Math.min(count - 1, Math.max(0, Math.floor(share * count)))];
}

const LAYERS = ['POSIX', 'STDIO', 'MPI', 'HDF5', 'NetCDF', 'PnetCDF', 'POSIX.Network', 'Application'];
const LAYER_SERIES = [0, 5, 2, 1, 4, 3, 6, 6];

export function layerColor(colors: Palette, layer: string): string {
	const index = LAYERS.indexOf(layer);

	return colors.series[index < 0 ? 6 : LAYER_SERIES[index]];
}

/* Black or white, whichever is easier to read on the color. */
export function contrastColor(color: string): string {
	const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
		.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

	return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}
