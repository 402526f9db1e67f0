// SPDX-License-Identifier: BSD-3-Clause
// One run of a site's database: its sums and findings. The database has no window of its calls.
import { useApi } from '../lib/api';
import { formatBytes, formatCount, formatDate, formatShare, formatTime, known } from '../lib/format';
import { shorten, visible } from '../lib/text';
import { useTitle } from '../lib/title';
import type { RunSums, SiteFinding, SiteSum } from '../lib/types';
import { Figures } from '../parts/figures';
import { Failure, Loading } from '../parts/states';
import { SumsTable } from '../parts/sums_table';
import type { Column } from '../parts/table';

const PATH_LETTERS = 80, SEVERITIES = ['critical', 'warning', 'info'];

export function SiteRunPage({ id }: { id: string }) {
	const { data, error } = useApi<RunSums>(`/runs/${encodeURIComponent(id)}/sums`);

	useTitle(data ? data.run.program || id : id);
	return (
		<>
			<h1 class="page-title">{data ? visible(data.run.program) : id}</h1>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data && <Head run={data.run} />}
			{data && <SiteFindings findings={data.findings} />}
			{data && <Tables data={data} />}
		</>
	);
}

function Head({ run }: { run: RunSums['run'] }) {
	return (
		<section id="verdict">
			<p><code>{shorten(run.command || 'The site keeps no command lines.', 400)}</code></p>
			<Figures values={[
				{ name: 'user', value: visible(run.user), note: run.job ? `job ${visible(run.job)}` : undefined },
				{ name: 'started (UTC)', value: formatDate(run.started_ns), note: visible(run.host) },
				{ name: 'run time', value: formatTime(run.duration_ns), note: run.exit_status > 0 ? `exit status ${run.exit_status}` : undefined },
				{ name: 'in I/O', value: known(run.io_share, (share) => formatShare(share, 1)) || 'unknown', note: 'of the run time' },
				{ name: 'read', value: formatBytes(run.bytes_read) },
				{ name: 'written', value: formatBytes(run.bytes_written) },
				{ name: 'calls', value: formatCount(run.activities), note: run.lost ? `${formatCount(run.lost)} more were lost` : undefined },
				{ name: run.ranks ? 'ranks' : 'processes', value: formatCount(run.ranks || run.processes) },
			]} />
		</section>
	);
}

function SiteFindings({ findings }: { findings: readonly SiteFinding[] }) {
	return (
		<section id="findings">
			<h2>Findings</h2>
			{findings.length === 0 && <p class="good-news">No rule matched this run.</p>}
			{findings.map((finding, i) => <FindingCard key={i} finding={finding} />)}
		</section>
	);
}

function FindingCard({ finding }: { finding: SiteFinding }) {
	const severity = SEVERITIES.includes(finding.severity) ? finding.severity : 'info', others = finding.file_count - 1;

	return (
		<article class={`finding ${severity}`}>
			<div class="finding-head">
				<span class={`chip ${severity}`}>{visible(finding.severity)}</span>
				<h3>{visible(finding.title)}</h3>
				<code>{visible(finding.code)}</code>
			</div>
			<div class="measures">
				{finding.possible && <span class="chip">possible</span>}
				{finding.share !== null && <span class="chip">{formatShare(finding.share, 1)} of the run time</span>}
				{finding.gain !== null && <span class="chip good">{`predicted gain: ${finding.gain.toFixed(2)} times`}</span>}
			</div>
			<p>{finding.file && <><code>{shorten(finding.file, PATH_LETTERS)}</code>{others > 0 ? ` and ${others} more: ` : ': '}</>}{visible(finding.evidence)}</p>
		</article>
	);
}

const layerColumn: Column<SiteSum>[] = [{ title: 'layer', value: (row) => row.layer, show: (row) => visible(row.layer) }];

function fileName(file: string | null): string {
	return file ?? 'other files';
}

function memberName(member: number, isParallel: boolean): string {
	return member < 0 ? 'others' : `${isParallel ? 'rank' : 'process'} ${member}`;
}

function Tables({ data }: { data: RunSums }) {
	const isParallel = data.run.ranks > 0, members = isParallel ? 'Ranks' : 'Processes';

	return (
		<>
			<section id="layers"><h2>Layers</h2>
				<p class="about">A call counts in its own layer and in those that enclose it, so rows of different layers must not be added.</p>
				<SumsTable name="Layers" title="layer" rows={data.layers} rowName={(row) => row.layer} show={(row) => visible(row.layer)} total={data.layer_count} />
			</section>
			<section id="files"><h2>Files</h2>
				<SumsTable name="Files" title="file" rows={data.files} rowName={(row) => `${fileName(row.file)} ${row.layer}`}
					show={(row) => <span title={visible(row.filesystem)}>{shorten(fileName(row.file), PATH_LETTERS)}</span>} extra={layerColumn} total={data.file_count} />
			</section>
			<section id="members"><h2>{members}</h2>
				<SumsTable name={members} title={isParallel ? 'rank' : 'process'} rows={data.members} rowName={(row) => `${memberName(row.member, isParallel)} ${row.layer}`}
					show={(row) => memberName(row.member, isParallel)} extra={layerColumn} total={data.member_count} />
			</section>
		</>
	);
}
