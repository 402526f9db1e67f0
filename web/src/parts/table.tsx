// SPDX-License-Identifier: BSD-3-Clause
// A table that can be sorted and filtered. Long tables show their first rows until the reader asks for all.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { csv, type Cell } from '../lib/csv';
import { saveText } from '../lib/download';
import { changeQuery } from '../lib/filter';
import { formatCount, plural } from '../lib/format';
import { changePlace, usePlace } from '../lib/location';
import { sortRows, type Order } from '../lib/sort';

export interface Column<Row> {
	title: string;
	value: (row: Row) => Cell; /* rows are sorted by it, and it is saved as CSV */
	show?: (row: Row) => ComponentChildren;
	isNumber?: boolean;
	help?: string;
}

interface Props<Row> {
	name: string;
	rows: readonly Row[];
	columns: readonly Column<Row>[];
	rowKey: (row: Row) => string;
	total?: number; /* if the server knows more rows than it sent */
	first?: Sorting;
	isInAddress?: boolean; /* the address holds the filter and the order: the only such table of its page */
}

interface Sorting {
	column: number;
	order: Order;
}

const FEW_ROWS = 12, FILTER_ROWS = 4;

function matches<Row>(row: Row, columns: readonly Column<Row>[], words: readonly string[]): boolean {
	const text = columns.map((column) => String(column.value(row) ?? '')).join('\n').toLowerCase();

	return words.every((word) => text.includes(word));
}

interface View {
	sort: Sorting | null;
	filter: string;
	setSort: (sort: Sorting) => void;
	setFilter: (filter: string) => void;
}

function useLocal(first: Sorting | null): View {
	const [sort, setSort] = useState(first), [filter, setFilter] = useState('');

	return { sort, filter, setSort, setFilter };
}

function useAddress<Row>(columns: readonly Column<Row>[], first: Sorting | null): View {
	const { search } = usePlace(), query = new URLSearchParams(search);
	const column = columns.findIndex(({ title }) => title === query.get('sort'));

	return {
		sort: column < 0 ? first : { column, order: query.get('order') === 'ascending' ? 'ascending' : 'descending' },
		filter: query.get('search') ?? '',
		setSort: (sort) => changePlace(changeQuery(search, { sort: columns[sort.column].title, order: sort.order })),
		setFilter: (filter) => changePlace(changeQuery(search, { search: filter }), 'step'),
	};
}

export function Table<Row>(props: Props<Row>) {
	const { rows, columns, name } = props;
	const { sort, filter, setSort, setFilter } = props.isInAddress ? useAddress(columns, props.first ?? null) : useLocal(props.first ?? null);
	const [isExpanded, setExpanded] = useState(false);
	const found = useMemo(() => {
		const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
		const kept = words.length ? rows.filter((row) => matches(row, columns, words)) : rows;

		return sort ? sortRows(kept, columns[sort.column].value, sort.order) : kept;
	}, [rows, filter, sort?.column, sort?.order]);
	const isShort = found.length <= FEW_ROWS + 3;
	const shown = isExpanded || isShort ? found : found.slice(0, FEW_ROWS);

	function sortBy(column: number): void {
		const isSame = sort?.column === column, descends = columns[column].isNumber;

		setSort({ column, order: isSame ? (sort.order === 'ascending' ? 'descending' : 'ascending') : descends ? 'descending' : 'ascending' });
	}

	return (
		<>
			<div class="tools">
				{(props.isInAddress || rows.length >= FILTER_ROWS) && <input type="search" placeholder="Filter …" aria-label={`Filter the table: ${name}`}
					value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />}
				<output>{found.length < rows.length ? `${formatCount(found.length)} of ${formatCount(rows.length)} rows` : plural(rows.length, 'row')}</output>
				{!isShort && <button type="button" onClick={() => setExpanded(!isExpanded)}>{isExpanded ? `Show ${FEW_ROWS}` : `Show all ${formatCount(found.length)}`}</button>}
				{rows.length > 0 && <button type="button" class="save" aria-label={`Save as CSV: ${name}`}
					onClick={() => saveText(csv(columns.map(({ title }) => title), found.map((row) => columns.map(({ value }) => value(row)))), 'text/csv', `${name.toLowerCase().replaceAll(' ', '-')}.csv`)}>CSV</button>}
			</div>
			<div class="scroll" tabIndex={0} role="region" aria-label={name}>
				<table>
					<thead><tr>{columns.map((column, i) => (
						<th key={column.title} scope="col" class={column.isNumber ? 'n' : ''} title={column.help}
							aria-sort={sort?.column === i ? sort.order : undefined}>
							<button type="button" onClick={() => sortBy(i)}>{column.title}</button>
						</th>
					))}</tr></thead>
					<tbody>{shown.map((row) => (
						<tr key={props.rowKey(row)}>{columns.map((column, i) => i === 0
							? <th key={i} scope="row">{column.show ? column.show(row) : column.value(row)}</th>
							: <td key={i} class={column.isNumber ? 'n' : ''}>{column.show ? column.show(row) : column.value(row)}</td>)}</tr>
					))}</tbody>
				</table>
			</div>
			{props.total !== undefined && props.total > rows.length &&
				<p class="more">{`${formatCount(props.total - rows.length)} more are not shown: these are the ones with the most time.`}</p>}
		</>
	);
}
