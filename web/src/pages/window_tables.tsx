// SPDX-License-Identifier: BSD-3-Clause
// Layers, functions, files and ranks of the selected calls. The name of a row selects its calls.
import { changeQuery } from '../lib/filter';
import type { RunView } from '../lib/run_view';
import { currentPlace } from '../lib/location';
import { baseName, shorten, visible } from '../lib/text';
import type { WindowAnswer } from '../lib/types';
import { Link } from '../parts/link';
import { SumsTable } from '../parts/sums_table';

const PATH_LETTERS = 90;
const FOLDED = 'This run has so many files and ranks that the server has merged small ones; select a shorter window to see each.';

interface Props {
	run: RunView;
	answer: WindowAnswer;
}

function Choice({ run, name, value, text }: { run: RunView; name: string; value: string; text?: string }) {
	return <Link to={currentPlace().path + changeQuery(run.search, { [name]: value, offset: null })} keepScroll
		title={`Show only the calls of ${visible(value)}`}>{text ?? shorten(value, PATH_LETTERS)}</Link>;
}

export function FunctionTable({ run, answer }: Props) {
	return (
		<section id="functions"><h2>Functions</h2>
			<SumsTable name="Functions" title="function" rows={answer.functions} rowName={(row) => `${row.function} (${row.layer})`}
				show={(row) => <Choice run={run} name="function" value={row.function} />}
				extra={[{ title: 'layer', value: (row) => row.layer, show: (row) => visible(row.layer) }]} />
		</section>
	);
}

export function FileTable({ run, answer }: Props) {
	return (
		<section id="files"><h2>Files</h2>
			<SumsTable name="Files" title="file" rows={answer.files} total={answer.file_count} rowName={(row) => row.file}
				show={(row) => <Choice run={run} name="file" value={row.file} />} />
			{answer.folded && <p class="more">{FOLDED}</p>}
		</section>
	);
}

export function LayerTable({ run, answer }: Props) {
	return (
		<section id="layers"><h2>Layers</h2>
			<SumsTable name="Layers" title="layer" rows={answer.layers} rowName={(row) => row.layer}
				show={(row) => <Choice run={run} name="layer" value={row.layer} />} />
		</section>
	);
}

export function MemberTable({ run, answer }: Props) {
	const title = run.who === 'rank' ? 'Ranks' : 'Processes';

	return (
		<section id="members"><h2>{title}</h2>
			<SumsTable name={title} title={run.who} rows={answer.members} total={answer.member_count} rowName={(row) => `${run.who} ${row.member}`}
				show={(row) => <Choice run={run} name="member" value={String(row.member)} text={`${run.who} ${row.member}`} />}
				extra={[{ title: 'program', value: (row) => row.name, show: (row) => baseName(row.name ?? '') }, { title: 'host', value: (row) => row.host, show: (row) => visible(row.host) }]} />
			{answer.folded && <p class="more">{FOLDED}</p>}
		</section>
	);
}
