// SPDX-License-Identifier: BSD-3-Clause
// The result of a tuning in the words of the tuner, its most important figures, and how to apply it.
import { formatCount, formatShare } from '../lib/format';
import { visible } from '../lib/text';
import { formatCost, formatGain, isBaseline, PHASE_NAMES } from '../lib/tuning';
import type { Contribution, Objective, Outcome, Tuning } from '../lib/tuning_types';
import { Copy } from '../parts/copy';
import { Figures, type FigureValue } from '../parts/figures';
import { Link } from '../parts/link';
import { Failure } from '../parts/states';
import { Table, type Column } from '../parts/table';

/* While a tuning runs: where it is. The tuner's own words follow when they are computed. */
function progressText(tuning: Tuning): string {
	const last = tuning.runs[tuning.runs.length - 1];

	return `Run ${tuning.runs.length + 1} is under way${last ? `, in the phase ${PHASE_NAMES[last.phase]}` : ''}. The search takes at most ${formatCount(tuning.search_runs)} runs; then the best point is simplified and confirmed. Nothing is proven before that.`;
}

/* Only what has been proven may be called a gain. */
function isProven({ proof, complete }: Outcome): boolean {
	return proof.holds && complete;
}

function gainFigure(tuning: Tuning, outcome: Outcome): FigureValue {
	const { proof } = outcome;

	if (!isProven(outcome))
		return { name: 'Proven speedup', value: 'none', note: outcome.complete ? 'see the verdict' : 'not confirmed yet' };
	if (tuning.simulated)
		return { name: 'Modelled speedup', value: `${proof.gain?.toFixed(2)} ×`, note: 'no program was run' };
	return { name: 'Proven speedup', value: `${proof.gain?.toFixed(2)} ×`, note: `95 % interval ${proof.gain_low?.toFixed(2)} to ${proof.gain_high?.toFixed(2)}` };
}

function figures(tuning: Tuning, outcome: Outcome): FigureValue[] {
	const { proof } = outcome, proven = isProven(outcome), baselines = tuning.runs.filter(isBaseline).length;
	const median = tuning.simulated ? 'calculated' : `median of ${formatCount(proof.before_runs)} runs`;

	return [
		gainFigure(tuning, outcome),
		{ name: 'Baseline', value: formatCost(tuning.objective, proven ? proof.before : outcome.default_cost), note: proven ? median : 'estimate' },
		{ name: proven ? 'With parameters' : 'Best candidate', value: formatCost(tuning.objective, proven ? proof.after : outcome.best.cost), note: proven ? median : outcome.best.cost ? 'estimate, not proven' : 'none is better' },
		{ name: 'Runs', value: formatCount(tuning.runs.length), note: `${formatCount(baselines)} without parameters` },
		{ name: 'Points tried', value: formatCount(outcome.points_tried), note: outcome.points ? `of ${formatCount(outcome.points)}` : '' },
		...outcome.noise !== null && !tuning.simulated ? [{ name: 'Noise', value: formatShare(outcome.noise, 1), note: 'variation of equal runs' }] : [],
		...tuning.simulated ? [] : [{ name: 'Data', value: visible(outcome.data), note: visible(outcome.compared.split(': ').slice(1).join(': ').split(';')[0]) }],
	];
}

function Winner({ tuning, outcome }: { tuning: Tuning; outcome: Outcome }) {
	const parameters = Object.entries(outcome.best.parameters ?? {}), dropped = Object.entries(outcome.left_out), proven = isProven(outcome);

	if (!parameters.length)
		return null;
	return (
		<section id="winner">
			<h2>{!proven ? 'Best candidate, not proven' : tuning.simulated ? 'Best parameters of the model' : 'Parameters that make it faster'}</h2>
			<dl class="fields">{parameters.map(([name, value]) => <div key={name}><dt><code>{visible(name)}</code></dt><dd><code>{visible(value)}</code></dd></div>)}</dl>
			{dropped.length > 0 && <p class="more">{`Dropped because they have no effect: ${visible(dropped.map(([name, value]) => `${name}=${value}`).join(', '))}`}</p>}
			{outcome.apply && <>
				<p class="label apply">To apply them to the same program:</p>
				<Copy text={outcome.apply} />
			</>}
			{proven && outcome.entry !== null && <p class="more">Stored as <Link to={`/knowledge?entry=${outcome.entry}`}>{`entry ${outcome.entry}`}</Link> of the knowledge base.</p>}
		</section>
	);
}

interface Props {
	tuning: Tuning;
	outcome: Outcome | null; /* null: it is being computed */
	error: string | null;
}

export function TuningVerdict({ tuning, outcome, error }: Props) {
	const isRunning = tuning.state === 'running';

	return (
		<section id="verdict" aria-live="polite">
			{isRunning && <p class="verdict">{progressText(tuning)}</p>}
			{outcome && <p class={isRunning ? 'notes' : `verdict${isProven(outcome) && !tuning.simulated ? ' proven' : ''}`}>{visible(outcome.verdict)}</p>}
			{!outcome && !error && !isRunning && <p class="verdict d">The result is being computed from the runs …</p>}
			{error && <Failure text={error} />}
			{error && tuning.gain !== null && <p>{`The tuning has stored a proven speedup of ${formatGain(tuning)}.`}</p>}
		</section>
	);
}

export function TuningFigures({ tuning, outcome }: Props) {
	return outcome && <>
		<Figures values={figures(tuning, outcome)} />
		{tuning.state !== 'running' && <Winner tuning={tuning} outcome={outcome} />}
	</>;
}

function contributionColumns(objective: Objective | null): Column<Contribution>[] {
	return [
		{ title: 'parameters', value: (row) => row.label, show: (row) => visible(row.label) },
		{ title: 'cost', value: (row) => row.cost, show: (row) => formatCost(objective, row.cost), isNumber: true },
		{ title: 'speedup', value: (row) => row.factor, show: (row) => row.factor === null ? '–' : row.factor.toFixed(2), isNumber: true, help: 'over the baseline' },
		{
			title: 'share of gain', value: (row) => row.share, isNumber: true, help: 'in logarithms; rows "without": the share that is lost',
			show: (row) => row.share === null ? '–' : `${Math.round(100 * row.share)}%`,
		},
		{ title: 'remark', value: (row) => row.refusal, show: (row) => visible(row.refusal) },
	];
}

/* The ablation: each part of the winner alone, and the winner without each. */
export function Contributions({ rows, objective }: { rows: readonly Contribution[]; objective: Objective | null }) {
	const columns = contributionColumns(objective), shown = rows.some(({ refusal }) => refusal) ? columns : columns.slice(0, -1);

	return (
		<figure>
			<figcaption><h3>Contribution of each parameter</h3><p>One to three runs each: small differences are noise.</p></figcaption>
			<Table name="Contributions" rows={rows} columns={shown} rowKey={(row) => `${row.kind} ${row.label}`} />
		</figure>
	);
}
