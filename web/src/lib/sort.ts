// SPDX-License-Identifier: BSD-3-Clause
import type { Cell } from './csv';

export type Order = 'ascending' | 'descending';

/* Rows without a value come last, whatever the order is. */
export function sortRows<Row>(rows: readonly Row[], value: (row: Row) => Cell, order: Order): Row[] {
	const sign = order === 'ascending' ? 1 : -1;

	return rows.map((row) => ({ row, key: value(row) })).sort((a, b) => {
		if (a.key === null || b.key === null)
			return Number(a.key === null) - Number(b.key === null);
		if (typeof a.key === 'number' && typeof b.key === 'number')
			return sign * (a.key - b.key);
		return sign * String(a.key).localeCompare(String(b.key), 'en', { numeric: true });
	}).map(({ row }) => row);
}
