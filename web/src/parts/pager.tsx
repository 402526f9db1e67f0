// SPDX-License-Identifier: BSD-3-Clause
// First, previous, page x of N, next, last.
import { formatCount } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace } from '../lib/location';
import { paging } from '../lib/pages';

interface Props {
	offset: number;
	limit: number;
	total: number;
	isLow?: boolean; /* there are more than the total */
	noun: string;
	search: string;
}

export function Pager({ offset, limit, total, isLow, noun, search }: Props) {
	const at = paging(offset, limit, total);
	const go = (to: number) => changePlace(changeQuery(search, { offset: to > 0 ? String(to) : null }));
	const button = (name: string, to: number) =>
		<button type="button" disabled={to < 0} onClick={() => go(to)}>{name}</button>;

	return (
		<nav class="pager" aria-label={`Pages of ${noun}`}>
			{button('First', at.first)}
			{button('Previous', at.previous)}
			<label>page <input type="number" min={1} max={at.pages} value={at.page} aria-label="Page"
				onChange={(event) => {
					const page = Math.min(at.pages, Math.max(1, Math.floor(Number(event.currentTarget.value)) || 1));

					go((page - 1) * limit);
				}} /> of {formatCount(at.pages)}</label>
			{button('Next', at.next)}
			{button('Last', at.last)}
			<span>{`${isLow ? 'at least ' : ''}${formatCount(total)} ${noun}`}</span>
		</nav>
	);
}
