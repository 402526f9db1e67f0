// SPDX-License-Identifier: BSD-3-Clause
// All runs of the user: search, sort, tag, and select two to compare.
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatDate, formatTime, known } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { changePlace, navigate, usePlace } from '../lib/location';
import { preferences } from '../lib/preferences';
import { routePath } from '../lib/route';
import { useStore } from '../lib/store';
import { shorten, visible } from '../lib/text';
import { useTitle } from '../lib/title';
import type { About, RunRow, Runs } from '../lib/types';
import { Link } from '../parts/link';
import { Pager } from '../parts/pager';
import { Empty, Failure, Loading } from '../parts/states';
import { TagEditor } from '../parts/tags';

const TYPING_MS = 150, COMMAND_LETTERS = 80;

interface Title {
	title: string;
	sort: string | null; /* the server's name of the order; null: rows cannot be sorted by it */
	isNumber?: boolean;
}

const TITLES: Title[] = [
	{ title: 'program', sort: null },
	{ title: 'command', sort: 'command' },
	{ title: 'started (UTC)', sort: 'started' },
	{ title: 'duration', sort: 'duration', isNumber: true },
	{ title: 'calls', sort: 'calls', isNumber: true },
	{ title: 'ranks', sort: null, isNumber: true },
	{ title: 'trace', sort: 'size', isNumber: true },
	{ title: 'host', sort: null },
	{ title: 'exit', sort: null, isNumber: true },
	{ title: 'tags and state', sort: null },
];

/* What these columns show of the runs of a site. */
const SITE_TITLES: Record<string, string> = { trace: 'moved', host: 'user', 'tags and state': 'state' };

export function RunsPage({ about }: { about: About | null }) {
	const canCompare = about?.pages.includes('compare') ?? false, isSite = about?.is_site ?? false;
	const { search } = usePlace();
	const query = new URLSearchParams(search);
	const { rows: limit } = useStore(preferences);
	const offset = Math.max(0, Math.floor(Number(query.get('offset')) || 0));
	const wanted = new URLSearchParams({ limit: String(limit), offset: String(offset) });

	useTitle('Runs');
	for (const name of ['search', 'tag', 'sort', 'order']) {
		const value = query.get(name);

		if (value)
			wanted.set(name, value);
	}
	const { data, error } = useApi<Runs>(`/runs?${wanted}`);
	const selected = query.getAll('select').slice(0, 2);

	return (
		<>
			<h1 class="page-title">Runs</h1>
			<div class="tools">
				<SearchBox value={query.get('search') ?? ''} search={search} />
				{data && <output>{`${formatCount(data.total)} run${data.total === 1 ? '' : 's'}`}{!isSite && <> in <code>{visible(data.directory)}</code></>}</output>}
				<TagFilter tag={query.get('tag')} search={search} />
				{canCompare && <CompareButton selected={selected} search={search} />}
			</div>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && data.total === 0 && (query.get('search') || query.get('tag')
				? <Empty>No run matches. The search looks for words in commands, programs, hosts, users, ids and tags.</Empty>
				: <Empty command="sluice run -- PROGRAM">There are no runs yet. This command records one:</Empty>)}
			{data && data.total > 0 && <>
				<RunTable rows={data.runs} selected={selected} search={search} canCompare={canCompare} isSite={isSite} />
				{data.total > limit && <Pager offset={offset} limit={limit} total={data.total} noun="runs" search={search} />}
			</>}
		</>
	);
}

function TagFilter({ tag, search }: { tag: string | null; search: string }) {
	if (!tag)
		return null;
	return <ul class="chosen" aria-label="Filters in use"><li><button type="button" aria-label={`Remove the filter: tag ${visible(tag)}`}
		onClick={() => changePlace(changeQuery(search, { tag: null, offset: null }))}>tag: {shorten(tag, COMMAND_LETTERS)} <span aria-hidden="true">×</span></button></li></ul>;
}

/* The list follows the typing; the history gets one entry. */
function SearchBox({ value, search }: { value: string; search: string }) {
	const [text, setText] = useState(value);

	useEffect(() => setText(value), [value]);
	useEffect(() => {
		const timer = text === value ? 0 : window.setTimeout(() => changePlace(changeQuery(search, { search: text, offset: null }), 'step'), TYPING_MS);

		return () => clearTimeout(timer);
	}, [text]);
	return <input type="search" placeholder="Search runs …" aria-label="Search runs" value={text} onInput={(event) => setText(event.currentTarget.value)} />;
}

function withSelection(search: string, selected: readonly string[]): string {
	const query = new URLSearchParams(search);

	query.delete('select');
	selected.forEach((id) => query.append('select', id));
	return query.toString() && `?${query}`;
}

function CompareButton({ selected, search }: { selected: readonly string[]; search: string }) {
	const hint = selected.length === 1 ? 'Select one more run to compare.' : 'Select two runs to compare them.';

	return (
		<span class="compare-tools">
			{selected.length < 2 ? <span class="d">{hint}</span> : null}
			{selected.length > 0 && <button type="button" onClick={() => changePlace(withSelection(search, []))}>Clear selection</button>}
			<button type="button" disabled={selected.length < 2} onClick={() => navigate(`/compare?${new URLSearchParams({ base: selected[0], with: selected[1] })}`)}>Compare</button>
		</span>
	);
}

interface RunTableProps {
	rows: readonly RunRow[];
	selected: readonly string[];
	search: string;
	canCompare: boolean;
	isSite: boolean; /* its runs have an owner and moved bytes instead of a trace */
}

function RunTable({ rows, selected, search, canCompare, isSite }: RunTableProps) {
	const query = new URLSearchParams(search);
	const sort = query.get('sort') ?? 'started', order = query.get('order') === 'asc' ? 'ascending' : 'descending';

	/* A new column starts with the largest or latest, texts with the first; the same one is reversed. */
	function sortBy(name: string): void {
		const isAscending = sort === name ? order === 'descending' : name === 'command';

		changePlace(changeQuery(search, { sort: name === 'started' ? null : name, order: isAscending ? 'asc' : null, offset: null }));
	}

	function toggle(id: string): void {
		const others = selected.filter((other) => other !== id);

		changePlace(withSelection(search, others.length < selected.length ? others : [...others.slice(-1), id]));
	}

	return (
		<div class="scroll tall" tabIndex={0} role="region" aria-label="Runs">
			<table class="runs">
				<thead><tr>
					{canCompare && <th scope="col"><span class="hidden">compare</span></th>}
					{TITLES.map(({ title, sort: name, isNumber }) => (
						<th key={title} scope="col" class={isNumber ? 'n' : ''} aria-sort={name === sort ? order : undefined}>
							{name ? <button type="button" onClick={() => sortBy(name)}>{isSite ? SITE_TITLES[title] ?? title : title}</button> : isSite ? SITE_TITLES[title] ?? title : title}
						</th>
					))}
				</tr></thead>
				<tbody>{rows.map((row) => (
					<tr key={row.id} class={selected.includes(row.id) ? 'selected' : ''}>
						{canCompare && <td><input type="checkbox" aria-label={`Compare ${visible(row.program || row.name)} of ${known(row.started_ns, formatDate)}`}
							checked={selected.includes(row.id)} onChange={() => toggle(row.id)} /></td>}
						<th scope="row"><Link to={routePath({ page: 'run', id: row.id })}>{visible(row.program || row.name || row.id)}</Link></th>
						<td title={visible(row.command)}><code>{shorten(row.command ?? '', COMMAND_LETTERS)}</code></td>
						<td class="nowrap">{known(row.started_ns, formatDate)}</td>
						<td class="n">{known(row.duration_ns, formatTime)}</td>
						<td class="n">{known(row.activities, formatCount)}</td>
						<td class="n">{row.ranks ? formatCount(row.ranks) : ''}</td>
						<td class="n">{known(row.bytes, formatBytes)}</td>
						<td>{visible(isSite ? row.user : row.host)}</td>
						<td class={`n${row.exit_status ? ' bad' : ''}`}>{row.exit_status === null || row.exit_status < 0 ? '' : row.exit_status}</td>
						<td><RunState row={row} />{!isSite && <TagEditor id={row.id} name={`${visible(row.program || row.name)} of ${known(row.started_ns, formatDate)}`} tags={row.tags} />}</td>
					</tr>
				))}</tbody>
			</table>
		</div>
	);
}

function RunState({ row }: { row: RunRow }) {
	return (
		<>
			{row.state !== 'complete' && <span class={`chip ${row.state === 'unreadable' ? 'critical' : 'warning'}`} title={visible(row.error)}>{visible(row.state)}</span>}
			{[row.applied].flat().filter(Boolean).map((text) => <span key={text} class="chip info" title={visible(text)}>{shorten(text, 40)}</span>)}
		</>
	);
}
