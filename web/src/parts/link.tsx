// SPDX-License-Identifier: BSD-3-Clause
// A link within the application. It is a real address: it can be copied and opened in another tab.
import type { ComponentChildren } from 'preact';
import { address, navigate } from '../lib/location';

interface Props {
	to: string; /* path and query, without the base path */
	children: ComponentChildren;
	class?: string;
	title?: string;
	isCurrent?: boolean;
	keepScroll?: boolean;
	label?: string;
}

export function Link(props: Props) {
	return (
		<a href={address(props.to)} class={props.class} title={props.title} aria-label={props.label}
			aria-current={props.isCurrent ? 'page' : undefined}
			onClick={(event) => {
				if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
					return;
				event.preventDefault();
				navigate(props.to, { keepScroll: props.keepScroll });
			}}>{props.children}</a>
	);
}
