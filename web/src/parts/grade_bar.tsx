// SPDX-License-Identifier: BSD-3-Clause
// Shares of calls from very slow to very fast as one bar.
import { formatShare } from '../lib/format';
import { GRADES } from '../lib/statistics';

const NAMES = ['very slow', 'slow', 'normal', 'fast', 'very fast'];

export function GradeBar({ shares }: { shares: readonly number[] }) {
	const text = shares.map((share, i) => share > 0 ? `${NAMES[i]} ${formatShare(share, 1)}` : '').filter(Boolean).join(', ');

	return (
		<span class="grades" role="img" aria-label={text} title={text}>
			{shares.map((share, i) => <span key={GRADES[i]} class={GRADES[i].replace('_', '-')} style={{ width: `${100 * share}%` }} />)}
		</span>
	);
}

export function GradeLegend() {
	return <ul class="legend">{NAMES.map((name, i) => <li key={name}><span class={`swatch ${GRADES[i].replace('_', '-')}`} />{name}</li>)}</ul>;
}
