// SPDX-License-Identifier: BSD-3-Clause
// Who loads the storage now.
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatDate, formatShare, formatShortCount, formatTime, known, plural } from '../lib/format';
import { withQuery } from '../lib/period';
import type { JobLoad, Load, QueuedJob } from '../lib/storage_types';
import { visible } from '../lib/text';
import { ShareBar } from '../parts/share_bar';
import { Empty, Failure } from '../parts/states';
import { Table, type Column } from '../parts/table';

const rate = (bytes: number) => bytes ? `${formatBytes(bytes)}/s` : '';

const loadColumns: Column<JobLoad>[] = [
	{ title: 'job', value: (row) => row.job, show: (row) => visible(row.job) || <span class="d">none</span> },
	{ title: 'user', value: (row) => row.user, show: (row) => visible(row.user) },
	{
		title: 'share of bytes', value: (row) => row.byte_share, isNumber: true,
		show: (row) => <ShareBar part={row.byte_share} whole={1} text={formatShare(row.byte_share, 1)} />,
	},
	{ title: 'read', value: (row) => row.bytes_read, show: (row) => rate(row.bytes_read), isNumber: true },
	{ title: 'written', value: (row) => row.bytes_written, show: (row) => rate(row.bytes_written), isNumber: true },
	{
		title: 'share of operations', value: (row) => row.operation_share, isNumber: true,
		show: (row) => <ShareBar part={row.operation_share} whole={1} text={formatShare(row.operation_share, 1)} />,
	},
	{ title: 'operations', value: (row) => row.operations, show: (row) => `${formatShortCount(row.operations)}/s`, isNumber: true },
];

const jobColumns: Column<QueuedJob>[] = [
	{ title: 'job', value: (row) => row.job, show: (row) => visible(row.job) },
	{ title: 'name', value: (row) => row.name, show: (row) => visible(row.name) },
	{ title: 'queue', value: (row) => row.queue, show: (row) => visible(row.queue) },
	{ title: 'nodes', value: (row) => row.nodes, show: (row) => known(row.nodes, formatCount), isNumber: true },
	{ title: 'memory', value: (row) => row.memory_bytes, show: (row) => known(row.memory_bytes, formatBytes), isNumber: true },
	{ title: 'runs for', value: (row) => row.used_s, show: (row) => known(row.used_s, (s) => formatTime(s * 1e9)), isNumber: true },
	{ title: 'of at most', value: (row) => row.allocated_s, show: (row) => known(row.allocated_s, (s) => formatTime(s * 1e9)), isNumber: true },
];

export function LoadSection({ system, isReady }: { system: string | null; isReady: boolean }) {
	const { data, error } = useApi<Load>(isReady ? withQuery('/load', { system }) : null);

	return (
		<section id="load">
			<h2>Load by job</h2>
			{error && <Failure text={error} />}
			{data && <SiteLoad load={data} />}
			{data && <JobQueue load={data} />}
		</section>
	);
}

/* Ranked by bytes, then by operations, as the server sends them. */
function SiteLoad({ load }: { load: Load }) {
	if (load.loads_problem)
		return <Failure text={load.loads_problem} />;
	if (!load.has_site)
		return <Empty command="sluice --set site.database=DATABASE serve">How many bytes each job moves is known only to the database of a site, to which the daemons of its nodes report. This command shows it here:</Empty>;
	if (!load.loads.length)
		return <p class="good-news">No job of yours loads the storage now.</p>;
	return (
		<>
			<p class="about">Bytes and operations per second that jobs cause on all nodes of the site, as the daemons reported in the last minute.</p>
			<Table name="Load by job" rows={load.loads} columns={loadColumns} rowKey={(row) => `${row.user} ${row.job}`} />
		</>
	);
}

function JobQueue({ load }: { load: Load }) {
	if (load.jobs_ns === null)
		return null;
	return (
		<section id="jobs">
			<h3>{`Jobs that ran at ${formatDate(load.jobs_ns)} UTC`}</h3>
			<p class="about">{`${plural(load.job_count, 'job')} by the job queue. The scheduler does not tell how much a job reads or writes; forecasts can use these figures.`}</p>
			{load.jobs.length > 0 && <Table name="Jobs" rows={load.jobs} columns={jobColumns} rowKey={(row) => row.job} total={load.job_count} />}
		</section>
	);
}
