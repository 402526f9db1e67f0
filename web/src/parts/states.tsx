// SPDX-License-Identifier: BSD-3-Clause
// What a page shows instead of data: that it is loading, that there is none, or why there is none.
import type { ComponentChildren } from 'preact';
import { covered } from '../lib/progress';
import { useStore } from '../lib/store';
import { visible } from '../lib/text';
import { Copy } from './copy';

export function Failure({ text }: { text: string }) {
	return <p class="failure" role="alert">{visible(text)}</p>;
}

export function Loading() {
	return <p class="loading" role="status">Loading …</p>;
}

interface EmptyProps {
	children: ComponentChildren;
	command?: string; /* what fills the page */
}

export function Empty({ children, command }: EmptyProps) {
	return (
		<div class="empty">
			<p>{children}</p>
			{command && <Copy text={command} />}
		</div>
	);
}

/* A thin line at the top while the server still reads traces. */
export function Progress() {
	const part = useStore(covered);

	if (part >= 1)
		return null;
	return (
		<div class="progress" role="progressbar" aria-label="Part that is read" aria-valuemin={0} aria-valuemax={100}
			aria-valuenow={Math.round(100 * part)}>
			<div style={{ width: `${100 * part}%` }} />
			<span>{`The figures cover ${Math.round(100 * part)}% so far.`}</span>
		</div>
	);
}
