// SPDX-License-Identifier: BSD-3-Clause
// What a site's database knows about the storage now: anomalies that concern the user, and the loads of the user's jobs.
import { useApi } from '../lib/api';
import { formatCount, formatDate, formatRate } from '../lib/format';
import { visible } from '../lib/text';
import { useTitle } from '../lib/title';
import type { Site, SiteAnomaly, SiteLoad } from '../lib/types';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';

const NS_PER_S = 1e9;

function rateColumn(title: string, rate: (row: SiteLoad) => number): Column<SiteLoad> {
	return { title, value: rate, show: (row) => formatRate(rate(row), NS_PER_S), isNumber: true };
}

const loadColumns: Column<SiteLoad>[] = [
	{ title: 'job', value: (row) => row.job, show: (row) => visible(row.job || 'no job') },
	{ title: 'user', value: (row) => row.user, show: (row) => visible(row.user || 'others') },
	{ title: 'file system', value: (row) => row.target, show: (row) => visible(row.target || 'unknown') },
	{ title: 'nodes', value: (row) => row.nodes, show: (row) => formatCount(row.nodes), isNumber: true },
	rateColumn('read', (row) => row.bytes_read_per_s),
	rateColumn('written', (row) => row.bytes_written_per_s),
	{ title: 'operations/s', value: (row) => row.operations_per_s, show: (row) => formatCount(Math.round(row.operations_per_s)), isNumber: true },
];

const anomalyColumns: Column<SiteAnomaly>[] = [
	{ title: 'began (UTC)', value: (row) => row.started_ns, show: (row) => formatDate(row.started_ns) },
	{ title: 'ended (UTC)', value: (row) => row.ended_ns, show: (row) => row.ended_ns === null ? <span class="chip warning">lasts</span> : formatDate(row.ended_ns) },
	{ title: 'file system', value: (row) => row.target, show: (row) => visible(row.target || 'unknown') },
	{ title: 'node', value: (row) => row.node, show: (row) => visible(row.node || 'several') },
	{ title: 'job', value: (row) => row.job, show: (row) => visible(row.job) },
	{ title: 'cause', value: (row) => row.cause, show: (row) => visible(row.cause) },
	{ title: 'slower', value: (row) => row.value, show: (row) => `${row.value.toFixed(1)} times`, isNumber: true },
	{ title: 'details', value: (row) => row.detail, show: (row) => visible(row.detail) },
];

export function SitePage() {
	const { data, error } = useApi<Site>('/site');

	useTitle('Site');
	return (
		<>
			<h1 class="page-title">Site</h1>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && <section id="anomalies"><h2>Anomalies</h2>
				{data.anomalies.length ? <Table name="Anomalies" rows={data.anomalies} columns={anomalyColumns} rowKey={(row) => `${row.node} ${row.subject} ${row.target} ${row.started_ns}`} />
					: <Empty>No anomaly of the storage concerns your jobs.</Empty>}
			</section>}
			{data && <section id="loads"><h2>Load now</h2>
				{data.loads.length ? <Table name="Load" rows={data.loads} columns={loadColumns} rowKey={(row) => `${row.user} ${row.job} ${row.target}`} />
					: <Empty>No node has reported a load of your jobs in the last minute.</Empty>}
			</section>}
		</>
	);
}
