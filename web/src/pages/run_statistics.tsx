// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a node during a run, with the anomalies that were found, and calls that were slower than usual.
import { useCallback, useMemo } from 'preact/hooks';
import { CourseChart } from '../charts/course_chart';
import type { Course } from '../charts/course';
import { RUN_AXIS } from '../charts/dates';
import { palette } from '../charts/palette';
import type { TimeView } from '../charts/time_plot';
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatPosition, formatShare, formatTime, known, plural } from '../lib/format';
import { changeQuery, spanChanges } from '../lib/filter';
import { changePlace } from '../lib/location';
import { periodQuery, withQuery } from '../lib/period';
import { routePath } from '../lib/route';
import type { Span } from '../lib/span';
import { gradedCalls, gradeShares, groupStatistics, USUAL_SHARES } from '../lib/statistics';
import type { Grade, RunAnomaly, Statistics } from '../lib/storage_types';
import { useStore } from '../lib/store';
import { visible } from '../lib/text';
import { isDark } from '../lib/theme';
import { GradeBar, GradeLegend } from '../parts/grade_bar';
import { Link } from '../parts/link';
import { RangeBar } from '../parts/range_bar';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';

const BINS = 300, NEAR = 0.01;

export function RunStatistics({ id, search }: { id: string; search: string }) {
	const host = new URLSearchParams(search).get('host');
	const { data, error } = useApi<Statistics>(withQuery(`/runs/${encodeURIComponent(id)}/statistics`, { host, bins: String(BINS), ...periodQuery(search) }), { isFixed: true });

	if (error)
		return <Failure text={error} />;
	if (!data)
		return <Loading />;
	return <Shown id={id} statistics={data} search={search} />;
}

function verdict(statistics: Statistics): string {
	const count = statistics.anomaly_count;

	return count ? `Sluice found ${plural(count, 'anomaly', 'anomalies')} in this run: calls took longer or shorter than usual, and the load of the node does not explain it.`
		: statistics.grades.length ? 'No anomaly was found: calls were about as fast as usual.' : 'No anomaly was found. It is not known yet how long such calls usually take.';
}

function Shown({ id, statistics, search }: { id: string; statistics: Statistics; search: string }) {
	const whole = useMemo(() => ({ from: statistics.first_ns, to: statistics.last_ns }), [statistics.first_ns, statistics.last_ns]);
	const onSpan = useCallback((span: Span, kind: 'step' | 'choice') => changePlace(changeQuery(location.search, spanChanges(span, whole)), kind), [whole]);
	const view: TimeView = { span: { from: statistics.from_ns, to: statistics.to_ns }, whole, onSpan };

	return (
		<>
			<p class="verdict">{verdict(statistics)} <Link to={routePath({ page: 'run', id })}>Report of the run</Link></p>
			{statistics.statistics.length === 0
				? <Empty command="sluice --set stats.period=100ms run -- PROGRAM">This run has no statistics of a node: they were switched off, or it was too short. This command records them:</Empty>
				: <>
					<div class="controls">
						<RangeBar {...view} />
						{statistics.hosts.length > 1 && <div class="filters"><label>Node
							<select value={statistics.host} onChange={(event) => changePlace(changeQuery(search, { host: event.currentTarget.value }))}>
								{statistics.hosts.map((host) => <option key={host} value={host}>{visible(host)}</option>)}
							</select>
						</label></div>}
					</div>
					<StatisticCharts id={id} statistics={statistics} view={view} />
				</>}
			{statistics.anomalies.length > 0 && <Anomalies statistics={statistics} />}
			<Grades statistics={statistics} />
		</>
	);
}

function StatisticCharts({ id, statistics, view }: { id: string; statistics: Statistics; view: TimeView }) {
	const colors = palette(useStore(isDark));
	const marks = statistics.anomalies.filter(({ time_ns }) => time_ns >= 0).map(({ time_ns }) => ({ ns: time_ns, color: colors.series[3] }));
	const groups = useMemo(() => groupStatistics(statistics.statistics).map((group) => ({
		...group,
		course: {
			from_ns: statistics.from_ns, bin_ns: statistics.bin_ns, marks,
			series: group.series.map(({ name, values }, i) => ({ name, values, color: colors.series[[0, 1, 2, 4][i % 4]], isFilled: i === 0 })),
		} satisfies Course,
	})), [statistics, colors]);
	const near = NEAR * (view.span.to - view.span.from);

	return (
		<div class="plots">{groups.map(({ title, about, unit, course }) => (
			<CourseChart key={title} {...view} axis={RUN_AXIS} noun="run" title={title} about={about} name={`${id}-${title.toLowerCase().replaceAll(' ', '-')}`} course={course} unit={unit} height={160}
				legend={[...course.series, ...marks.length ? [{ name: 'anomaly', color: colors.series[3] }] : []]}
				describe={(_, ns) => statistics.anomalies.filter(({ time_ns }) => time_ns >= 0 && Math.abs(time_ns - ns) <= near).map(({ name, value }) => `${visible(name)}: ${visible(value)}`)} />
		))}</div>
	);
}

const anomalyColumns: Column<RunAnomaly>[] = [
	{ title: 'at', value: (row) => row.time_ns, show: (row) => row.time_ns < 0 ? 'the whole run' : formatPosition(row.time_ns, 1e6), isNumber: true },
	{ title: 'what', value: (row) => row.name, show: (row) => visible(row.name) },
	{ title: 'why', value: (row) => row.value, show: (row) => visible(row.value) },
	{ title: 'process', value: (row) => row.process, show: (row) => row.process < 0 ? '' : row.process, isNumber: true },
	{ title: 'node', value: (row) => row.host, show: (row) => visible(row.host) },
];

function Anomalies({ statistics }: { statistics: Statistics }) {
	return (
		<section id="anomalies">
			<h3>Anomalies</h3>
			<Table name="Anomalies of the run" rows={statistics.anomalies} columns={anomalyColumns} rowKey={(row) => `${row.time_ns} ${row.process} ${row.name}`} total={statistics.anomaly_count} />
		</section>
	);
}

const gradeColumns: Column<Grade>[] = [
	{ title: 'call', value: (row) => row.call, show: (row) => visible(row.call) },
	{ title: 'observed', value: (row) => gradeShares(row)[0], show: (row) => <GradeBar shares={gradeShares(row)} /> },
	{ title: 'very slow', value: (row) => gradeShares(row)[0], show: (row) => formatShare(gradeShares(row)[0], 1), isNumber: true, help: 'share of the calls; 1 % is usual' },
	{ title: 'calls', value: (row) => gradedCalls(row), show: (row) => formatCount(gradedCalls(row)), isNumber: true, help: 'calls that were compared' },
	{ title: 'usual median', value: (row) => row.median_ns, show: (row) => known(row.median_ns, formatTime), isNumber: true, help: 'of the most frequent size' },
	{ title: 'very slow above', value: (row) => row.very_slow_ns, show: (row) => known(row.very_slow_ns, formatTime), isNumber: true, help: 'of the most frequent size' },
	{ title: 'size', value: (row) => row.from_bytes, show: (row) => row.from_bytes ? `from ${formatBytes(row.from_bytes)}` : '', isNumber: true, help: 'the most frequent size' },
	{ title: 'node', value: (row) => row.host, show: (row) => visible(row.host) },
];

function Grades({ statistics }: { statistics: Statistics }) {
	if (!statistics.grades.length)
		return null;
	return (
		<section id="grades">
			<h3>Expected and observed durations</h3>
			<p class="about">Calls of the run compared with calls of the same kind and size in earlier runs on this node, or in its own beginning. As usual:</p>
			<p class="expected"><GradeBar shares={USUAL_SHARES} /><GradeLegend /></p>
			<Table name="Durations of calls" rows={statistics.grades} columns={gradeColumns} rowKey={(row) => `${row.host} ${row.call}`} first={{ column: 2, order: 'descending' }} />
		</section>
	);
}
