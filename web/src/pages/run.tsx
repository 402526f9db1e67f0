// SPDX-License-Identifier: BSD-3-Clause
// One run: verdict, findings, linked charts and tables.
import { RateChart } from '../charts/rates';
import { SizesChart } from '../charts/sizes';
import type { TimeView } from '../charts/time_plot';
import { useApi } from '../lib/api';
import { useRunView, windowPath, type RunView } from '../lib/run_view';
import type { Report, WindowAnswer } from '../lib/types';
import { Failure, Loading } from '../parts/states';
import { Controls } from './controls';
import { Findings } from './findings';
import { NoView } from './no_view';
import { NodeTable, Notes, Parameters } from './notes';
import { CauseIcicle, FileOffsets, RankHeatmap } from './run_charts';
import { RunFrame } from './run_frame';
import { Verdict } from './verdict';
import { FileTable, FunctionTable, LayerTable, MemberTable } from './window_tables';

export function RunPage({ id }: { id: string }) {
	const run = useRunView(id);
	const report = useApi<Report>(run.path, { isFixed: true });

	return (
		<RunFrame id={id} row={run.row} page="run" search={run.search}>
			{report.error && <Failure text={report.error} />}
			{!report.data && !report.error && <Loading />}
			{report.data && <Verdict report={report.data} />}
			{report.data && <Findings findings={report.data.findings} id={id} />}
			{run.overview.error && !report.error && <Failure text={run.overview.error} />}
			{run.view ? <Linked run={run} view={run.view} /> : <NoView run={run} />}
			{report.data && <Parameters report={report.data} />}
			{report.data && <Notes report={report.data} />}
			{report.data && <NodeTable report={report.data} />}
		</RunFrame>
	);
}

function Linked({ run, view }: { run: RunView; view: TimeView }) {
	const { data, error } = useApi<WindowAnswer>(windowPath(run, 'window', { bins: 400 }), { isFixed: true });

	return (
		<>
			<section id="charts">
				<h2>Charts</h2>
				<p class="about">Drag over a chart to select a window: all charts and tables show it. A click on a name in a table selects its calls.</p>
				<Controls run={run} view={view} />
				{error && <Failure text={error} />}
				<div class="plots">
					{data && <RateChart {...view} answer={data} quantity="bandwidth" run={run.id} />}
					<RankHeatmap run={run} view={view} />
					{data && <FileOffsets run={run} view={view} answer={data} />}
					{data && <SizesChart answer={data} run={run.id} />}
					<CauseIcicle run={run} />
				</div>
			</section>
			{data && <>
				<FunctionTable run={run} answer={data} />
				<FileTable run={run} answer={data} />
				<LayerTable run={run} answer={data} />
				<MemberTable run={run} answer={data} />
			</>}
		</>
	);
}
