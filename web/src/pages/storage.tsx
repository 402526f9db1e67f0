// SPDX-License-Identifier: BSD-3-Clause
// Storage targets: which are busy, how their write times developed, and who loads the storage.
import { useApi } from '../lib/api';
import { formatBytes, formatDate, formatShare, formatTime, known, plural } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace, usePlace } from '../lib/location';
import { withQuery } from '../lib/period';
import type { Forecast, Targets } from '../lib/storage_types';
import { forecastSizes, targetRows, targetsVerdict, type TargetRow } from '../lib/targets';
import { visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { Link } from '../parts/link';
import { ShareBar } from '../parts/share_bar';
import { Sparkline } from '../parts/sparkline';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { LoadSection } from './load';
import { TargetSection } from './target';

const STATE_CHIPS = { busy: 'warning', idle: 'good', unknown: '' };

export const seconds = (value: number) => formatTime(value * 1e9);

export function StoragePage() {
	const { search } = usePlace();
	const system = new URLSearchParams(search).get('system');
	const { data, error } = useApi<Targets>(withQuery('/targets', { system }));
	const forecast = useApi<Forecast>('/forecast');

	useTitle('Storage');
	return (
		<>
			<h1 class="page-title">Storage targets</h1>
			<p class="about">Small test writes show how fast each target is now. A model that was learned from them forecasts which targets are busy.</p>
			{error && <Failure text={error} />}
			{forecast.error && <Failure text={forecast.error} />}
			{!data && !error && <Loading />}
			{data?.problem && <Empty command="sluice forecast probe NAME=DIRECTORY...">There are no test writes yet. This command makes them until it is stopped:</Empty>}
			{data && !data.problem && <Overview targets={data} forecast={forecast.data} search={search} />}
			<LoadSection system={data?.system ?? null} isReady={data !== null} />
		</>
	);
}

function Overview({ targets, forecast, search }: { targets: Targets; forecast: Forecast | null; search: string }) {
	const query = new URLSearchParams(search), sizes = forecastSizes(forecast);
	const bytes = sizes.find((size) => String(size) === query.get('forecast')) ?? sizes[sizes.length - 1] ?? null;
	const rows = targetRows(targets, forecast, bytes);
	const chosen = rows.find(({ name }) => name === query.get('target')) ?? rows.find(({ forecast: one }) => one?.state === 'busy') ?? rows[0];

	return (
		<>
			<section id="targets">
				<SystemChoice targets={targets} search={search} />
				{forecast && <Verdict rows={rows} targets={targets} forecast={forecast} bytes={bytes} />}
				{sizes.length > 1 && <div class="filters"><label>Forecast for writes of
					<select value={String(bytes)} onChange={(event) => changePlace(changeQuery(search, { forecast: event.currentTarget.value }))}>
						{sizes.map((size) => <option key={size} value={size}>{formatBytes(size)}</option>)}
					</select>
				</label></div>}
				<TargetTable rows={rows} targets={targets} search={search} chosen={chosen?.name ?? null} />
			</section>
			{chosen && <TargetSection key={`${targets.system} ${chosen.name}`} row={chosen} targets={targets} method={forecast?.model?.method ?? ''} search={search} />}
		</>
	);
}

function SystemChoice({ targets, search }: { targets: Targets; search: string }) {
	const { system, systems } = targets, chosen = systems.find(({ name }) => name === system);

	return (
		<div class="tools">
			{systems.length > 1 ? <label class="choice">System
				<select value={system ?? ''} onChange={(event) => changePlace(changeQuery(search, { system: event.currentTarget.value, target: null, from_ns: null, to_ns: null, bytes: null }))}>
					{systems.map(({ name }) => <option key={name} value={name}>{visible(name)}</option>)}
				</select>
			</label> : <span>System <strong>{visible(system)}</strong></span>}
			{targets.modelled && <span class="chip info" title="This system is generated, not probed.">modelled</span>}
			{chosen && <output>{`${plural(chosen.targets, 'target')}, ${plural(chosen.samples, 'write')} from ${formatDate(chosen.first_ns)} to ${formatDate(chosen.last_ns)} UTC; the newest is ${formatTime(Math.max(0, targets.now_ns - chosen.last_ns))} old`}</output>}
		</div>
	);
}

function Verdict({ rows, targets, forecast, bytes }: { rows: readonly TargetRow[]; targets: Targets; forecast: Forecast; bytes: number | null }) {
	if (forecast.problem)
		return <Empty command="sluice forecast train">There is no forecast yet. This command learns one from the test writes:</Empty>;
	if (forecast.system !== targets.system || bytes === null)
		return <Empty command={`sluice forecast train --system ${targets.system}`}>{`The forecast is about the system ${visible(forecast.system)}. This command learns one for this system:`}</Empty>;
	return (
		<>
			<p class="verdict">{targetsVerdict(rows, forecast, bytes)}</p>
			{forecast.warning && <div class="incomplete"><p>{visible(forecast.warning)}</p></div>}
			{forecast.caution && <ul class="notes"><li>{visible(forecast.caution)}</li></ul>}
		</>
	);
}

function ForecastState({ row: { forecast } }: { row: TargetRow }) {
	if (!forecast)
		return <span class="d">–</span>;
	return <span class={`chip ${STATE_CHIPS[forecast.state]}`}>{forecast.state}</span>;
}

function TargetTable(props: { rows: readonly TargetRow[]; targets: Targets; search: string; chosen: string | null }) {
	const { rows, targets, search, chosen } = props;
	const columns: Column<TargetRow>[] = [
		{
			title: 'target', value: (row) => row.name,
			show: (row) => <Link to={`/storage${changeQuery(search, { target: row.name, bytes: null })}`} keepScroll isCurrent={row.name === chosen}>{visible(row.name)}</Link>,
		},
		{ title: 'forecast', value: (row) => row.forecast?.state ?? null, show: (row) => <ForecastState row={row} /> },
		{
			title: 'busy', value: (row) => row.forecast?.busy ?? null, isNumber: true, help: 'probability that the target is busy',
			show: (row) => typeof row.forecast?.busy === 'number' ? <ShareBar part={row.forecast.busy} whole={1} text={formatShare(row.forecast.busy, 1)} /> : '–',
		},
		{
			title: 'right', value: (row) => row.forecast?.accuracy ?? null, isNumber: true,
			help: 'accuracy in held-out blocks of time, and that of always predicting the more frequent state', show: (row) => <Accuracy row={row} />,
		},
		{ title: 'expected', value: (row) => row.forecast?.expected_s ?? null, show: (row) => known(row.forecast?.expected_s, seconds), isNumber: true, help: 'expected time of a write' },
		{
			title: 'if idle, busy', value: (row) => row.forecast ? `${row.forecast.idle_s ?? ''} ${row.forecast.busy_s ?? ''}` : null, isNumber: true, help: 'mean time of a write in each state',
			show: (row) => row.forecast ? `${known(row.forecast.idle_s, seconds)}, ${known(row.forecast.busy_s, seconds)}` : '–',
		},
		{ title: 'last test write', value: (row) => row.probe?.newest?.seconds ?? null, show: (row) => <Newest row={row} now_ns={targets.now_ns} />, isNumber: true },
		{
			title: 'last day', help: 'durations of test writes', value: (row) => row.probe?.writes ?? null,
			show: (row) => row.probe && <Sparkline values={row.probe.trend} label={`Durations of test writes to ${visible(row.name)} over the last day`} />,
		},
		{
			title: 'failed', value: (row) => row.target.sizes.reduce((sum, { failed }) => sum + failed, 0), isNumber: true,
			show: (row) => row.target.sizes.reduce((sum, { failed }) => sum + failed, 0) || '', help: 'writes that timed out, found no space or failed',
		},
	];

	return <Table name="Storage targets" rows={rows} columns={columns} rowKey={(row) => row.name} total={targets.target_count} />;
}

function Accuracy({ row: { forecast } }: { row: TargetRow }) {
	if (!forecast?.is_model)
		return <span class="d">{forecast ? 'past share only' : '–'}</span>;
	return (
		<>
			{known(forecast.accuracy, (share) => formatShare(share, 1))}
			<span class="d">{` (majority ${known(forecast.majority, (share) => formatShare(share, 1))})`}</span>
			{!forecast.is_useful && <><br /><span class="chip warning">no better than the majority</span></>}
		</>
	);
}

function Newest({ row, now_ns }: { row: TargetRow; now_ns: number }) {
	const newest = row.probe?.newest;

	if (!newest)
		return <>–</>;
	return (
		<>
			{newest.outcome === 'done' ? seconds(newest.seconds) : <span class="chip critical">{newest.outcome}</span>}
			<span class="d">{`, ${formatTime(Math.max(0, now_ns - newest.time_ns))} ago`}</span>
		</>
	);
}
