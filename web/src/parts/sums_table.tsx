// SPDX-License-Identifier: BSD-3-Clause
// The columns that tables of layers, functions, files and ranks share.
import type { ComponentChildren } from 'preact';
import { formatBytes, formatCount, formatRate, formatShare, formatTime } from '../lib/format';
import type { Sums } from '../lib/types';
import { ShareBar } from './share_bar';
import { Table, type Column } from './table';

interface Props<Row extends Sums> {
	name: string;
	title: string; /* of the first column */
	rows: readonly Row[];
	rowName: (row: Row) => string;
	show: (row: Row) => ComponentChildren;
	extra?: Column<Row>[];
	total?: number;
}

const sumColumns: Column<Sums>[] = [
	{ title: 'calls', value: (row) => row.calls, show: (row) => formatCount(row.calls), isNumber: true },
	{ title: 'failed', value: (row) => row.errors, show: (row) => row.errors ? formatCount(row.errors) : '', isNumber: true },
	{ title: 'read', value: (row) => row.bytes_read, show: (row) => row.bytes_read ? formatBytes(row.bytes_read) : '', isNumber: true },
	{ title: 'written', value: (row) => row.bytes_written, show: (row) => row.bytes_written ? formatBytes(row.bytes_written) : '', isNumber: true },
	{
		title: 'per call', value: (row) => row.calls ? row.time_ns / row.calls : null,
		show: (row) => row.calls ? formatTime(row.time_ns / row.calls) : '', isNumber: true, help: 'mean time of a call',
	},
	{
		title: 'bandwidth', value: (row) => row.time_ns ? (row.bytes_read + row.bytes_written) / row.time_ns : null,
		show: (row) => formatRate(row.bytes_read + row.bytes_written, row.time_ns), isNumber: true, help: 'bytes by the time of the calls',
	},
];

export function SumsTable<Row extends Sums>(props: Props<Row>) {
	const whole = props.rows.reduce((sum, row) => sum + row.time_ns, 0);
	const columns: Column<Row>[] = [
		{ title: props.title, value: props.rowName, show: props.show },
		...props.extra ?? [],
		{
			title: 'time', value: (row) => row.time_ns, isNumber: true,
			show: (row) => <ShareBar part={row.time_ns} whole={whole} text={formatTime(row.time_ns)} />,
		},
		{ title: 'share', value: (row) => whole ? row.time_ns / whole : null, show: (row) => formatShare(row.time_ns, whole), isNumber: true, help: 'of the time of all rows' },
		...sumColumns,
	];

	return <Table name={props.name} rows={props.rows} columns={columns} rowKey={props.rowName} total={props.total} first={{ column: (props.extra?.length ?? 0) + 1, order: 'descending' }} />;
}
