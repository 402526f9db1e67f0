// SPDX-License-Identifier: BSD-3-Clause
// The changes of a program, and what changed at each: between the last run before it and the first run after it.
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatDate, known } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace } from '../lib/location';
import type { Changes, Condition, Program, ProgramEvent } from '../lib/program_types';
import { compareFindings, compareParameters, eventDirection, shiftText } from '../lib/program_view';
import { routePath } from '../lib/route';
import { visible } from '../lib/text';
import type { ComparedRow, Comparison, Finding, Report } from '../lib/types';
import { Link } from '../parts/link';
import { Failure, Loading } from '../parts/states';
import { difference } from './metrics';

const HEADINGS = { worse: 'Regression', better: 'Improvement', other: 'Change' };
const SEVERITIES = { worse: 'critical', better: 'good', other: 'info' };

export function ProgramChanges({ program, events, search }: { program: Program; events: readonly ProgramEvent[]; search: string }) {
	const newest = [...events].reverse(), open = new URLSearchParams(search).get('change') ?? newest[0]?.after_run;

	return (
		<section id="changes">
			<h2>Changes</h2>
			{newest.length === 0 && program.verdict === 'steady' && <p class="good-news">No measure of these runs changed its level beyond the noise.</p>}
			{newest.length === 0 && program.verdict === 'too few runs' && <p class="about">{`A change needs at least ${program.least_runs} comparable runs before and ${program.least_runs} after it.`}</p>}
			{newest.length === 0 && program.verdict === 'not comparable' && <p class="about">Runs that are not comparable are not tested for changes.</p>}
			{newest.map((event) => <EventCard key={event.after_run} event={event} isOpen={event.after_run === open} search={search} />)}
		</section>
	);
}

function EventCard({ event, isOpen, search }: { event: ProgramEvent; isOpen: boolean; search: string }) {
	const direction = eventDirection(event);
	const compare = `/compare?${new URLSearchParams({ base: event.before_run, with: event.after_run })}`;

	return (
		<article class={`finding ${SEVERITIES[direction]}`}>
			<div class="finding-head">
				<span class={`chip ${SEVERITIES[direction]}`}>{HEADINGS[direction].toLowerCase()}</span>
				<h3>{`Since ${formatDate(event.started_ns)} UTC`}</h3>
			</div>
			<ul class="shifts">{event.shifts.map((shift) => (
				<li key={shift.measure} class={shift.direction}>{`${shiftText(shift)} `}
					<span class="d">{`${shift.verdict === 'exact' ? 'the same in all' : 'beyond noise, of'} ${shift.runs_before} runs before and ${shift.runs_after} since`}</span></li>
			))}</ul>
			<p class="about">
				<Link to={routePath({ page: 'run', id: event.before_run })}>Last run before</Link>{' · '}
				<Link to={routePath({ page: 'run', id: event.after_run })}>First run after</Link>{' · '}
				<Link to={compare}>Compare both in detail</Link>
			</p>
			{isOpen ? <WhatChanged event={event} />
				: <button type="button" onClick={() => changePlace(changeQuery(search, { change: event.after_run }))}>What changed?</button>}
		</article>
	);
}

function WhatChanged({ event }: { event: ProgramEvent }) {
	const pair = new URLSearchParams({ base: event.before_run, with: event.after_run });
	const changes = useApi<Changes>(`/changes?${pair}`, { isFixed: true });
	const before = useApi<Report>(`/runs/${encodeURIComponent(event.before_run)}`, { isFixed: true });
	const after = useApi<Report>(`/runs/${encodeURIComponent(event.after_run)}`, { isFixed: true });
	const calls = useApi<Comparison>(`/compare?${pair}`, { isFixed: true });
	const error = changes.error ?? before.error ?? after.error ?? calls.error;

	if (error)
		return <Failure text={error} />;
	if (!changes.data || !before.data || !after.data || !calls.data)
		return <Loading />;
	const conditions = [...changes.data.conditions, ...compareParameters(before.data.parameters, after.data.parameters)];
	const findings = compareFindings(before.data.findings, after.data.findings);
	return (
		<>
			<p class="label">What changed between the two runs</p>
			<Conditions rows={conditions} isDescribed={changes.data.described} />
			<FindingChanges {...findings} />
			<Layers rows={calls.data.layers} />
		</>
	);
}

/* Ids of builds are long; what matters is that they differ. */
const conditionText = (value: string | null) => value === null ? <span class="d">not set</span> : value === '' ? <span class="d">none</span> : <code>{visible(value)}</code>;

function Conditions({ rows, isDescribed }: { rows: readonly Condition[]; isDescribed: boolean }) {
	return (
		<>
			{rows.length === 0 && <p>Nothing that the traces know of the program, its arguments, parameters, environment, machine and file system.</p>}
			{rows.length > 0 && <div class="scroll" tabIndex={0} role="region" aria-label="What changed"><table class="conditions">
				<thead><tr><th scope="col">what</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
				<tbody>{rows.map((row) => (
					<tr key={`${row.kind} ${row.name}`}><th scope="row">{visible(row.name)} <span class="d">{visible(row.kind)}</span></th>
						<td>{conditionText(row.before)}</td><td>{conditionText(row.after)}</td></tr>
				))}</tbody>
			</table></div>}
			{!isDescribed && <p class="about">One of the traces is of an earlier version of Sluice, which did not note the build of the program and its environment.</p>}
		</>
	);
}

function FindingChanges({ appeared, vanished }: { appeared: Finding[]; vanished: Finding[] }) {
	if (!appeared.length && !vanished.length)
		return null;
	return (
		<ul class="shifts">
			{appeared.map((finding) => <li key={finding.code} class="worse">New finding: {visible(finding.title)} <code>{visible(finding.code)}</code></li>)}
			{vanished.map((finding) => <li key={finding.code} class="better">No longer found: {visible(finding.title)} <code>{visible(finding.code)}</code></li>)}
		</ul>
	);
}

const LAYER_METRICS = [
	{ name: 'calls', title: 'calls', format: formatCount },
	{ name: 'bytes_read', title: 'read', format: formatBytes },
	{ name: 'bytes_written', title: 'written', format: formatBytes },
];

/* Changed counts are bold; times of two single runs say nothing. */
function Layers({ rows }: { rows: readonly ComparedRow[] }) {
	const cell = (row: ComparedRow, metric: typeof LAYER_METRICS[number], side: 'a' | 'b') => {
		const found = difference(row, metric.name), text = known(found?.[side] ?? null, metric.format);

		return <td key={metric.name + side} class="n">{found && found.a !== found.b && side === 'b' ? <strong>{text}</strong> : text}</td>;
	};

	if (!rows.length)
		return null;
	return (
		<div class="scroll" tabIndex={0} role="region" aria-label="Calls and bytes by layer"><table>
			<thead><tr><th scope="col">layer</th>{LAYER_METRICS.flatMap(({ title }) => [
				<th key={`${title} before`} scope="col" class="n">{title} before</th>, <th key={`${title} after`} scope="col" class="n">after</th>,
			])}</tr></thead>
			<tbody>{rows.map((row) => (
				<tr key={row.name}><th scope="row">{visible(row.name)}</th>{LAYER_METRICS.flatMap((metric) => [cell(row, metric, 'a'), cell(row, metric, 'b')])}</tr>
			))}</tbody>
		</table></div>
	);
}
