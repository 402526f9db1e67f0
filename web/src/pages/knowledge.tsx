// SPDX-License-Identifier: BSD-3-Clause
// The knowledge base: the best parameters of each program, as tunings have proven them.
import { useApi } from '../lib/api';
import { changeQuery } from '../lib/filter';
import { formatCount, formatDate, known, plural } from '../lib/format';
import { usePlace } from '../lib/location';
import { routePath } from '../lib/route';
import { shorten, visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { comparedWord, COST_TITLES, formatCost, formatGain } from '../lib/tuning';
import type { Entry, Knowledge, UsedRange } from '../lib/tuning_types';
import { Copy } from '../parts/copy';
import { Link } from '../parts/link';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';

const TEXT_LETTERS = 60;

/* An entry without parameters says that a tuning found nothing better. */
function hasParameters(entry: Entry): boolean {
	return entry.parameters === null || entry.parameters.length > 0;
}

/* What a simulated platform says is calculated, not proven. */
function isModelled(entry: Entry): boolean {
	return entry.platform.startsWith('simulated:');
}

function EntryGain({ entry }: { entry: Entry }) {
	if (!hasParameters(entry))
		return <span class="d">nothing better found</span>;
	return isModelled(entry) ? <span class="d">{`${formatGain(entry)} in the model`}</span> : <strong class="proven">{formatGain(entry)}</strong>;
}

function verdictText(entry: Entry): string {
	const { gain, gain_low, gain_high, objective } = entry;
	const interval = isModelled(entry) ? '' : ` (95 % interval ${known(gain_low, (value) => value.toFixed(2))} to ${known(gain_high, (value) => value.toFixed(2))})`;

	return `${known(gain, (value) => value.toFixed(2))} times faster${interval}: ${COST_TITLES[objective] ?? objective} ${formatCost(objective, entry.before)} → ${formatCost(objective, entry.after)}${isModelled(entry) ? ' (modelled; no program was run)' : ''}`;
}

/* It was slower than the default, and nobody insists on it. */
function isDemoted(entry: Entry): boolean {
	return entry.demoted_ns > 0 && !entry.pinned;
}

function Marks({ entry }: { entry: Entry }) {
	return <>
		{entry.pinned && <span class="chip info" title="Later tunings do not replace it, and slow runs do not demote it.">pinned</span>}
		{isDemoted(entry) && <span class="chip warning" title={visible(entry.demoted_why)}>demoted</span>}
	</>;
}

function columns(search: string): Column<Entry>[] {
	return [
		{
			title: 'program', value: (row) => row.program,
			show: (row) => <><Link to={`/knowledge${changeQuery(search, { entry: String(row.id) })}`}>{visible(row.program)}</Link> <Marks entry={row} /></>,
		},
		{
			title: 'proven speedup', value: (row) => hasParameters(row) ? row.gain : null, isNumber: true, help: 'with its 95 % interval',
			show: (row) => <EntryGain entry={row} />,
		},
		{ title: 'arguments', value: (row) => row.arguments, show: (row) => <code title={visible(row.arguments)}>{shorten(row.arguments, TEXT_LETTERS)}</code> },
		{ title: 'ranks', value: (row) => row.ranks, show: (row) => row.ranks ? formatCount(row.ranks) : 'unknown', isNumber: true },
		{ title: 'storage', value: (row) => row.filesystem, show: (row) => visible(row.filesystem) },
		{ title: 'data', value: (row) => hasParameters(row) ? comparedWord(row.compared) : null, show: (row) => hasParameters(row) ? <span title={visible(row.compared)}>{visible(comparedWord(row.compared))}</span> : '', help: 'how the data was compared with that of the baseline' },
		{ title: 'applied', value: (row) => row.used.with.runs, show: (row) => row.used.with.runs ? plural(row.used.with.runs, 'run') : '', isNumber: true, help: 'runs with these parameters' },
		{ title: 'parameters', value: (row) => row.parameter_line, show: (row) => hasParameters(row) ? <code title={visible(row.parameter_line)}>{shorten(row.parameter_line, TEXT_LETTERS)}</code> : '' },
		{ title: 'id', value: (row) => row.id, isNumber: true, help: "as 'sluice kb list' shows it" },
	];
}

export function KnowledgePage() {
	const { search } = usePlace(), wanted = new URLSearchParams(search).get('entry');
	const { data, error } = useApi<Knowledge>('/knowledge');
	const chosen = data?.entries.find(({ id }) => String(id) === wanted);

	useTitle(chosen ? `Entry ${chosen.id}: ${visible(chosen.program)}` : 'Knowledge base');
	return (
		<>
			<h1 class="page-title">Knowledge base</h1>
			<p class="about">The best parameters of each program, as tunings have proven them. <code>sluice run --tune=apply</code> applies the entry that fits a run.</p>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data?.entries.length === 0 && <Empty command="sluice tune -- PROGRAM">The knowledge base is empty. A tuning adds what it has proven:</Empty>}
			{wanted !== null && data && !chosen && <Failure text={`There is no entry ${wanted}; it may have been deleted.`} />}
			{chosen && data && <EntryDetails entry={chosen} kept={data.runs_kept} search={search} />}
			{data && data.entries.length > 0 && <section id="entries">
				<h2 class={chosen ? '' : 'hidden'}>All entries</h2>
				<Table name="Knowledge base" rows={data.entries} columns={columns(search)} rowKey={(row) => String(row.id)} isInAddress />
			</section>}
		</>
	);
}

function describeUse({ runs, failed, low, high }: UsedRange, entry: Entry, kept: number): string {
	if (!runs)
		return 'none';
	const costs = failed ? `${formatCost(entry.objective, low)} or failed` : `${formatCost(entry.objective, low)} to ${formatCost(entry.objective, high)}`;

	return `${plural(runs, 'run')}${runs >= kept ? ' (only the latest are kept)' : ''}: ${costs}`;
}

function EntryDetails({ entry, kept, search }: { entry: Entry; kept: number; search: string }) {
	const fields: [string, string][] = [
		['arguments', entry.arguments || 'none'], ['ranks', entry.ranks ? formatCount(entry.ranks) : 'unknown'],
		['storage', `${entry.filesystem}, platform ${entry.platform}`],
		['code', entry.fingerprint || 'unknown version'],
		['runs with it', hasParameters(entry) ? describeUse(entry.used.with, entry, kept) : 'none'],
		['runs without it', describeUse(entry.used.without, entry, kept)],
		...hasParameters(entry) ? [['data', entry.compared ?? 'unknown'] as [string, string]] : [],
		...entry.conditions ? [['valid only if', entry.conditions] as [string, string]] : [],
	];

	return (
		<section id="entry" class="panel">
			<h2>{visible(entry.program)} <Marks entry={entry} /></h2>
			<p class={`verdict${hasParameters(entry) && !isModelled(entry) ? ' proven' : ''}`}>{hasParameters(entry) ? visible(verdictText(entry)) : 'A tuning found nothing better than the default.'}</p>
			{isDemoted(entry) && <div class="incomplete"><p>{`It has not been applied since ${formatDate(entry.demoted_ns)} UTC: ${visible(entry.demoted_why)}. This command enables it again:`}</p><Copy text={`sluice kb pin ${entry.id}`} /></div>}
			<dl class="fields">
				<div><dt>found</dt><dd>{`${formatDate(entry.found_ns)} UTC`}{entry.study && <> by <Link to={routePath({ page: 'tuning', id: entry.study })}>{`tuning ${visible(entry.study)}`}</Link></>}</dd></div>
				{fields.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{visible(value)}</dd></div>)}
			</dl>
			{hasParameters(entry) && <>
				<h3>Parameters</h3>
				{entry.parameters ? <dl class="fields">{entry.parameters.map(({ name, value, file, object }) => (
					<div key={`${name} ${file} ${object}`}><dt><code>{visible(name)}</code></dt><dd><code>{visible(value)}</code>{visible(`${file ? ` for ${file}` : ''}${object ? `, ${object}` : ''}`)}</dd></div>
				))}</dl> : <Failure text="The parameters of this entry are invalid." />}
				<p class="label apply">To use them for another program:</p>
				<Copy text={`sluice kb export ${entry.id} --format json > params.json\nsluice run --params params.json -- PROGRAM`} />
			</>}
			<p class="more"><Link to={`/knowledge${changeQuery(search, { entry: null })}`} keepScroll>Close</Link></p>
		</section>
	);
}
