// SPDX-License-Identifier: BSD-3-Clause
// The performance model of collective I/O: how well it predicts, and what it recommends.
import { ScatterChart } from '../charts/scatter_chart';
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatDate, formatRatio, formatShare, known, plural } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { usePlace } from '../lib/location';
import type { ListedModel, ModelAnswer, Models, OperationCost } from '../lib/storage_types';
import { visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { Figures, type FigureValue } from '../parts/figures';
import { Link } from '../parts/link';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { RecommendSection } from './recommend';

export function ModelPage() {
	const { search } = usePlace();
	const { data, error } = useApi<Models>('/models');
	const usable = data?.models.filter((row) => !row.error) ?? [], wanted = new URLSearchParams(search).get('model');
	const chosen = usable.find(({ name }) => name === wanted) ?? usable.find(({ is_default }) => is_default) ?? usable[0];

	useTitle('Model');
	return (
		<>
			<h1 class="page-title">Performance model</h1>
			<p class="about">Predicts how long collective reads and writes of any program take with any settings, from measurements of the machine. It runs nothing.</p>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && <ModelList models={data} chosen={chosen?.name ?? null} search={search} />}
			{chosen && <RecommendSection key={`${chosen.name} form`} model={chosen} search={search} />}
			{chosen && <Accuracy key={chosen.name} name={chosen.name} />}
		</>
	);
}

function ModelState({ row }: { row: ListedModel }) {
	if (row.error)
		return <span class="chip critical" title={visible(row.error)}>unreadable</span>;
	return (
		<>
			{row.is_default && <span class="chip">default</span>}
			{row.modelled && <span class="chip info" title="The machine is described, and no access was measured on it.">modelled</span>}
			{row.is_calibrated ? <span class="chip good">calibrated</span> : <span class="chip warning">not calibrated</span>}
			{row.doubts?.map((doubt) => <span key={doubt} class="chip warning" title={visible(doubt)}>doubtful</span>).slice(0, 1)}
		</>
	);
}

function ModelList({ models, chosen, search }: { models: Models; chosen: string | null; search: string }) {
	const columns: Column<ListedModel>[] = [
		{
			title: 'model', value: (row) => row.name,
			show: (row) => row.error ? visible(row.name) : <Link to={`/model${changeQuery(search, { model: row.is_default ? null : row.name })}`} keepScroll isCurrent={row.name === chosen}>{visible(row.name)}</Link>,
		},
		{ title: 'machine', value: (row) => row.title ?? null, show: (row) => visible(row.title ?? row.error) },
		{ title: 'state', value: (row) => row.error ? 'unreadable' : row.is_calibrated ? 'calibrated' : 'not calibrated', show: (row) => <ModelState row={row} /> },
		{ title: 'learned (UTC)', value: (row) => row.made_ns ?? null, show: (row) => row.made_ns ? formatDate(row.made_ns) : '–' },
		{ title: 'size', value: (row) => row.bytes, show: (row) => formatBytes(row.bytes), isNumber: true },
	];

	return (
		<section id="models">
			{models.models.length === 0
				? models.platforms.length
					? <Empty command={`sluice model fit --platform ${models.platforms[0].name}`}>{`${plural(models.platforms[0].rows, 'measurement')} of ${visible(models.platforms[0].name)} are in the store, but no model. This command learns one:`}</Empty>
					: <Empty command={'sluice model measure\nsluice model fit\nsluice model calibrate'}>There is no model of this machine yet. These commands measure it once, learn the cost of operations, and test the predictions:</Empty>
				: <Table name="Models" rows={models.models} columns={columns} rowKey={(row) => row.name} />}
		</section>
	);
}

function figures(model: ModelAnswer): FigureValue[] {
	const held = model.scores.find(({ group }) => group === 'held out'), all = model.scores.find(({ group }) => group === 'all');
	const { calibration } = model, percent = (share: number) => formatShare(share, 1);
	const values: FigureValue[] = [];

	if (held)
		values.push({ name: 'Median error, held out', value: known(held.median_error, percent), note: plural(held.count, 'measurement') });
	else if (all)
		values.push({ name: 'Median error', value: known(all.median_error, percent), note: 'of what it was learned from' });
	if (all)
		values.push({ name: 'Predicted / measured', value: known(all.bias, formatRatio), note: 'median' });
	if (calibration) {
		values.push(
			{ name: 'Coverage, measured', value: known(calibration.measured_coverage, percent), note: `claimed ${percent(calibration.coverage)}; ${calibration.is_supported ? 'supported' : 'not supported'}` },
			{ name: 'Interval', value: calibration.factor === null ? '–' : `× ${formatRatio(calibration.factor)}`, note: 'factor on the prediction' },
			{ name: 'Accesses', value: formatCount(calibration.cases), note: `${formatCount(calibration.held_out)} held out, ${plural(calibration.repeat, 'run')} each` });
	}
	values.push({ name: 'Learned', value: formatDate(model.made_ns).slice(0, 10), note: model.measured_ns ? `measured ${formatDate(model.measured_ns).slice(0, 10)}` : '' });
	return values;
}

function Accuracy({ name }: { name: string }) {
	const { data, error } = useApi<ModelAnswer>(`/models/${encodeURIComponent(name)}`);

	return (
		<section id="accuracy">
			<h2>Predicted and measured</h2>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && <Model model={data} />}
		</section>
	);
}

function accuracyText(model: ModelAnswer): string {
	const { calibration } = model;

	if (!calibration)
		return `This model of ${visible(model.title)} is not calibrated: its predictions were not compared with accesses of the real library, so their accuracy is unknown.`;
	return `Predictions for ${visible(model.title)} have a ${visible(model.claim)}${calibration.factor === null ? '' : `, a factor of ${formatRatio(calibration.factor)} around the prediction`}.`;
}

const costColumns: Column<OperationCost>[] = [
	{ title: 'operation', value: (row) => row.operation, show: (row) => <code>{visible(row.operation)}</code> },
	{ title: 'measurements', value: (row) => row.rows, show: (row) => formatCount(row.rows), isNumber: true },
	{ title: 'arguments', value: (row) => row.cells, show: (row) => formatCount(row.cells), isNumber: true, help: 'different arguments that were measured' },
	{ title: 'method', value: (row) => row.learner ?? 'constant', show: (row) => visible(row.learner ?? 'constant') },
	{ title: 'median error', value: (row) => row.median_error, show: (row) => known(row.median_error, (share) => formatShare(share, 1)), isNumber: true, help: 'on arguments that were held out' },
	{ title: 'R²', value: (row) => row.r2, show: (row) => known(row.r2, (value) => value.toFixed(3)), isNumber: true, help: 'of logarithms, on arguments that were held out' },
	{ title: 'noise', value: (row) => row.noise, show: (row) => known(row.noise, (share) => formatShare(share, 1)), isNumber: true, help: 'variation of repeated measurements' },
];

function Model({ model }: { model: ModelAnswer }) {
	const { calibration } = model;

	return (
		<>
			<p class="verdict">{accuracyText(model)}{model.modelled && <> <span class="chip info">modelled</span></>}</p>
			{model.doubts.length > 0 && <div class="incomplete"><p><strong>This model may no longer fit.</strong></p><ul>{model.doubts.map((doubt) => <li key={doubt}>{visible(doubt)}</li>)}</ul></div>}
			<Figures values={figures(model)} />
			{!calibration && <Empty command="sluice model calibrate">This command measures real accesses and says how accurate the predictions are:</Empty>}
			<div class="plots">
				<div>
					<ScatterChart pairs={model.pairs} factor={calibration?.factor ?? null} name={`model-${model.name}`}
						interval={visible(model.claim)}
						about={calibration ? 'Accesses of the real library. Those that are held out were measured later and did not influence the model.'
							: 'The benchmarks that the model was learned from, so this is no test of it.'} />
					{model.pairs.length < model.pair_count && <p class="more">{`Every ${Math.ceil(model.pair_count / model.pairs.length)}th of ${formatCount(model.pair_count)} measurements is shown.`}</p>}
				</div>
				<div id="costs">
					<h3>Cost of operations</h3>
					<p class="about">How well the cost of each elemental operation was learned, by measurements that the method had not seen.</p>
					<Table name="Costs" rows={model.operations} columns={costColumns} rowKey={(row) => row.operation} />
				</div>
			</div>
		</>
	);
}
