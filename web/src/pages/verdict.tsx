// SPDX-License-Identifier: BSD-3-Clause
// The first lines of the report, the most important figures, and what the trace does not contain.
import { formatBytes, formatCount, formatShare, formatTime, plural } from '../lib/format';
import { showValue, visible } from '../lib/text';
import type { Report } from '../lib/types';
import { Figures, type FigureValue } from '../parts/figures';

function figures(report: Report): FigureValue[] {
	const { run, io, storage, ranks } = report, hasStorage = storage.bytes_read !== io.bytes_read || storage.bytes_written !== io.bytes_written;
	const stored = (bytes: number) => hasStorage ? `storage: ${formatBytes(bytes)}` : '';
	const values: FigureValue[] = [{ name: 'Run time', value: formatTime(run.duration_ns) }];

	if (io.share !== null)
		values.push({
			name: ranks?.count ? 'In I/O per rank' : 'Time in I/O', value: formatTime(io.share * run.duration_ns),
			note: `${formatShare(io.share, 1)} of the run`,
		});
	values.push(
		{ name: 'Read', value: formatBytes(io.bytes_read), note: stored(storage.bytes_read) },
		{ name: 'Written', value: formatBytes(io.bytes_written), note: stored(storage.bytes_written) },
		{ name: 'I/O calls', value: formatCount(io.calls), note: io.errors ? `${formatCount(io.errors)} failed` : '' },
		ranks?.count ? { name: 'Ranks', value: formatCount(ranks.count), note: ranks.hosts ? `on ${plural(ranks.hosts, 'host')}` : '' }
			: { name: 'Processes', value: formatCount(run.processes) },
	);
	return values;
}

function Losses({ report }: { report: Report }) {
	const counts = Object.entries(report.losses).filter(([, value]) => typeof value === 'number' && value > 0);

	if (report.complete && !counts.length)
		return null;
	return (
		<div class="incomplete">
			<p><strong>This trace is incomplete.</strong> The figures cover what was recorded.</p>
			<ul>{counts.map(([name, value]) => <li key={name}>{`${visible(name.replaceAll('_', ' '))}: ${showValue(value)}`}</li>)}</ul>
		</div>
	);
}

export function Verdict({ report }: { report: Report }) {
	const [first, ...notes] = [report.verdict].flat().flatMap((text) => text.split('\n')).filter(Boolean);

	return (
		<section id="verdict">
			<p class="verdict">{visible(first)}</p>
			<Figures values={figures(report)} />
			<Losses report={report} />
			{notes.length > 0 && <ul class="notes">{notes.map((note, i) => <li key={i}>{visible(note)}</li>)}</ul>}
		</section>
	);
}
