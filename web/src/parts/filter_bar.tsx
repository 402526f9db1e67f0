// SPDX-License-Identifier: BSD-3-Clause
// Which calls are shown: choices, and what is chosen now with a button that removes it.
import { formatTime } from '../lib/format';
import { changeQuery, LEVELS, type Filter, type Level } from '../lib/filter';
import { changePlace } from '../lib/location';
import { shorten, visible } from '../lib/text';

const LEVEL_NAMES: Record<Level, string> = {
	program: 'calls of the program',
	storage: 'calls to storage',
	all: 'all calls',
};

interface Props {
	filter: Filter;
	search: string;
	layers: readonly string[];
	functions: readonly string[];
	files: readonly string[];
	who: string;
	hasDuration?: boolean;
}

const MIN_NS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const FILE_LETTERS = 60;

/* The value in use is always among the choices. */
function choices(values: readonly string[], current: string | null): readonly string[] {
	return current !== null && !values.includes(current) ? [current, ...values] : values;
}

export function FilterBar(props: Props) {
	const { filter, search, who } = props;
	const set = (name: string, value: string | null) => changePlace(changeQuery(search, { [name]: value, offset: null }));

	function select(name: 'layer' | 'function' | 'file', label: string, values: readonly string[], none: string) {
		return (
			<label>{label}
				<select value={filter[name] ?? ''} onChange={(event) => set(name, event.currentTarget.value)}>
					<option value="">{none}</option>
					{choices(values, filter[name]).map((value) => <option key={value} value={value}>{shorten(value, FILE_LETTERS)}</option>)}
				</select>
			</label>
		);
	}

	return (
		<div class="filters">
			<label>Show
				<select value={filter.level} onChange={(event) => set('level', event.currentTarget.value === 'program' ? null : event.currentTarget.value)}>
					{LEVELS.map((level) => <option key={level} value={level}>{LEVEL_NAMES[level]}</option>)}
				</select>
			</label>
			{select('layer', 'Layer', props.layers, 'all layers')}
			{select('function', 'Function', props.functions, 'all functions')}
			{select('file', 'File', props.files, 'all files')}
			<label>{who === 'rank' ? 'Rank' : 'Process'}
				<input type="number" min={0} placeholder="all" value={filter.member ?? ''}
					onChange={(event) => set('member', /^\d+$/.test(event.currentTarget.value) ? event.currentTarget.value : null)} />
			</label>
			{props.hasDuration && <label>Duration
				<select value={filter.min_ns ?? ''} onChange={(event) => set('min_ns', event.currentTarget.value)}>
					<option value="">any</option>
					{choices(MIN_NS.map(String), filter.min_ns === null ? null : String(filter.min_ns))
						.map((ns) => <option key={ns} value={ns}>{`at least ${formatTime(Number(ns))}`}</option>)}
				</select>
			</label>}
			<label class="check"><input type="checkbox" checked={filter.errors} onChange={(event) => set('errors', event.currentTarget.checked ? '1' : null)} />
				only failed calls</label>
			<Chips {...props} onRemove={(name) => set(name, null)} />
		</div>
	);
}

function Chips({ filter, who, onRemove }: Props & { onRemove: (name: string) => void }) {
	const chosen = [
		['layer', filter.layer], ['function', filter.function], ['file', filter.file],
		['member', filter.member === null ? null : `${who} ${filter.member}`], ['errors', filter.errors ? 'failed calls' : null],
	].filter((entry): entry is [string, string] => entry[1] !== null);

	if (!chosen.length)
		return null;
	return <ul class="chosen" aria-label="Filters in use">{chosen.map(([name, value]) => (
		<li key={name}><button type="button" title={`Remove the filter: ${visible(value)}`} aria-label={`Remove the filter: ${visible(value)}`}
			onClick={() => onRemove(name)}>{shorten(value, FILE_LETTERS)} <span aria-hidden="true">×</span></button></li>
	))}</ul>;
}
