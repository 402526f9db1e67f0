// SPDX-License-Identifier: BSD-3-Clause
// Stops and resumes a tuning, and shows what a resumed one has printed.
import { useState } from 'preact/hooks';
import { post } from '../lib/api';
import { visible } from '../lib/text';
import type { Tuning, TuningStatus } from '../lib/tuning_types';
import { Copy } from '../parts/copy';
import { Failure } from '../parts/states';

interface Props {
	tuning: Tuning;
	onStatus: (status: TuningStatus) => void;
}

export function TuningControls({ tuning, onStatus }: Props) {
	const [asked, setAsked] = useState<'stop' | 'resume' | null>(null);
	const [error, setError] = useState<string | null>(null);
	const { state, process } = tuning;

	async function change(what: 'stop' | 'resume'): Promise<void> {
		setAsked(what);
		setError(null);
		try {
			onStatus(await post<TuningStatus>(`/tunings/${tuning.id}/${what}`, {}));
		} catch (failure) {
			setError(failure instanceof Error ? failure.message : String(failure));
		} finally {
			setAsked(null);
		}
	}

	return (
		<section id="controls">
			{state !== 'finished' && <div class="tools">
				{state === 'running' && <button type="button" class="main-action" disabled={!tuning.can_stop || asked !== null} onClick={() => void change('stop')}>
					{asked === 'stop' ? 'Stopping …' : 'Stop'}</button>}
				{state === 'interrupted' && <button type="button" class="main-action" disabled={!tuning.can_resume || asked !== null} onClick={() => void change('resume')}>
					{asked === 'resume' ? 'Resuming …' : 'Resume'}</button>}
				<span>{state === 'running'
					? `Process ${process.pid} on host ${visible(process.host)}. ${tuning.can_stop ? 'Stopping aborts the current run and restores the files, as Ctrl-C does.' : 'It can be stopped on that host only.'}`
					: 'At most the run that was interrupted is repeated. The program must not have changed since. On the command line:'}</span>
			</div>}
			{state === 'interrupted' && <Copy text={`sluice tune --resume --tuning ${tuning.id}`} />}
			{error && <Failure text={error} />}
			{tuning.log !== null && <details class="output" open={state === 'interrupted'}>
				<summary>Output of the resumed tuning</summary>
				<pre tabIndex={0}>{tuning.log.split('\n').map(visible).join('\n')}</pre>
			</details>}
		</section>
	);
}
