// SPDX-License-Identifier: BSD-3-Clause
// One program over time: its trend, where it changed, and what changed there.
import { useCallback, useMemo } from 'preact/hooks';
import { TrendChart } from '../charts/trend';
import { useApi } from '../lib/api';
import { formatCount, formatDate, known, plural } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace, navigate, usePlace } from '../lib/location';
import { MEASURES, type Program, type ProgramGroup, type ProgramRun } from '../lib/program_types';
import { findWindow, MEASURE_TEXTS, shortBinary, usedMeasures, verdictSentence, type RunWindow } from '../lib/program_view';
import { routePath } from '../lib/route';
import { shorten, visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { Link } from '../parts/link';
import { Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { TagLinks } from '../parts/tags';
import { ProgramChanges } from './program_changes';

const GROUP_LETTERS = 60;

export function ProgramPage({ name }: { name: string }) {
	const { search } = usePlace();
	const query = new URLSearchParams(search), group = query.get('group');
	const { data, error } = useApi<Program>(`/programs/${encodeURIComponent(name)}${group ? `?${new URLSearchParams({ group })}` : ''}`);

	useTitle(visible(name));
	return (
		<>
			<header class="run-head">
				<h1>{visible(name)}</h1>
				<p class="facts">{data ? `${plural(data.total, 'run')} in ${plural(data.groups.length, 'group')} of comparable runs` : ' '}</p>
			</header>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && <Trend program={data} search={search} />}
		</>
	);
}

function Trend({ program, search }: { program: Program; search: string }) {
	const query = new URLSearchParams(search), { runs } = program;
	const first = query.get('first'), last = query.get('last');
	const shown = useMemo(() => findWindow(runs, first, last), [runs, first, last]);
	const onShow = useCallback((wanted: RunWindow, kind: 'step' | 'choice') => {
		changePlace(changeQuery(location.search, {
			first: wanted.from > 0 ? runs[wanted.from].id : null,
			last: wanted.to < runs.length ? runs[wanted.to - 1].id : null,
		}), kind);
	}, [runs]);
	const inWindow = useMemo(() => runs.slice(shown.from, shown.to), [runs, shown]);
	const isInWindow = (id: string) => inWindow.some((run) => run.id === id);

	return (
		<>
			<section id="verdict"><p class={`verdict ${program.verdict}`}>{verdictSentence(program)}</p></section>
			<section id="trend">
				<h2>Trend</h2>
				<p class="about">Each mark is a run; a click opens it. Drag over a chart to show only some of the runs. Hollow marks are runs that
					failed or are incomplete. A triangle below the axis marks a new build of the program.</p>
				<div class="controls">
					<GroupChoice program={program} search={search} />
					<WindowBar shown={shown} runs={runs} onShow={onShow} />
				</div>
				<div class="plots">{usedMeasures(runs).map((measure) => (
					<TrendChart key={measure} program={program.name} runs={runs} events={program.events} measure={measure} shown={shown} onShow={onShow}
						onOpen={(run) => navigate(routePath({ page: 'run', id: run.id }))} />
				))}</div>
			</section>
			<ProgramChanges program={program} events={program.events.filter((event) => isInWindow(event.after_run))} search={search} />
			<RunsTable program={program} runs={inWindow} />
		</>
	);
}

function groupText(program: string, { arguments: words, ranks, filesystem, platform, runs, verdict }: ProgramGroup): string {
	return [
		shorten(`${program} ${words}`, GROUP_LETTERS), ranks > 0 && plural(ranks, 'rank'), visible(filesystem), visible(platform),
		plural(runs, 'run'), verdict === 'regression' && 'regression',
	].filter(Boolean).join(' · ');
}

function GroupChoice({ program, search }: { program: Program; search: string }) {
	return (
		<div class="filters">
			<label>Comparable runs
				<select class="groups" value={program.group} onChange={(event) => changePlace(changeQuery(search, { group: event.currentTarget.value, first: null, last: null, change: null }))}>
					{program.groups.map((group) => <option key={group.id} value={group.id}>{groupText(program.name, group)}</option>)}
					{!program.groups.some(({ id }) => id === program.group) && program.group !== 'all' && <option value={program.group}>{`group ${program.group}`}</option>}
					<option value="all">{`all ${plural(program.total, 'run')}, without comparison`}</option>
				</select>
			</label>
		</div>
	);
}

function WindowBar({ shown, runs, onShow }: { shown: RunWindow; runs: readonly ProgramRun[]; onShow: (shown: RunWindow, kind: 'choice') => void }) {
	const isWhole = shown.from === 0 && shown.to === runs.length;

	return (
		<div class="range" role="toolbar" aria-label="Runs that are shown">
			<output>{isWhole ? `All ${plural(runs.length, 'run')}` : `Runs ${formatCount(shown.from + 1)} to ${formatCount(shown.to)} of ${formatCount(runs.length)}`}</output>
			<button type="button" title="Show all runs (Escape)" disabled={isWhole} onClick={() => onShow({ from: 0, to: runs.length }, 'choice')}>All runs</button>
		</div>
	);
}

const runColumns: Column<ProgramRun>[] = [
	{ title: 'started (UTC)', value: (run) => run.started_ns, show: (run) => <Link to={routePath({ page: 'run', id: run.id })} class="nowrap">{formatDate(run.started_ns)}</Link> },
	...MEASURES.map((measure): Column<ProgramRun> => ({
		title: MEASURE_TEXTS[measure].title, value: (run) => run[measure], show: (run) => known(run[measure], MEASURE_TEXTS[measure].format), isNumber: true,
	})),
	{ title: 'ranks', value: (run) => run.ranks || null, show: (run) => run.ranks ? formatCount(run.ranks) : '', isNumber: true },
	{ title: 'build', value: (run) => run.binary, show: (run) => <code title={visible(run.binary)}>{visible(shortBinary(run.binary))}</code> },
	{ title: 'exit', value: (run) => run.exit_status, show: (run) => run.exit_status >= 0 ? run.exit_status : '', isNumber: true },
	{
		title: 'tags and state', value: (run) => [...run.tags, run.state].join(' '),
		show: (run) => <><TagLinks tags={run.tags} />{run.state !== 'complete' && <span class="chip warning">{visible(run.state)}</span>}</>,
	},
];

function RunsTable({ program, runs }: { program: Program; runs: readonly ProgramRun[] }) {
	const columns = runs.some(({ ranks }) => ranks > 0) ? runColumns : runColumns.filter(({ title }) => title !== 'ranks');

	return (
		<section id="runs">
			<h2>Runs</h2>
			<Table name="Runs" rows={runs} columns={columns} rowKey={(run) => run.id} first={{ column: 0, order: 'descending' }} />
			{program.left_out > 0 && <p class="more">{`${formatCount(program.left_out)} earlier runs are not shown.`}</p>}
		</section>
	);
}
