// SPDX-License-Identifier: BSD-3-Clause
// A page that cannot show an answer of the server says so, and the rest of the application stays usable.
import { Component, type ComponentChildren } from 'preact';
import { Failure } from './states';

interface Props {
	children: ComponentChildren;
}

export class Boundary extends Component<Props, { error: string | null }> {
	override state = { error: null as string | null };

	override componentDidCatch(error: unknown): void {
		console.error(error);
		this.setState({ error: error instanceof Error ? error.message : String(error) });
	}

	override render() {
		if (this.state.error !== null)
			return <Failure text={`This page cannot show what the server sent (${this.state.error}). Reload it; the server may have another version.`} />;
		return this.props.children;
	}
}
