// SPDX-License-Identifier: BSD-3-Clause
// A command to copy.
import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../lib/text';

/* The clipboard exists only in secure contexts; elsewhere the text is selected, so that the reader can copy it. */
async function copy(text: string, element: HTMLElement | null): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		if (element)
			getSelection()?.selectAllChildren(element);
		return false;
	}
}

export function Copy({ text }: { text: string }) {
	const pre = useRef<HTMLPreElement>(null);
	const [label, setLabel] = useState('Copy');

	useEffect(() => {
		const timer = label === 'Copy' ? 0 : window.setTimeout(() => setLabel('Copy'), 2000);

		return () => clearTimeout(timer);
	}, [label]);
	return (
		<div class="copy">
			<pre ref={pre} tabIndex={0}>{text.split('\n').map(visible).join('\n')}</pre>
			<button type="button" onClick={() => void copy(text, pre.current).then((done) => setLabel(done ? 'Copied' : 'Selected'))}>{label}</button>
		</div>
	);
}
