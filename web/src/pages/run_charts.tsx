// SPDX-License-Identifier: BSD-3-Clause
// Charts that show the same window and the same calls.
import { HEAT_KINDS, HeatmapChart } from '../charts/heatmap';
import { IcicleChart } from '../charts/icicle';
import { OffsetsChart } from '../charts/offsets';
import type { TimeView } from '../charts/time_plot';
import { useApi } from '../lib/api';
import { changeQuery } from '../lib/filter';
import { changePlace } from '../lib/location';
import { windowPath, type RunView } from '../lib/run_view';
import { shorten } from '../lib/text';
import type { Causes, Heatmap, Offsets, WindowAnswer } from '../lib/types';
import { Failure, Loading } from '../parts/states';

interface Props {
	run: RunView;
	view: TimeView;
}

const HEAT_NAMES = { time: 'time', bytes: 'bytes', calls: 'calls' };
const FILE_LETTERS = 48;

/* Which value the cells show; the address holds it as "of". */
export function RankHeatmap({ run, view }: Props) {
	const wanted = new URLSearchParams(run.search).get('of');
	const of = HEAT_KINDS.find((kind) => kind === wanted) ?? 'time';
	const { data, error } = useApi<Heatmap>(windowPath(run, 'heatmap', { of, bins: 200, rows: 256 }), { isFixed: true });

	if (error)
		return <Failure text={error} />;
	if (!data)
		return <Loading />;
	return <HeatmapChart {...view} map={data} run={run.id} who={run.who} tools={
		<label class="choice">of <select value={of} onChange={(event) => changePlace(changeQuery(run.search, {
			of: event.currentTarget.value === 'time' ? null : event.currentTarget.value,
		}))}>{HEAT_KINDS.map((kind) => <option key={kind} value={kind}>{HEAT_NAMES[kind]}</option>)}</select></label>
	} />;
}

/* The file of the filter; else the one that the address names as "plot"; else the one with the most time. */
export function FileOffsets({ run, view, answer }: Props & { answer: WindowAnswer }) {
	const wanted = new URLSearchParams(run.search).get('plot');
	const file = run.filter.file ?? wanted ?? answer.files[0]?.file ?? null;
	/* Calls of libraries have no offsets of the file; those of storage do. */
	const filter = { ...run.filter, level: run.filter.level === 'program' ? 'storage' as const : run.filter.level };
	const { data, error } = useApi<Offsets>(file === null ? null : windowPath(run, 'offsets', { file, limit: 20000 }, filter), { isFixed: true });
	const names = [...new Set([...file === null ? [] : [file], ...answer.files.map((row) => row.file)])];

	if (file === null)
		return null;
	if (error)
		return <Failure text={error} />;
	if (!data)
		return <Loading />;
	return <OffsetsChart {...view} offsets={data} run={run.id} who={run.who} tools={
		<label class="choice">in <select value={file} disabled={run.filter.file !== null}
			onChange={(event) => changePlace(changeQuery(run.search, { plot: event.currentTarget.value }))}>
			{names.map((name) => <option key={name} value={name}>{shorten(name, FILE_LETTERS)}</option>)}</select></label>
	} />;
}

export function CauseIcicle({ run }: { run: RunView }) {
	const { data, error } = useApi<Causes>(windowPath(run, 'causes'), { isFixed: true });

	if (error)
		return <Failure text={error} />;
	if (!data)
		return <Loading />;
	return <IcicleChart causes={data} run={run.id} onFunction={(name) => changePlace(changeQuery(run.search, { function: name }))} />;
}
