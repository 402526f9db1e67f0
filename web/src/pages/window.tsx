// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a time frame: what happened in a window of the run, and how much of the run that is.
import { RateChart } from '../charts/rates';
import { SizesChart } from '../charts/sizes';
import type { TimeView } from '../charts/time_plot';
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatRate, formatShare, formatTime } from '../lib/format';
import { useRunView, windowPath, type RunView } from '../lib/run_view';
import { spanLength, type Span } from '../lib/span';
import type { Sums, WindowAnswer } from '../lib/types';
import { Figures, type FigureValue } from '../parts/figures';
import { Failure } from '../parts/states';
import { Controls } from './controls';
import { NoView } from './no_view';
import { CauseIcicle } from './run_charts';
import { RunFrame } from './run_frame';
import { FileTable, FunctionTable, LayerTable, MemberTable } from './window_tables';

export function WindowPage({ id }: { id: string }) {
	const run = useRunView(id);

	return (
		<RunFrame id={id} row={run.row} page="window" search={run.search}>
			{run.overview.error && <Failure text={run.overview.error} />}
			{run.view ? <TimeFrame run={run} view={run.view} /> : <NoView run={run} />}
		</RunFrame>
	);
}

function figures(sums: Sums, whole: Sums, span: Span): FigureValue[] {
	const part = (value: number, all: number) => all > 0 ? `${formatShare(value, all)} of the run` : '';

	return [
		{ name: 'Length', value: formatTime(spanLength(span)) },
		{ name: 'Calls', value: formatCount(sums.calls), note: part(sums.calls, whole.calls) },
		{ name: 'Failed calls', value: formatCount(sums.errors), note: part(sums.errors, whole.errors) },
		{ name: 'Read', value: formatBytes(sums.bytes_read), note: part(sums.bytes_read, whole.bytes_read) },
		{ name: 'Written', value: formatBytes(sums.bytes_written), note: part(sums.bytes_written, whole.bytes_written) },
		{ name: 'Bandwidth', value: formatRate(sums.bytes_read + sums.bytes_written, spanLength(span)), note: 'by the length of the window' },
		{ name: 'Time of all calls', value: formatTime(sums.time_ns), note: part(sums.time_ns, whole.time_ns) },
		{ name: 'Time per call', value: sums.calls ? formatTime(sums.time_ns / sums.calls) : '–' },
	];
}

function TimeFrame({ run, view }: { run: RunView; view: TimeView }) {
	const wholeFilter = { ...run.filter, from_ns: null, to_ns: null };
	const whole = useApi<WindowAnswer>(windowPath(run, 'window', { bins: 400 }, wholeFilter), { isFixed: true });
	const { data, error } = useApi<WindowAnswer>(windowPath(run, 'window', { bins: 400 }), { isFixed: true });
	const isPart = view.span.from > view.whole.from || view.span.to < view.whole.to;

	return (
		<section id="frame">
			<h2>Time frame statistics</h2>
			<p class="about">Drag over a chart to select the time frame. The upper chart always shows the whole run.</p>
			<Controls run={run} view={view} />
			{error && <Failure text={error} />}
			<div class="plots">
				{whole.data && <RateChart {...view} span={view.whole} mark={isPart ? view.span : null} answer={whole.data} quantity="bandwidth" run={`${run.id}-run`} title="Bandwidth of the whole run" height={110} />}
			</div>
			{data && whole.data && <Figures values={figures(data.totals, whole.data.totals, view.span)} />}
			<div class="plots">
				{data && isPart && <RateChart {...view} answer={data} quantity="bandwidth" run={run.id} title="Bandwidth in the time frame" />}
				{data && <RateChart {...view} answer={data} quantity="calls" run={run.id} />}
				{data && <SizesChart answer={data} run={run.id} />}
				<CauseIcicle run={run} />
			</div>
			{data && <>
				<FunctionTable run={run} answer={data} />
				<LayerTable run={run} answer={data} />
				<FileTable run={run} answer={data} />
				<MemberTable run={run} answer={data} />
			</>}
		</section>
	);
}
