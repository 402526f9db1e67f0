// SPDX-License-Identifier: BSD-3-Clause
// Comma-separated values.

export type Cell = string | number | null;

/*
 * A text that starts like a formula gets an apostrophe: spreadsheets would compute it, and the names in a trace come
 * from outside.
 */
function cellText(cell: Cell): string {
	if (cell === null)
		return '';
	if (typeof cell === 'number')
		return String(cell);
	const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
	return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(titles: readonly string[], rows: Iterable<readonly Cell[]>): string {
	const lines = [titles.map(cellText).join(',')];

	for (const row of rows)
		lines.push(row.map(cellText).join(','));
	return `${lines.join('\n')}\n`;
}
