// SPDX-License-Identifier: BSD-3-Clause
// The head of all pages of a run: what ran, and the tabs.
import type { ComponentChildren } from 'preact';
import { formatCount, formatDate, formatTime, plural } from '../lib/format';
import { changeQuery } from '../lib/filter';
import { routePath, type Route } from '../lib/route';
import { visible } from '../lib/text';
import { useTitle } from '../lib/title';
import type { RunRow } from '../lib/types';
import { Link } from '../parts/link';
import { TagEditor } from '../parts/tags';

type RunPage = 'run' | 'window' | 'execution' | 'activities';

const TABS: { page: RunPage; title: string }[] = [
	{ page: 'run', title: 'Report' },
	{ page: 'window', title: 'Time frame' },
	{ page: 'execution', title: 'Execution' },
	{ page: 'activities', title: 'Activities' },
];

interface Props {
	id: string;
	row: RunRow | null;
	page: RunPage;
	search: string;
	children: ComponentChildren;
}

function facts(row: RunRow): string {
	return [
		row.started_ns !== null && `${formatDate(row.started_ns)} UTC`,
		row.host && `on ${visible(row.host)}`,
		row.user && `by ${visible(row.user)}`,
		row.duration_ns !== null && `ran ${formatTime(row.duration_ns)}`,
		row.ranks ? plural(row.ranks, 'rank') : row.processes !== null && plural(row.processes, 'process', 'processes'),
		row.activities !== null && `${formatCount(row.activities)} calls`,
		row.exit_status !== null && row.exit_status >= 0 && `exit code ${row.exit_status}`,
	].filter(Boolean).join(' · ');
}

export function RunFrame({ id, row, page, search, children }: Props) {
	const title = visible(row?.program || row?.name || id);

	useTitle(`${title} – ${TABS.find((tab) => tab.page === page)?.title ?? ''}`);
	return (
		<>
			<header class="run-head">
				<h1>{title}</h1>
				<p class="command"><code>{visible(row?.command)}</code></p>
				<p class="facts">{row ? facts(row) : ' '}{row && row.state !== 'complete' && <span class="chip warning">{visible(row.state)}</span>}</p>
				<div class="facts">{row && <TagEditor id={id} name="this run" tags={row.tags} />}
					{row?.program && <>{' · '}<Link to={routePath({ page: 'program', name: row.program })}>All runs of {visible(row.program)}</Link></>}</div>
				<nav class="tabs" aria-label="Pages of the run">{TABS.map((tab) => {
					const route: Route = { page: tab.page, id };

					return <Link key={tab.page} to={routePath(route) + changeQuery(search, { offset: null, min_ns: null, of: null, plot: null })} isCurrent={tab.page === page}>{tab.title}</Link>;
				})}<Link to={`/node?run=${encodeURIComponent(id)}`}>Node health</Link></nav>
			</header>
			{children}
		</>
	);
}
