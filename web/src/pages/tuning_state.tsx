// SPDX-License-Identifier: BSD-3-Clause
// Whether a tuning runs, and whether its gain is proven: the same on all pages.
import { formatGain } from '../lib/tuning';
import type { Gain, TuningState } from '../lib/tuning_types';

const CHIPS: Record<TuningState, string> = { running: 'info running', interrupted: 'warning', finished: '' };

export function StateChip({ state }: { state: TuningState }) {
	return <span class={`chip ${CHIPS[state]}`}>{state}</span>;
}

/* A gain is shown only if it is proven. */
export function ProvenGain({ study, state, isSimulated }: { study: Gain; state: TuningState; isSimulated: boolean }) {
	if (study.gain !== null)
		return isSimulated ? <span class="d">{`${formatGain(study)} in the model`}</span> : <strong class="proven">{formatGain(study)}</strong>;
	return <span class="d">{state === 'finished' ? 'none proven' : 'not yet'}</span>;
}
