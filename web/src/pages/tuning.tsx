// SPDX-License-Identifier: BSD-3-Clause
// One tuning: its verdict, its course while it runs, and what its parameters contribute.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { HistoryChart } from '../charts/history';
import { ImportanceChart } from '../charts/importance';
import { ParallelChart } from '../charts/parallel';
import { request, useApi, useEvents } from '../lib/api';
import { changeQuery } from '../lib/filter';
import { formatDate, plural } from '../lib/format';
import { changePlace, usePlace } from '../lib/location';
import { visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { hasBrush, isLeft, mergeRuns, parseBrushes, rangeText, type Range } from '../lib/tuning';
import type { Gain, Outcome, Tuning, TuningRun, TuningStatus } from '../lib/tuning_types';
import { Link } from '../parts/link';
import { Failure, Loading } from '../parts/states';
import { TuningControls } from './tuning_controls';
import { Contributions, TuningFigures, TuningVerdict } from './tuning_result';
import { StateChip } from './tuning_state';
import { TrialTable } from './tuning_trials';

/* The result is computed again after so many runs: that takes a moment of the machine that the tuning measures. */
const RUNS_BETWEEN = 5;

export function TuningPage({ id }: { id: string }) {
	const { data, error } = useApi<Tuning>(`/tunings/${encodeURIComponent(id)}`);

	useTitle(data ? `Tuning ${data.id}: ${visible(data.program)}` : `Tuning ${visible(id)}`);
	return (
		<>
			<p class="back"><Link to="/tunings">← All tunings</Link></p>
			{error && <><h1 class="page-title">Tuning</h1><Failure text={error} /></>}
			{!data && !error && <><h1 class="page-title">{`Tuning ${visible(id)}`}</h1><Loading /></>}
			{data && <LiveTuning first={data} />}
		</>
	);
}

/* What the server has sent at first, and what it has sent since. */
function useLive(first: Tuning): { tuning: Tuning; setStatus: (status: TuningStatus) => void } {
	const [runs, setRuns] = useState<TuningRun[]>(first.runs);
	const [status, setStatus] = useState<TuningStatus & Partial<Gain>>(first);
	const last = first.runs[first.runs.length - 1]?.number ?? 0;

	useEvents(first.state === 'finished' ? null : `/tunings/${first.id}/events?after=${last}`, {
		runs: (data) => setRuns((known) => mergeRuns(known, (data as { runs: TuningRun[] }).runs)),
		status: (data) => setStatus(data as TuningStatus & Gain),
	});
	const tuning = useMemo(() => ({ ...first, ...status, runs }), [first, status, runs]);
	return { tuning, setStatus };
}

/* The words of the tuner: for every state, and from time to time while it runs. */
function useOutcome({ id, state, runs }: Tuning): { outcome: Outcome | null; error: string | null } {
	const [answer, setAnswer] = useState<{ outcome: Outcome | null; error: string | null }>({ outcome: null, error: null });
	const step = state === 'running' ? Math.floor(runs.length / RUNS_BETWEEN) : runs.length;

	useEffect(() => {
		const abort = new AbortController();

		request<Outcome>(`/tunings/${id}/outcome`, { signal: abort.signal }).then(
			(outcome) => setAnswer({ outcome, error: null }),
			(error: unknown) => abort.signal.aborted || setAnswer({ outcome: null, error: error instanceof Error ? error.message : String(error) }));
		return () => abort.abort();
	}, [id, state, step]);
	return answer;
}

function LiveTuning({ first }: { first: Tuning }) {
	const { tuning, setStatus } = useLive(first);
	const { outcome, error } = useOutcome(tuning);
	const { search } = usePlace();
	const brushes = useMemo(() => parseBrushes(search, tuning.space), [search, tuning.space]);
	const [chosen, setChosen] = useState<number | null>(null);
	const { runs, objective } = tuning, name = `tuning-${tuning.id}`;
	const left = hasBrush(brushes) ? runs.filter((run) => isLeft(run, brushes)) : runs;

	function brush(axis: number | null, range: Range | null): void {
		const names = axis === null ? [...tuning.space.map((_, i) => `d${i}`), 'cost'] : [axis < tuning.space.length ? `d${axis}` : 'cost'];

		changePlace(changeQuery(search, Object.fromEntries(names.map((key) => [key, range && rangeText(range)]))), axis === null ? 'choice' : 'step');
	}

	/* What was said about fewer runs must not stand beside the end. */
	const current = outcome && (tuning.state === 'running' || outcome.runs === runs.length) ? outcome : null;
	/* The tuner leaves out rows that repeat others. */
	const parts = current?.partial.filter(({ shown }) => shown) ?? [];
	return (
		<>
			<TuningHead tuning={tuning} />
			<TuningVerdict tuning={tuning} outcome={current} error={error} />
			<TuningControls tuning={tuning} onStatus={setStatus} />
			<TuningFigures tuning={tuning} outcome={current} error={error} />
			<section id="course">
				<h2>Course</h2>
				<div class="plots">
					<HistoryChart {...{ runs, objective, brushes, chosen, name }} onChoose={setChosen} />
					{tuning.space.length > 0 && <ParallelChart {...{ runs, objective, brushes, chosen, name }} space={tuning.space} onChoose={setChosen} onBrush={brush} />}
				</div>
			</section>
			{current && (current.importance || parts.length > 2) && <section id="parameters">
				<h2>What the parameters contribute</h2>
				<div class="plots">
					{current.importance && tuning.space.length > 1 && <ImportanceChart importance={current.importance} name={name} />}
					{parts.length > 2 && <Contributions rows={parts} objective={objective} />}
				</div>
			</section>}
			<TrialTable runs={left} all={runs.length} objective={objective} name={name} />
		</>
	);
}

function TuningHead({ tuning }: { tuning: Tuning }) {
	const facts = [
		`tuning ${tuning.id}`, `started ${formatDate(tuning.begun_ns)} UTC`,
		...tuning.ranks > 1 ? [plural(tuning.ranks, 'rank')] : [], ...tuning.search ? [`${tuning.search} search`] : [],
		...tuning.simulated ? ['simulated: no program was run'] : [], ...tuning.directory ? [`in ${tuning.directory}`] : [],
	];

	return (
		<header class="run-head">
			<h1>{visible(tuning.program)}</h1>
			<p class="command"><code>{visible(tuning.command)}</code></p>
			<p class="facts"><StateChip state={tuning.state} /> {visible(facts.join(', '))}</p>
		</header>
	);
}
