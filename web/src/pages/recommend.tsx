// SPDX-License-Identifier: BSD-3-Clause
// Describes a collective access, and shows the settings that the model recommends for it.
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../lib/api';
import { accessChanges, accessCommand, isComplete, parseAccess, settingsLine, SIZE_PATTERN, type AccessForm } from '../lib/access_form';
import { formatCount, formatRatio, formatTime, known } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace } from '../lib/location';
import { withQuery } from '../lib/period';
import type { ListedModel, Recommendation } from '../lib/storage_types';
import { visible } from '../lib/text';
import { Copy } from '../parts/copy';
import { Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';

interface Props {
	model: ListedModel;
	search: string;
}

export function RecommendSection({ model, search }: Props) {
	const form = parseAccess(search), isAsked = isComplete(form);
	const path = withQuery(`/models/${encodeURIComponent(model.name)}/recommend`, accessChanges(form));
	const { data, error, isLoading } = useApi<Recommendation>(isAsked ? path : null);

	return (
		<section id="recommend">
			<h2>Recommend settings</h2>
			<p class="about">Describe one collective read or write of your program. The model predicts its time with all settings that it knows.</p>
			<Form form={form} search={search} />
			{error && <Failure text={error} />}
			{isLoading && !data && <Loading />}
			{isAsked && data && <Answer answer={data} command={accessCommand(form, model.is_default ? null : model.name)} />}
		</section>
	);
}

/* What was typed becomes part of the address when the form is submitted. */
function Form({ form: asked, search }: { form: AccessForm; search: string }) {
	const [form, setForm] = useState(asked);
	const set = (name: keyof AccessForm) => (event: { currentTarget: { value: string } }) => setForm({ ...form, [name]: event.currentTarget.value });

	useEffect(() => setForm(parseAccess(search)), [search]);
	return (
		<form class="access" onSubmit={(event) => {
			event.preventDefault();
			changePlace(changeQuery(search, accessChanges(form)));
		}}>
			<label>Direction<select value={form.direction} onChange={set('direction')}><option value="write">write</option><option value="read">read</option></select></label>
			<label>MPI ranks<input type="number" min={1} max={16777216} required value={form.ranks} onInput={set('ranks')} placeholder="64" /></label>
			<label>Bytes per rank<input type="text" required pattern={SIZE_PATTERN} title="A size, such as 16M or 4096" value={form.size} onInput={set('size')} placeholder="16M" /></label>
			<label>Nodes<input type="number" min={1} value={form.nodes} onInput={set('nodes')} placeholder="fewest" /></label>
			<label>Pattern<select value={form.pattern} onChange={set('pattern')}>
				<option value="contiguous">one block per rank</option><option value="strided">interleaved blocks</option>
			</select></label>
			{form.pattern === 'strided' && <>
				<label>Bytes of a block<input type="text" required pattern={SIZE_PATTERN} title="A size, such as 4K" value={form.block} onInput={set('block')} placeholder="4K" /></label>
				<label>Distance of blocks<input type="text" pattern={SIZE_PATTERN} title="A size; empty: no gaps" value={form.stride} onInput={set('stride')} placeholder="no gaps" /></label>
			</>}
			<label class="long">Current parameters<input type="text" value={form.params} onInput={set('params')} placeholder="cb_nodes=4 cb_buffer_size=16777216" /></label>
			<button type="submit" class="primary">Recommend</button>
		</form>
	);
}

interface Row {
	name: string;
	predicted: number;
	low: number | null;
	high: number | null;
	speedup: number;
	isCurrent: boolean;
}

function rowsOf(answer: Recommendation): Row[] {
	const { predicted_now, now_low, now_high } = answer;

	return [
		{ name: 'current settings', predicted: predicted_now, low: now_low, high: now_high, speedup: 1, isCurrent: true },
		...answer.best.map(({ predicted, low, high, settings }) => ({
			name: settingsLine(settings), predicted, low, high, speedup: predicted_now / predicted, isCurrent: false,
		})),
	];
}

const time = (value: number) => formatTime(value * 1e9);

const columns: Column<Row>[] = [
	{ title: 'settings', value: (row) => row.name, show: (row) => row.isCurrent ? row.name : <code>{visible(row.name)}</code> },
	{ title: 'predicted', value: (row) => row.predicted, show: (row) => time(row.predicted), isNumber: true },
	{ title: 'interval', value: (row) => row.low, show: (row) => `${known(row.low, time)} to ${known(row.high, time)}`, isNumber: true },
	{ title: 'speedup', value: (row) => row.speedup, show: (row) => formatRatio(row.speedup), isNumber: true },
];

function Answer({ answer, command }: { answer: Recommendation; command: string }) {
	const [first, ...rest] = answer.verdict;

	return (
		<div id="answer" aria-live="polite">
			<p class="d">{visible(answer.text)}</p>
			<p class="verdict">{visible(first)}{answer.modelled && <> <span class="chip info" title="The machine is described, and no access was measured on it.">modelled</span></>}</p>
			<ul class="notes">
				{rest.map((line) => <li key={line}>{visible(line)}</li>)}
				{!answer.calibrated && <li>The model is not calibrated for such accesses, so the intervals come from the benchmarks alone and their coverage is unknown.</li>}
				{answer.outside && <li>Part of this access is outside the measured range, which widens the intervals.</li>}
				{answer.doubts.map((doubt) => <li key={doubt}>{visible(doubt)}</li>)}
			</ul>
			<Table name="Recommended settings" rows={rowsOf(answer)} columns={columns} rowKey={(row) => row.name} />
			<p class="more">{`${formatCount(answer.candidates)} settings were predicted.${answer.keep ? '' : ' To write the best one as hints for \'sluice run --params\':'}`}</p>
			{!answer.keep && <Copy text={command} />}
		</div>
	);
}
