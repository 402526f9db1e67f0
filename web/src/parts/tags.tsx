// SPDX-License-Identifier: BSD-3-Clause
// The tags of a run: links to the runs that have them too, and their editing.
import { useEffect, useRef, useState } from 'preact/hooks';
import { post } from '../lib/api';
import { visible } from '../lib/text';
import type { Tags } from '../lib/program_types';
import { Link } from './link';

export const tagPath = (tag: string) => `/runs?${new URLSearchParams({ tag })}`;

export function TagLinks({ tags }: { tags: readonly string[] }) {
	return <>{tags.map((tag) => <Link key={tag} to={tagPath(tag)} class="chip tag" title={`Show all runs with the tag ${visible(tag)}`}>{visible(tag)}</Link>)}</>;
}

interface Props {
	id: string; /* of the run */
	name: string; /* what a screen reader calls the run */
	tags: readonly string[];
}

/* Shows the tags; a button adds words, and while it does, each tag can be removed. */
export function TagEditor({ id, name, tags: given }: Props) {
	const [tags, setTags] = useState(given), [isOpen, setOpen] = useState(false), [error, setError] = useState<string | null>(null);
	const input = useRef<HTMLInputElement>(null), opener = useRef<HTMLButtonElement>(null);

	useEffect(() => setTags(given), [given.join(' ')]);
	useEffect(() => {
		if (isOpen)
			input.current?.focus();
	}, [isOpen]);

	function close(): void {
		setOpen(false);
		setError(null);
		requestAnimationFrame(() => opener.current?.focus());
	}

	async function change(add: string[], remove: string[]): Promise<void> {
		try {
			setTags((await post<Tags>(`/runs/${encodeURIComponent(id)}/tags`, { add, remove })).tags);
			setError(null);
			if (input.current && add.length)
				input.current.value = '';
		} catch (failure) {
			setError(failure instanceof Error ? failure.message : String(failure));
		}
		input.current?.focus();
	}

	if (!isOpen)
		return (
			<span class="tags"><TagLinks tags={tags} />
				<button ref={opener} type="button" class={tags.length ? 'tag-edit' : 'tag-edit tag-first'} aria-label={`Edit the tags of ${name}`} title="Edit tags" onClick={() => setOpen(true)} />
			</span>
		);
	return (
		<form class="tags" onSubmit={(event) => {
			const words = (input.current?.value ?? '').split(/[\s,]+/).filter(Boolean);

			event.preventDefault();
			if (words.length)
				void change(words, []);
			else
				close();
		}} onKeyDown={(event) => event.key === 'Escape' && close()}>
			{tags.map((tag) => <button key={tag} type="button" class="chip tag" aria-label={`Remove the tag ${visible(tag)}`} onClick={() => void change([], [tag])}>{visible(tag)} <span aria-hidden="true">×</span></button>)}
			<input ref={input} type="text" size={12} maxLength={200} placeholder="new tag" aria-label={`New tag of ${name}`} />
			<button type="submit">Add</button>
			<button type="button" onClick={close}>Done</button>
			{error && <span class="tag-error" role="alert">{visible(error)}</span>}
		</form>
	);
}
