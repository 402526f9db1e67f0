// SPDX-License-Identifier: BSD-3-Clause
// The calls of a run in order of their start, page by page.
import type { TimeView } from '../charts/time_plot';
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatMicroseconds, formatSeconds, known } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { routePath } from '../lib/route';
import { useRunView, windowPath, type RunView } from '../lib/run_view';
import { preferences } from '../lib/preferences';
import { useStore } from '../lib/store';
import { shorten, visible } from '../lib/text';
import type { Activities, ActivityRow } from '../lib/types';
import { Link } from '../parts/link';
import { Pager } from '../parts/pager';
import { Empty, Failure, Loading } from '../parts/states';
import { Controls } from './controls';
import { NoView } from './no_view';
import { RunFrame } from './run_frame';

const PATH_LETTERS = 60;

export function ActivitiesPage({ id }: { id: string }) {
	const run = useRunView(id);

	return (
		<RunFrame id={id} row={run.row} page="activities" search={run.search}>
			{run.overview.error && <Failure text={run.overview.error} />}
			{run.view ? <ActivityList run={run} view={run.view} /> : <NoView run={run} />}
		</RunFrame>
	);
}

function ActivityList({ run, view }: { run: RunView; view: TimeView }) {
	const { rows: limit } = useStore(preferences);
	const offset = Math.max(0, Math.floor(Number(new URLSearchParams(run.search).get('offset')) || 0));
	const { data, error } = useApi<Activities>(windowPath(run, 'activities', { limit, offset }), { isFixed: true });

	return (
		<section id="activities">
			<h2>Activities</h2>
			<Controls run={run} view={view} hasDuration />
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && data.total === 0 && <Empty>{data.covered < 1 ? 'No call is found so far.'
				: 'No call matches the filter. Choose "all calls" or remove a filter.'}</Empty>}
			{data && data.total > 0 && <>
				<Pager offset={offset} limit={limit} total={data.total} isLow={data.total_is_low} noun="activities" search={run.search} />
				<ActivityTable run={run} rows={data.activities} first={offset + 1} />
				<Pager offset={offset} limit={limit} total={data.total} isLow={data.total_is_low} noun="activities" search={run.search} />
			</>}
		</section>
	);
}

function ActivityTable({ run, rows, first }: { run: RunView; rows: readonly ActivityRow[]; first: number }) {
	return (
		<div class="scroll tall" tabIndex={0} role="region" aria-label="Activities">
			<table>
				<thead><tr>
					<th scope="col" class="n">#</th><th scope="col">Function</th>
					<th scope="col" class="n">Time start [s]</th><th scope="col" class="n">Time stop [s]</th>
					<th scope="col" class="n">Duration [µs]</th><th scope="col">Error code</th>
					<th scope="col">Layer</th><th scope="col" class="n">{run.who === 'rank' ? 'Rank' : 'Process'}</th>
					<th scope="col" class="n">Offset</th><th scope="col" class="n">Size</th><th scope="col" class="n">Result</th><th scope="col">File</th>
				</tr></thead>
				<tbody>{rows.map((row, i) => (
					<tr key={row.key}>
						<td class="n">{formatCount(first + i)}</td>
						<th scope="row"><Link to={routePath({ page: 'activity', id: run.id, key: row.key }) + changeQuery(run.search, {})}>{visible(row.function)}</Link></th>
						<td class="n">{formatSeconds(row.start_ns)}</td>
						<td class="n">{formatSeconds(row.start_ns + row.duration_ns)}</td>
						<td class="n">{formatMicroseconds(row.duration_ns)}</td>
						<td class={row.error ? 'bad' : ''}>{row.error ? `${row.error} ${visible(row.error_text)}` : '0'}</td>
						<td>{visible(row.layer)}</td>
						<td class="n">{known(row.member, String)}</td>
						<td class="n">{row.offset === null ? '' : formatCount(row.offset)}</td>
						<td class="n" title={row.size === null ? '' : formatBytes(row.size)}>{row.size === null ? '' : formatCount(row.size)}</td>
						<td class="n">{row.result === null ? '' : String(row.result)}</td>
						<td title={visible(row.file)}>{shorten(row.file ?? '', PATH_LETTERS)}</td>
					</tr>
				))}</tbody>
			</table>
		</div>
	);
}
