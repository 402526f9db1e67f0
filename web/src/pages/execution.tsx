// SPDX-License-Identifier: BSD-3-Clause
// Execution overview: what all ranks or processes did, from the start of the run to its end.
import { RateChart } from '../charts/rates';
import type { TimeView } from '../charts/time_plot';
import { useApi } from '../lib/api';
import { useRunView, windowPath, type RunView } from '../lib/run_view';
import type { WindowAnswer } from '../lib/types';
import { Failure } from '../parts/states';
import { Controls } from './controls';
import { NoView } from './no_view';
import { RankHeatmap } from './run_charts';
import { RunFrame } from './run_frame';
import { MemberTable } from './window_tables';

export function ExecutionPage({ id }: { id: string }) {
	const run = useRunView(id);

	return (
		<RunFrame id={id} row={run.row} page="execution" search={run.search}>
			{run.overview.error && <Failure text={run.overview.error} />}
			{run.view ? <Execution run={run} view={run.view} /> : <NoView run={run} />}
		</RunFrame>
	);
}

function Execution({ run, view }: { run: RunView; view: TimeView }) {
	const { data, error } = useApi<WindowAnswer>(windowPath(run, 'window', { bins: 400 }), { isFixed: true });

	return (
		<section id="execution">
			<h2>Execution overview</h2>
			<p class="about">{`Each row is a ${run.who}; the color of a cell shows how much it did in that time. Drag to select a window.`}</p>
			<Controls run={run} view={view} />
			{error && <Failure text={error} />}
			<div class="plots">
				<RankHeatmap run={run} view={view} />
				{data && <RateChart {...view} answer={data} quantity="concurrency" run={run.id} height={140} />}
				{data && <RateChart {...view} answer={data} quantity="calls" run={run.id} height={140} />}
				{data && <RateChart {...view} answer={data} quantity="bandwidth" run={run.id} height={140} />}
			</div>
			{data && <MemberTable run={run} answer={data} />}
		</section>
	);
}
