// SPDX-License-Identifier: BSD-3-Clause
// What the reader chose for all pages; kept by the browser.
import { createStore } from './store';

export interface Preferences {
	rows: number; /* of a page of runs or activities */
}

export const ROW_CHOICES = [25, 50, 100, 250, 500];
const KEY = 'sluice.rows';

function storedRows(): number {
	try {
		return ROW_CHOICES.find((rows) => String(rows) === localStorage.getItem(KEY)) ?? 100;
	} catch { /* storage may be forbidden */
		return 100;
	}
}

export const preferences = createStore<Preferences>({ rows: storedRows() });

export function setRows(rows: number): void {
	preferences.set({ ...preferences.get(), rows });
	try {
		localStorage.setItem(KEY, String(rows));
	} catch { /* the choice holds until the page is closed */ }
}
