// SPDX-License-Identifier: BSD-3-Clause
// All tunings of the user.
import { useEffect, useState } from 'preact/hooks';
import { request, useApi } from '../lib/api';
import { formatCount, formatDate } from '../lib/format';
import { routePath } from '../lib/route';
import { shorten, visible } from '../lib/text';
import { useTitle } from '../lib/title';
import { comparedWord, PHASE_NAMES } from '../lib/tuning';
import type { StudyRow } from '../lib/tuning_types';
import { Link } from '../parts/link';
import { Empty, Failure, Loading } from '../parts/states';
import { Table, type Column } from '../parts/table';
import { ProvenGain, StateChip } from './tuning_state';

const AGAIN_MS = 3000, COMMAND_LETTERS = 70;

interface Tunings {
	tunings: StudyRow[];
}

const columns: Column<StudyRow>[] = [
	{ title: 'program', value: (row) => row.program, show: (row) => <Link to={routePath({ page: 'tuning', id: String(row.id) })}>{visible(row.program)}</Link> },
	{ title: 'proven speedup', value: (row) => row.gain, show: (row) => <ProvenGain study={row} state={row.state} isSimulated={row.simulated} />, isNumber: true, help: 'with its 95 % interval' },
	{
		title: 'state', value: (row) => row.state,
		show: (row) => <><StateChip state={row.state} />{row.state === 'running' && row.phase && <span class="d">{` ${PHASE_NAMES[row.phase]}`}</span>}</>,
	},
	{ title: 'runs', value: (row) => row.runs, show: (row) => formatCount(row.runs), isNumber: true, help: 'of the program so far' },
	{ title: 'data', value: (row) => comparedWord(row.compared), show: (row) => <span title={visible(row.compared)}>{visible(comparedWord(row.compared))}</span>, help: 'how the data that the program wrote was compared with that of the baseline' },
	{ title: 'command', value: (row) => row.command, show: (row) => <code title={visible(row.command)}>{shorten(row.command, COMMAND_LETTERS)}</code> },
	{ title: 'started (UTC)', value: (row) => row.begun_ns, show: (row) => <span class="nowrap">{formatDate(row.begun_ns)}</span> },
	{ title: 'id', value: (row) => row.id, isNumber: true, help: "as 'sluice kb tunings' lists it" },
];

/* The list is asked for again while a tuning runs. */
function useTunings() {
	const answer = useApi<Tunings>('/tunings');
	const [later, setLater] = useState<Tunings | null>(null);
	const data = later ?? answer.data, isRunning = data?.tunings.some(({ state }) => state === 'running') ?? false;

	useEffect(() => {
		const timer = isRunning ? window.setInterval(() => void request<Tunings>('/tunings').then(setLater, () => {}), AGAIN_MS) : 0;

		return () => clearInterval(timer);
	}, [isRunning]);
	return { data, error: answer.error };
}

export function TuningsPage() {
	const { data, error } = useTunings();

	useTitle('Tunings');
	return (
		<>
			<h1 class="page-title">Tunings</h1>
			<p class="about">A tuning runs a program with different parameters of its I/O, and proves by interleaved runs whether the best ones make it faster.</p>
			{error && <Failure text={error} />}
			{!data && !error && <Loading />}
			{data?.tunings.length === 0 && <Empty command="sluice tune -- PROGRAM">There are no tunings yet. This command starts one, which can be followed here as soon as its first run is done:</Empty>}
			{data && data.tunings.length > 0 && <Table name="Tunings" rows={data.tunings} columns={columns} rowKey={(row) => String(row.id)} isInAddress first={{ column: columns.length - 1, order: 'descending' }} />}
		</>
	);
}
