// SPDX-License-Identifier: BSD-3-Clause
// The health of a node: during a run, over days as the prober saw it, and what is usual on it.
import { useMemo } from 'preact/hooks';
import { CourseChart } from '../charts/course_chart';
import type { Course, CourseUnit } from '../charts/course';
import { DATE_AXIS } from '../charts/dates';
import { palette } from '../charts/palette';
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatDate, formatTime } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace, usePlace } from '../lib/location';
import { usePeriod } from '../lib/period';
import type { NodeAnswer, SiteAnomaly, UsualDuration } from '../lib/storage_types';
import { useStore } from '../lib/store';
import { visible } from '../lib/text';
import { isDark } from '../lib/theme';
import { useTitle } from '../lib/title';
import type { RunRow, Runs } from '../lib/types';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { RunStatistics } from './run_statistics';

const RUNS = 200;
const UNITS: Record<string, CourseUnit> = { tasks: 'count', share: 'share', bytes: 'bytes' };

function runTitle(row: RunRow): string {
	return `${visible(row.program || row.name)}, ${row.started_ns === null ? '' : formatDate(row.started_ns)}${row.host ? ` on ${visible(row.host)}` : ''}`;
}

export function NodePage() {
	const { search } = usePlace();
	const wanted = new URLSearchParams(search).get('run');
	const runs = useApi<Runs>(`/runs?limit=${RUNS}`);
	const rows = runs.data?.runs.filter(({ error }) => !error) ?? [];
	const id = wanted ?? rows[0]?.id ?? null;

	useTitle('Node');
	return (
		<>
			<h1 class="page-title">Node health</h1>
			<p class="about">What the node did while a program ran, where Sluice found calls that were slower than usual, and what is usual here.</p>
			{runs.error && <Failure text={runs.error} />}
			{!runs.data && !runs.error && <Loading />}
			{runs.data && rows.length === 0 && <Empty command="sluice run -- PROGRAM">There are no runs yet. This command records one, with the statistics of the node:</Empty>}
			{id !== null && runs.data && (
				<section id="run">
					<h2>During a run</h2>
					<div class="filters"><label>Run
						<select value={id} onChange={(event) => changePlace(changeQuery(search, { run: event.currentTarget.value, from_ns: null, to_ns: null, host: null }))}>
							{!rows.some((row) => row.id === id) && <option value={id}>{visible(id)}</option>}
							{rows.map((row) => <option key={row.id} value={row.id}>{runTitle(row)}</option>)}
						</select>
					</label></div>
					<RunStatistics key={id} id={id} search={search} />
				</section>
			)}
			<NodeSections />
		</>
	);
}

function NodeSections() {
	const { data, error } = useApi<NodeAnswer>('/node');

	return (
		<>
			{error && <Failure text={error} />}
			{data && <SiteAnomalies node={data} />}
			{data && <ProberLoad node={data} />}
			{data && <UsualDurations node={data} />}
		</>
	);
}

const anomalyColumns: Column<SiteAnomaly>[] = [
	{ title: 'since (UTC)', value: (row) => row.started_ns, show: (row) => formatDate(row.started_ns) },
	{ title: 'node', value: (row) => row.node, show: (row) => visible(row.node) || 'the whole site' },
	{ title: 'says', value: (row) => row.subject, show: (row) => visible(row.subject) },
	{ title: 'cause', value: (row) => row.cause, show: (row) => visible(row.cause) },
	{ title: 'file system', value: (row) => row.target, show: (row) => visible(row.target) },
	{ title: 'job', value: (row) => row.job, show: (row) => visible(row.job) },
	{ title: 'slower by', value: (row) => row.value, show: (row) => row.value.toFixed(1), isNumber: true, help: 'duration of very slow calls by that of the slowest usual ones' },
	{ title: 'detail', value: (row) => row.detail, show: (row) => visible(row.detail) },
];

function SiteAnomalies({ node }: { node: NodeAnswer }) {
	if (!node.has_site)
		return null;
	return (
		<section id="site">
			<h2>Anomalies that last now</h2>
			{node.site_problem ? <Failure text={node.site_problem} />
				: node.anomalies.length ? <Table name="Anomalies" rows={node.anomalies} columns={anomalyColumns} rowKey={(row) => `${row.node} ${row.subject} ${row.started_ns} ${row.target}`} />
					: <p class="good-news">The nodes of the site report no anomaly that concerns you.</p>}
		</section>
	);
}

/* The load of the probing node at each round of test writes. */
function ProberLoad({ node }: { node: NodeAnswer }) {
	const view = usePeriod(node), colors = palette(useStore(isDark));
	const courses = useMemo(() => node.values.map(({ name, title, unit, values }, i) => ({
		name, title, unit: UNITS[unit],
		course: { from_ns: node.from_ns ?? 0, bin_ns: node.bin_ns, series: [{ name, color: colors.series[i % 6], values, isFilled: true }] } satisfies Course,
	})).filter(({ course }) => course.series[0].values.some((value) => value !== null)), [node, colors]);

	return (
		<section id="prober">
			<h2>Over the last day</h2>
			{courses.length === 0 || !view ? <Empty command="sluice forecast probe NAME=DIRECTORY...">The load of this node between runs is not known. The prober of storage targets records it:</Empty> : <>
				<p class="about">{`The load of the probing node of the system ${visible(node.system)} at each round of test writes.`}</p>
				<div class="plots">{courses.map(({ name, title, unit, course }) => (
					<CourseChart key={name} {...view} onSpan={() => undefined} axis={DATE_AXIS} noun="day" title={title} name={`node-${name}`} course={course} unit={unit} height={140} />
				))}</div>
			</>}
		</section>
	);
}

const usualColumns: Column<UsualDuration>[] = [
	{ title: 'call', value: (row) => row.call, show: (row) => visible(row.call) },
	{ title: 'layer', value: (row) => row.layer, show: (row) => visible(row.layer) },
	{ title: 'from size', value: (row) => row.from_bytes, show: (row) => row.from_bytes ? formatBytes(row.from_bytes) : '', isNumber: true },
	{ title: 'calls', value: (row) => row.calls, show: (row) => formatCount(row.calls), isNumber: true },
	{ title: '10 % take less', value: (row) => row.low_ns, show: (row) => formatTime(row.low_ns), isNumber: true },
	{ title: 'median', value: (row) => row.median_ns, show: (row) => formatTime(row.median_ns), isNumber: true },
	{ title: '10 % take more', value: (row) => row.high_ns, show: (row) => formatTime(row.high_ns), isNumber: true },
	{ title: '1 % take more', value: (row) => row.extreme_ns, show: (row) => formatTime(row.extreme_ns), isNumber: true },
];

function UsualDurations({ node }: { node: NodeAnswer }) {
	return (
		<section id="usual">
			<h2>Usual durations of calls</h2>
			{node.expected_problem && <Failure text={node.expected_problem} />}
			{node.expected.length === 0 ? <Empty command="sluice run -- PROGRAM">How long calls take on this node is learned from recorded runs:</Empty> : <>
				<p class="about">{`Learned from your runs on ${visible(node.host)}, by call and size. Calls of later runs are compared with them.`}</p>
				<Table name="Usual durations" rows={node.expected} columns={usualColumns} rowKey={(row) => `${row.layer} ${row.call} ${row.from_bytes}`} total={node.expected_count}
					first={{ column: 3, order: 'descending' }} />
			</>}
		</section>
	);
}
