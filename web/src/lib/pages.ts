// SPDX-License-Identifier: BSD-3-Clause
// Pages of a long list.

export interface Paging {
	page: number; /* counts from 1 */
	pages: number;
	first: number; /* offsets of the pages that the buttons lead to; -1: there is none */
	previous: number;
	next: number;
	last: number;
}

export function paging(offset: number, limit: number, total: number): Paging {
	const pages = Math.max(1, Math.ceil(total / limit)), page = Math.min(pages, Math.floor(offset / limit) + 1);
	const lastOffset = (pages - 1) * limit;

	return {
		page, pages,
		first: page > 1 ? 0 : -1,
		previous: page > 1 ? (page - 2) * limit : -1,
		next: page < pages ? page * limit : -1,
		last: page < pages ? lastOffset : -1,
	};
}
