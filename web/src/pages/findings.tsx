// SPDX-License-Identifier: BSD-3-Clause
// Why the run was slow: each finding with its evidence and with fixes to copy.
import { formatShare } from '../lib/format';
import { routePath } from '../lib/route';
import { visible } from '../lib/text';
import type { Finding, Gain } from '../lib/types';
import { Copy } from '../parts/copy';
import { Link } from '../parts/link';

function gainText(what: string, gain: Gain): string {
	const range = gain.high > gain.low ? ` (${gain.low.toFixed(2)} to ${gain.high.toFixed(2)})` : '';

	return `${what} gain: ${gain.gain.toFixed(2)} times${range}${gain.source ? `, ${gain.source}` : ''}`;
}

/* The first file with the number of others, and the ranks: the evidence itself names neither. */
function evidenceText(finding: Finding): string {
	const [file] = finding.files, others = finding.file_count - 1;
	const files = file ? `${file}${others > 0 ? ` and ${others} other file${others === 1 ? '' : 's'}` : ''}: ` : '';
	const ranks = finding.ranks?.length ? ` Ranks: ${finding.ranks.join(' ')}.` : '';

	return visible(`${files}${finding.evidence}.${ranks}`);
}

const SEVERITIES = ['critical', 'warning', 'info'];

function FindingCard({ finding, id }: { finding: Finding; id: string }) {
	const [first, ...others] = finding.fixes;
	const severity = SEVERITIES.includes(finding.severity) ? finding.severity : 'info';
	const calls = new URLSearchParams({ level: 'all', ...finding.files[0] ? { file: finding.files[0] } : {} });

	return (
		<article class={`finding ${severity}`}>
			<div class="finding-head">
				<span class={`chip ${severity}`}>{visible(finding.severity)}</span>
				<h3>{visible(finding.title)}</h3>
				<code>{visible(finding.code)}</code>
			</div>
			<div class="measures">
				{finding.share !== null && <span class="chip">{formatShare(finding.share, 1)} of the run time</span>}
				{finding.predicted && <span class="chip good">{visible(gainText('predicted', finding.predicted))}</span>}
				{finding.measured && <span class="chip good">{visible(gainText('measured', finding.measured))}</span>}
			</div>
			<p>{evidenceText(finding)}</p>
			<p class="about">{visible(finding.explanation)}</p>
			{finding.unpredicted && <p class="about">{visible(finding.unpredicted)}</p>}
			{first && <Fix {...first} />}
			{others.length > 0 && <details>
				<summary>{`${others.length} more way${others.length === 1 ? '' : 's'} to fix it`}</summary>
				{others.map((fix, i) => <Fix key={i} {...fix} />)}
			</details>}
			{finding.query && <details>
				<summary>Show the calls</summary>
				<Copy text={finding.query} />
				<p class="about"><Link to={`${routePath({ page: 'activities', id })}?${calls}`}>{finding.files[0] ? 'All calls on this file' : 'All calls'}</Link></p>
			</details>}
		</article>
	);
}

function Fix({ kind, text }: { kind: string; text: string }) {
	return <><p class="label">Fix: {visible(kind)}</p><Copy text={text} /></>;
}

export function Findings({ findings, id }: { findings: readonly Finding[]; id: string }) {
	return (
		<section id="findings">
			<h2>Findings</h2>
			{findings.length === 0 && <p class="good-news">None of the rules of <code>sluice report --rules</code> matches this run.</p>}
			{findings.map((finding, i) => <FindingCard key={i} finding={finding} id={id} />)}
		</section>
	);
}
