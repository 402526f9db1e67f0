// SPDX-License-Identifier: BSD-3-Clause
// A few numbers that matter most.

export interface FigureValue {
	name: string;
	value: string;
	note?: string;
}

export function Figures({ values }: { values: readonly FigureValue[] }) {
	return (
		<dl class="figures">{values.map(({ name, value, note }) => (
			<div key={name}><dt>{name}</dt><dd>{value}<small>{note ?? ''}</small></dd></div>
		))}</dl>
	);
}
