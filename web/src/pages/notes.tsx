// SPDX-License-Identifier: BSD-3-Clause
// What was noted while the program ran: parameters, anomalies, actions of plug-ins, and statistics of the nodes.
import { formatBytes, formatCount, formatPosition } from '../lib/format';
import { shorten, visible } from '../lib/text';
import type { NodeStatistic, Parameter, Report } from '../lib/types';
import { Table, type Column } from '../parts/table';

const PATH_LETTERS = 60;

const parameterColumns: Column<Parameter>[] = [
	{ title: 'parameter', value: (row) => row.name, show: (row) => visible(row.name) },
	{ title: 'of', value: (row) => row.of, show: (row) => visible(row.of) },
	{ title: 'in effect', value: (row) => row.effective, show: (row) => visible(row.effective) },
	{ title: 'requested', value: (row) => row.requested ?? null, show: (row) => visible(row.requested) },
	{ title: 'by', value: (row) => row.decided_by ?? null, show: (row) => visible(row.decided_by) },
	{ title: 'honored', value: (row) => row.honoured ?? null, show: (row) => visible([row.honoured, row.why].filter(Boolean).join(': ')) },
	{ title: 'file', value: (row) => row.file, show: (row) => shorten(row.file, PATH_LETTERS) },
];

/* Requested parameters come first. */
export function Parameters({ report }: { report: Report }) {
	const rows = [...report.parameters].sort((a, b) => Number(Boolean(b.requested)) - Number(Boolean(a.requested)));

	if (!rows.length)
		return null;
	return <section id="parameters"><h2>Parameters</h2><Table name="Parameters" rows={rows} columns={parameterColumns} rowKey={(row) => `${row.name} ${row.of} ${row.file}`} /></section>;
}

interface Note {
	time_ns: number | null;
	who: string;
	source: string;
	text: string;
}

function notes(report: Report): Note[] {
	return [
		...report.anomalies.map((note) => ({
			time_ns: note.time_ns, source: note.source, text: `${note.name}: ${note.value}`,
			who: note.rank !== null && note.rank >= 0 ? `rank ${note.rank}` : note.host ?? '',
		})),
		...report.applied.map((note) => ({ time_ns: null, who: '', source: note.source, text: `${note.name}: ${note.value ?? formatCount(note.sum ?? note.count)}` })),
	];
}

const noteColumns: Column<Note>[] = [
	{ title: 'note', value: (row) => row.text, show: (row) => visible(row.text) },
	{ title: 'source', value: (row) => row.source, show: (row) => visible(row.source) },
	{ title: 'where', value: (row) => row.who, show: (row) => visible(row.who) },
	{ title: 'time', value: (row) => row.time_ns, show: (row) => row.time_ns === null ? '' : formatPosition(row.time_ns, 1e6), isNumber: true },
];

export function Notes({ report }: { report: Report }) {
	const rows = notes(report);

	if (!rows.length)
		return null;
	return <section id="notes"><h2>Notes</h2><Table name="Notes" rows={rows} columns={noteColumns} rowKey={(row) => `${row.time_ns} ${row.source} ${row.text}`} /></section>;
}

function levelText(value: number, unit: string): string {
	return unit === 'bytes' ? formatBytes(value) : `${Number(value.toPrecision(4))} ${visible(unit)}`;
}

const nodeColumns: Column<NodeStatistic>[] = [
	{ title: 'statistic', value: (row) => row.name, show: (row) => visible(row.name) },
	{ title: 'host', value: (row) => row.host, show: (row) => visible(row.host) },
	{ title: 'mean', value: (row) => row.mean, show: (row) => levelText(row.mean, row.unit), isNumber: true },
	{ title: 'least', value: (row) => row.least, show: (row) => levelText(row.least, row.unit), isNumber: true },
	{ title: 'most', value: (row) => row.most, show: (row) => levelText(row.most, row.unit), isNumber: true },
];

export function NodeTable({ report }: { report: Report }) {
	const rows = report.node?.statistics ?? [];

	if (!rows.length)
		return null;
	return <section id="node"><h2>Node statistics</h2><Table name="Node statistics" rows={rows} columns={nodeColumns} rowKey={(row) => `${row.host} ${row.name}`} /></section>;
}
