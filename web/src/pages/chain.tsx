// SPDX-License-Identifier: BSD-3-Clause
// The causal chain of a call in both directions, each call with a bar that shows when it ran.
import { useState } from 'preact/hooks';
import { chainSteps, type ChainStep } from '../lib/chain';
import { useDescendants } from '../lib/descendants';
import { formatCount, formatSeconds, formatTime } from '../lib/format';
import { routePath } from '../lib/route';
import { shorten, visible } from '../lib/text';
import type { Activity } from '../lib/types';
import { Link } from '../parts/link';

const FEW_CALLS = 60, PATH_LETTERS = 48, INDENT_LEVELS = 12;

export function Chain({ id, activity, search }: { id: string; activity: Activity; search: string }) {
	const descendants = useDescendants(`/runs/${encodeURIComponent(id)}`, activity);
	const [isExpanded, setExpanded] = useState(false);
	const steps = chainSteps(activity, descendants.of), limit = activity.ancestors.length + 1 + FEW_CALLS;
	const shown = isExpanded ? steps : steps.slice(0, limit);
	const from = Math.min(...steps.map(({ row }) => row.start_ns));
	const to = Math.max(...steps.map(({ row }) => row.start_ns + row.duration_ns), from + 1);

	return (
		<>
			<h3>Causal chain</h3>
			<ol class="chain">{shown.map((step) => <Call key={step.row.key} {...{ step, id, search, from, to }} onOpen={() => descendants.load(step.row.key)} />)}</ol>
			{activity.ancestors.length === 0 && <p class="about">The program made this call itself: no other recorded call encloses it.</p>}
			{activity.children.length === 0 && <p class="about">This call caused no other recorded call.</p>}
			{steps.length > limit && <button type="button" onClick={() => setExpanded(!isExpanded)}>
				{isExpanded ? `Show ${FEW_CALLS} calls` : `Show all ${formatCount(steps.length)} calls`}</button>}
		</>
	);
}

interface CallProps {
	step: ChainStep;
	id: string;
	search: string;
	from: number;
	to: number;
	onOpen: () => void;
}

function Call({ step, id, search, from, to, onOpen }: CallProps) {
	const { row, depth, isSelf } = step;

	return (
		<li class={isSelf ? 'self' : ''} aria-current={isSelf ? 'true' : undefined}>
			<span class="chain-name" style={{ paddingLeft: `${Math.min(depth, INDENT_LEVELS) * 1.25}rem` }}>
				{depth > 0 && <span class="chain-arrow" aria-hidden="true">↳</span>}
				{isSelf ? <strong>{visible(row.function)}</strong>
					: <Link to={routePath({ page: 'activity', id, key: row.key }) + search}>{visible(row.function)}</Link>}
				<span class="d">{visible(row.layer)}</span>
				{step.place && <span class="chip chain-place">{visible(step.place)}</span>}
				{row.error !== 0 && <span class="chip critical">failed</span>}
				<span class="d chain-file" title={visible(row.file)}>{shorten(row.file ?? '', PATH_LETTERS)}</span>
				{!step.isOpen && <button type="button" aria-label={`Show the calls that ${visible(row.function)} caused`} onClick={onOpen}>Show more</button>}
			</span>
			<span class="chain-time" title={`from ${formatSeconds(row.start_ns)} s`}>{formatTime(row.duration_ns)}</span>
			<span class="chain-bar" aria-hidden="true"><span style={{
				left: `${100 * (row.start_ns - from) / (to - from)}%`, width: `${100 * row.duration_ns / (to - from)}%`,
			}} /></span>
		</li>
	);
}
