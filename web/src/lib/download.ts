// SPDX-License-Identifier: BSD-3-Clause
// Files that the reader saves: made from the data that the page shows.

function save(blob: Blob, name: string): void {
	const link = document.createElement('a');

	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function saveText(text: string, type: string, name: string): void {
	save(new Blob([text], { type }), name);
}

/* Draws an SVG picture in twice its size. */
export function savePng(svg: string, width: number, height: number, name: string): void {
	const SCALE = 2;
	const image = new Image();

	image.onload = () => {
		const canvas = document.createElement('canvas');

		canvas.width = width * SCALE;
		canvas.height = height * SCALE;
		canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
		canvas.toBlob((blob) => blob && save(blob, name), 'image/png');
		URL.revokeObjectURL(image.src);
	};
	image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
}
