// SPDX-License-Identifier: BSD-3-Clause
// All programs that were recorded, and whether their latest runs differ from earlier ones.
import { Spark } from '../charts/spark';
import { useApi } from '../lib/api';
import { formatCount, formatDate, formatTime, plural } from '../lib/format';
import type { ProgramRow, Programs, ProgramVerdict } from '../lib/program_types';
import { importantFirst, MEASURE_TEXTS, shiftText } from '../lib/program_view';
import { routePath } from '../lib/route';
import { visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { Link } from '../parts/link';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';

const VERDICT_CLASSES: Record<ProgramVerdict, string> = {
	regression: 'critical', improvement: 'good', steady: '', 'too few runs': '', reading: '', 'not comparable': '',
};

export function VerdictChip({ verdict }: { verdict: ProgramVerdict }) {
	return <span class={`chip ${VERDICT_CLASSES[verdict] ?? ''}`}>{verdict}</span>;
}

function changeText({ shift }: ProgramRow): string {
	return shift ? `${shiftText(shift)} since ${formatDate(shift.started_ns)}` : '';
}

const columns: Column<ProgramRow>[] = [
	{ title: 'program', value: (row) => row.name, show: (row) => <Link to={`${routePath({ page: 'program', name: row.name })}`}>{visible(row.name)}</Link> },
	{ title: 'verdict', value: (row) => row.verdict, show: (row) => <VerdictChip verdict={row.verdict} /> },
	{ title: 'latest change', value: changeText },
	{
		title: 'trend', value: (row) => row.spark.values.join(' '), help: 'the measure that changed, else the run time, of the latest comparable runs',
		show: (row) => <Spark {...row.spark} label={`${MEASURE_TEXTS[row.spark.measure].title} of ${plural(row.spark.values.length, 'run')}`} />,
	},
	{ title: 'runs', value: (row) => row.runs, show: (row) => formatCount(row.runs), isNumber: true },
	{ title: 'last run (UTC)', value: (row) => row.last_started_ns, show: (row) => <Link to={routePath({ page: 'run', id: row.last_run })} class="nowrap">{formatDate(row.last_started_ns)}</Link> },
	{ title: 'it took', value: (row) => row.last_duration_ns, show: (row) => formatTime(row.last_duration_ns), isNumber: true },
];

function summary(programs: readonly ProgramRow[]): string {
	const regressed = programs.filter(({ verdict }) => verdict === 'regression');

	return regressed.length
		? `${plural(regressed.length, 'program')} of ${formatCount(programs.length)} regressed: ${regressed.map(({ name }) => visible(name)).join(', ')}.`
		: `No regression in the runs of ${plural(programs.length, 'program')}.`;
}

export function ProgramsPage() {
	const { data, error } = useApi<Programs>('/programs');

	useTitle('Programs');
	return (
		<>
			<h1 class="page-title">Programs</h1>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && data.programs.length === 0 && <Empty command="sluice run -- PROGRAM">There are no runs yet. This command records one:</Empty>}
			{data && data.programs.length > 0 && <>
				<p class="verdict">{summary(data.programs)}</p>
				<Table name="Programs" rows={importantFirst(data.programs)} columns={columns} rowKey={(row) => row.name} />
				<p class="about">A change is claimed only if it is unlikely to be noise, or if a count is constant before and after. Runs are
					compared with runs that have the same arguments, ranks, kind of file system and kind of machine.</p>
			</>}
		</>
	);
}
