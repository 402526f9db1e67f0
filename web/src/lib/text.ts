// SPDX-License-Identifier: BSD-3-Clause
// Texts of traces come from programs, file systems and other users. They are shown as text; what controls a line or
// rearranges it becomes visible, as on the command line (src/base/escape.h).

// C0, DEL and C1 controls, line and paragraph separators, and marks that change the direction of text.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escapeControl(control: string): string {
	const code = control.charCodeAt(0);

	if (control === '\n')
		return '\\n';
	if (control === '\t')
		return '\\t';
	return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

export function visible(text: string | null | undefined): string {
	return (text ?? '').replace(CONTROLS, escapeControl);
}

/* The last part of a path, which tells files apart. */
export function baseName(path: string): string {
	return visible(path.slice(path.lastIndexOf('/', path.length - 2) + 1) || path);
}

/* Keeps the beginning and the end of a long text. */
export function shorten(text: string, limit: number): string {
	const shown = visible(text);

	if (shown.length <= limit)
		return shown;
	const head = Math.floor((limit - 1) / 3);
	return `${shown.slice(0, head)}…${shown.slice(shown.length - (limit - 1 - head))}`;
}

/* Any value of the API as text. */
export function showValue(value: unknown): string {
	if (value === null || value === undefined)
		return '–';
	if (typeof value === 'string')
		return visible(value);
	return visible(JSON.stringify(value));
}
