// SPDX-License-Identifier: BSD-3-Clause
// The differences between two runs.
import { useApi } from '../lib/api';
import { formatDate, formatTime, known } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace, usePlace } from '../lib/location';
import { routePath } from '../lib/route';
import { shorten, visible } from '../lib/text';
import { useTitle } from '../lib/title';
import type { ComparedRow, Comparison, Difference, RunRow, Runs } from '../lib/types';
import { Link } from '../parts/link';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { difference, METRICS, ratioText, verdictText } from './metrics';

const COMMAND_LETTERS = 70, PATH_LETTERS = 80, CHOICES = 200;

export function ComparePage() {
	const { search } = usePlace();
	const query = new URLSearchParams(search), base = query.get('base'), other = query.get('with');
	const runs = useApi<Runs>(`/runs?limit=${CHOICES}`);
	const isReady = base !== null && other !== null;
	const { data, error } = useApi<Comparison>(isReady ? `/compare?${new URLSearchParams({ base, with: other })}` : null);

	useTitle('Compare');
	return (
		<>
			<h1 class="page-title">Compare two runs</h1>
			{runs.error && <Failure text={runs.error} />}
			{runs.data && runs.data.total < 2 && <Empty command="sluice run -- PROGRAM">A comparison needs two runs. This command records one:</Empty>}
			{runs.data && runs.data.total >= 2 && <div class="filters">
				<RunChoice label="A (base)" name="base" value={base} runs={runs.data.runs} search={search} />
				<RunChoice label="B" name="with" value={other} runs={runs.data.runs} search={search} />
				{isReady && <button type="button" onClick={() => changePlace(changeQuery(search, { base: other, with: base }))}>Swap A and B</button>}
			</div>}
			{error && <Failure text={error} />}
			{isReady && !data && !error && <Loading />}
			{isReady && data && <Result data={data} base={base} other={other} />}
		</>
	);
}

function RunChoice(props: { label: string; name: string; value: string | null; runs: readonly RunRow[]; search: string }) {
	const { value, runs } = props, isListed = value === null || runs.some(({ id }) => id === value);

	return (
		<label>{props.label}
			<select value={value ?? ''} onChange={(event) => changePlace(changeQuery(props.search, { [props.name]: event.currentTarget.value }))}>
				<option value="">choose a run</option>
				{!isListed && <option value={value}>{visible(value)}</option>}
				{runs.map((row) => <option key={row.id} value={row.id}>{`${known(row.started_ns, formatDate)} ${shorten(row.command ?? row.name, COMMAND_LETTERS)}`}</option>)}
			</select>
		</label>
	);
}

function Result({ data, base, other }: { data: Comparison; base: string; other: string }) {
	return (
		<>
			<section id="result">
				<p class="verdict">{verdictText(data.result)}</p>
				<ul class="notes">
					<li>A: <Link to={routePath({ page: 'run', id: base })}>{shorten(data.a[0]?.command ?? base, COMMAND_LETTERS)}</Link>, {known(data.result.a, formatTime)}</li>
					<li>B: <Link to={routePath({ page: 'run', id: other })}>{shorten(data.b[0]?.command ?? other, COMMAND_LETTERS)}</Link>, {known(data.result.b, formatTime)}</li>
				</ul>
			</section>
			<Totals rows={data.run} />
			<Parts name="Layers" title="layer" rows={data.layers} />
			<Parts name="Functions" title="function" rows={data.functions} />
			<Parts name="Files" title="file" rows={data.files} />
			<Parts name="Ranks" title="rank" rows={data.ranks} />
			<Levels rows={data.node} />
		</>
	);
}

interface Total {
	name: string;
	metric: typeof METRICS[number];
	difference: Difference;
}

const totalColumns: Column<Total>[] = [
	{ title: 'total', value: (row) => row.name },
	{ title: 'A', value: (row) => row.difference.a, show: (row) => known(row.difference.a, row.metric.format), isNumber: true },
	{ title: 'B', value: (row) => row.difference.b, show: (row) => known(row.difference.b, row.metric.format), isNumber: true },
	{ title: 'B/A', value: (row) => row.difference.ratio, show: (row) => ratioText(row.difference), isNumber: true },
	{ title: 'result', value: (row) => row.difference.verdict, show: (row) => visible(row.difference.verdict) },
];

function Totals({ rows }: { rows: readonly ComparedRow[] }) {
	const totals = rows.flatMap((row) => METRICS.flatMap((metric): Total[] => {
		const found = difference(row, metric.name);
		const isEmpty = !found || (row.name === 'storage' && !found.a && !found.b);

		return isEmpty ? [] : [{ name: row.name === 'storage' ? `storage: ${metric.title}` : metric.title, metric, difference: found }];
	}));

	return <section id="totals"><h2>Totals</h2><Table name="Totals" rows={totals} columns={totalColumns} rowKey={(row) => row.name} /></section>;
}

function metricColumns(name: string, title: string): Column<ComparedRow>[] {
	const metric = METRICS.find((candidate) => candidate.name === name);
	const side = (row: ComparedRow, which: 'a' | 'b') => difference(row, name)?.[which] ?? null;

	if (!metric)
		return [];
	return (['a', 'b'] as const).map((which) => ({
		title: `${title} ${which.toUpperCase()}`, value: (row: ComparedRow) => side(row, which),
		show: (row: ComparedRow) => known(side(row, which), metric.format), isNumber: true,
	}));
}

function Parts({ name, title, rows }: { name: string; title: string; rows: readonly ComparedRow[] }) {
	const columns: Column<ComparedRow>[] = [
		{
			title, value: (row) => row.name,
			show: (row) => <>{shorten(row.name, PATH_LETTERS)}{row.layer && <span class="d"> {visible(row.layer)}</span>}</>,
		},
		...metricColumns('calls', 'calls'), ...metricColumns('time', 'time'),
		{ title: 'B/A', value: (row) => difference(row, 'time')?.ratio ?? null, show: (row) => ratioText(difference(row, 'time')), isNumber: true, help: 'of the time' },
		...metricColumns('bytes_read', 'read'), ...metricColumns('bytes_written', 'written'),
		{ title: 'time', value: (row) => difference(row, 'time')?.verdict ?? null, show: (row) => visible(difference(row, 'time')?.verdict), help: 'whether the times differ by more than noise' },
	];

	if (!rows.length)
		return null;
	return <section><h2>{name}</h2><Table name={name} rows={rows} columns={columns} rowKey={(row) => `${row.layer ?? ''} ${row.name}`} /></section>;
}

const levelColumns: Column<ComparedRow>[] = [
	{ title: 'statistic', value: (row) => row.name, show: (row) => visible(row.name) },
	...metricColumns('level', 'mean'),
	{ title: 'B/A', value: (row) => difference(row, 'level')?.ratio ?? null, show: (row) => ratioText(difference(row, 'level')), isNumber: true },
];

function Levels({ rows }: { rows: readonly ComparedRow[] }) {
	if (!rows.length)
		return null;
	return <section><h2>Node statistics</h2><Table name="Node statistics" rows={rows} columns={levelColumns} rowKey={(row) => row.name} /></section>;
}
