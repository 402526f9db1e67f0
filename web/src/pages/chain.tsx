// SPDX-License-Identifier: BSD-3-Clause
// The causal chain of a call: the calls that enclose it, itself, and the calls that it directly encloses, each with a bar
// that shows when it ran.
import { useState } from 'preact/hooks';
import { formatSeconds, formatTime } from '../lib/format';
import { routePath } from '../lib/route';
import { shorten, visible } from '../lib/text';
import type { Activity, ActivityRow } from '../lib/types';
import { Link } from '../parts/link';

const FEW_CALLS = 50, PATH_LETTERS = 48;

interface Step {
	depth: number;
	key: string;
	function: string;
	layer: string;
	file: string | null;
	start_ns: number;
	duration_ns: number;
	isFailed: boolean;
	isSelf: boolean;
}

function step(row: ActivityRow, depth: number): Step {
	return { ...row, depth, isFailed: row.error !== 0, isSelf: false };
}

export function chainSteps(activity: Activity): Step[] {
	const depth = activity.ancestors.length;

	return [
		...activity.ancestors.map((row, i) => step(row, i)),
		{
			depth, key: activity.key, function: activity.name, layer: activity.layer, file: activity.file,
			start_ns: activity.time_start, duration_ns: activity.duration, isFailed: Number(activity.error_value) !== 0, isSelf: true,
		},
		...activity.children.map((row) => step(row, depth + 1)),
	];
}

export function Chain({ id, activity, search }: { id: string; activity: Activity; search: string }) {
	const [isExpanded, setExpanded] = useState(false);
	const steps = chainSteps(activity), limit = activity.ancestors.length + 1 + FEW_CALLS;
	const shown = isExpanded ? steps : steps.slice(0, limit);
	const from = Math.min(...steps.map(({ start_ns }) => start_ns));
	const to = Math.max(...steps.map(({ start_ns, duration_ns }) => start_ns + duration_ns), from + 1);

	return (
		<>
			<h3>Causal chain</h3>
			<ol class="chain">{shown.map((call) => (
				<li key={call.key} class={call.isSelf ? 'self' : ''} aria-current={call.isSelf ? 'true' : undefined}>
					<span class="chain-name" style={{ paddingLeft: `${Math.min(call.depth, 12) * 1.25}rem` }}>
						{call.depth > 0 && <span class="chain-arrow" aria-hidden="true">↳</span>}
						{call.isSelf ? <strong>{visible(call.function)}</strong>
							: <Link to={routePath({ page: 'activity', id, key: call.key }) + search}>{visible(call.function)}</Link>}
						<span class="d">{visible(call.layer)}</span>
						{call.isFailed && <span class="chip critical">failed</span>}
						<span class="d chain-file" title={visible(call.file)}>{shorten(call.file ?? '', PATH_LETTERS)}</span>
					</span>
					<span class="chain-time" title={`from ${formatSeconds(call.start_ns)} s`}>{formatTime(call.duration_ns)}</span>
					<span class="chain-bar" aria-hidden="true"><span style={{
						left: `${100 * (call.start_ns - from) / (to - from)}%`, width: `${100 * call.duration_ns / (to - from)}%`,
					}} /></span>
				</li>
			))}</ol>
			{activity.ancestors.length === 0 && <p class="about">The program made this call itself: no other recorded call encloses it.</p>}
			{activity.children.length === 0 && <p class="about">This call caused no other recorded call.</p>}
			{steps.length > limit && <button type="button" onClick={() => setExpanded(!isExpanded)}>{isExpanded ? `Show ${FEW_CALLS} calls` : `Show all ${activity.children.length} calls that it caused`}</button>}
		</>
	);
}
