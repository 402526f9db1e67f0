// SPDX-License-Identifier: BSD-3-Clause
// The access that the form of the model describes; the address holds it under the names that the API uses.

export interface AccessForm {
	ranks: string;
	size: string;
	nodes: string;
	direction: string;
	pattern: string;
	block: string;
	stride: string;
	params: string;
}

const DEFAULTS: AccessForm = { ranks: '', size: '', nodes: '', direction: 'write', pattern: 'contiguous', block: '', stride: '', params: '' };
const NAMES = Object.keys(DEFAULTS) as (keyof AccessForm)[];
/* What unit_parse_bytes() of the server accepts. */
export const SIZE_PATTERN = '\\d+(\\.\\d+)?\\s*([KkMmGgTtPp]([Ii]?[Bb])?|[Bb])?';

export function parseAccess(search: string): AccessForm {
	const query = new URLSearchParams(search), form = { ...DEFAULTS };

	for (const name of NAMES)
		form[name] = query.get(name) ?? DEFAULTS[name];
	return form;
}

/* The changes of the address; what is at its default is left out. */
export function accessChanges(form: AccessForm): Record<keyof AccessForm, string | null> {
	const isStrided = form.pattern === 'strided';
	const entries = NAMES.map((name) => {
		const text = form[name].trim(), isUnused = !isStrided && (name === 'block' || name === 'stride');

		return [name, text === DEFAULTS[name] || isUnused ? null : text];
	});

	return Object.fromEntries(entries) as Record<keyof AccessForm, string | null>;
}

/* Enough is known to ask the model. */
export function isComplete(form: AccessForm): boolean {
	const isSize = (text: string) => new RegExp(`^${SIZE_PATTERN}$`).test(text.trim());

	return /^\d+$/.test(form.ranks) && Number(form.ranks) > 0 && isSize(form.size) && (form.pattern !== 'strided' || isSize(form.block));
}

const quote = (text: string) => /^[\w=.,:/*-]+$/.test(text) && !text.includes('*') ? text : `'${text.replaceAll("'", "'\\''")}'`;

/* The same question on the command line; -o writes the settings as hints. */
export function accessCommand(form: AccessForm, model: string | null): string {
	const options = [
		...model === null ? [] : ['-m', model], '-n', form.ranks, '-s', form.size.replaceAll(/\s/g, ''), ...form.nodes ? ['-N', form.nodes] : [],
		...form.direction === 'read' ? ['--read'] : [],
		...form.pattern === 'strided' ? ['--pattern', 'strided', '--block', form.block, ...form.stride ? ['--stride', form.stride] : []] : [],
		...form.params.split(/\s+/).filter(Boolean).flatMap((param) => ['--param', param]), '-o', 'best.hints',
	];

	return `sluice model recommend ${options.map(quote).join(' ')}`;
}

export function settingsLine(settings: Record<string, string>): string {
	const entries = Object.entries(settings);

	return entries.length ? entries.map(([name, value]) => `${name}=${value}`).join(' ') : 'the default';
}
