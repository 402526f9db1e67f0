// SPDX-License-Identifier: BSD-3-Clause
// All runs of a tuning, or those that the filters leave.
import { formatCount, formatDate, formatTime } from '../lib/format';
import { visible } from '../lib/text';
import { formatCost, isBaseline, PHASE_NAMES } from '../lib/tuning';
import type { Objective, TuningRun } from '../lib/tuning_types';
import { Table, type Column } from '../parts/table';

const CHIPS: Record<TuningRun['state'], string> = { good: 'good', failed: 'critical', crashed: 'critical', slow: 'warning', wrong: 'critical', unseen: 'warning' };

function columns(objective: Objective | null): Column<TuningRun>[] {
	return [
		{ title: 'run', value: (row) => row.number },
		{ title: 'phase', value: (row) => PHASE_NAMES[row.phase] },
		{ title: 'state', value: (row) => row.state, show: (row) => <span class={`chip ${CHIPS[row.state]}`}>{row.state}</span> },
		{ title: 'cost', value: (row) => row.phase === 'unrecorded' ? null : row.cost, show: (row) => row.phase === 'unrecorded' ? '–' : formatCost(objective, row.cost), isNumber: true, help: 'the objective; lower times and higher rates are better' },
		{ title: 'run time', value: (row) => row.run_s, show: (row) => formatTime(row.run_s * 1e9), isNumber: true },
		{ title: 'parameters', value: (row) => row.parameters, show: (row) => isBaseline(row) || !row.parameters ? <span class="d">none</span> : <code>{visible(row.parameters)}</code> },
		{ title: 'data', value: (row) => row.compared ?? row.reason, show: (row) => visible(row.reason ?? row.compared), help: 'how the data was compared, or why the run failed' },
		{ title: 'other load', value: (row) => row.foreign, show: (row) => row.foreign === null ? '' : `${Math.round(100 * row.foreign)}%`, isNumber: true, help: 'share of the processors that other processes used' },
		{ title: 'started (UTC)', value: (row) => row.begun_ns, show: (row) => <span class="nowrap">{formatDate(row.begun_ns)}</span> },
	];
}

export function TrialTable({ runs, all, objective, name }: { runs: readonly TuningRun[]; all: number; objective: Objective | null; name: string }) {
	return (
		<section id="trials">
			<h2>Runs</h2>
			{runs.length < all && <p class="about">{`${formatCount(runs.length)} of ${formatCount(all)} runs are in the ranges that are selected in the chart of trials.`}</p>}
			<Table name={`${name} runs`} rows={runs} columns={columns(objective)} rowKey={(row) => String(row.number)} first={{ column: 0, order: 'descending' }} />
		</section>
	);
}
