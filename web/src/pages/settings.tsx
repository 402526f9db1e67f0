// SPDX-License-Identifier: BSD-3-Clause
// What the reader can choose here, what the server is, and the settings it uses.
import { useApi } from '../lib/api';
import { address } from '../lib/location';
import { preferences, ROW_CHOICES, setRows } from '../lib/preferences';
import { useStore } from '../lib/store';
import { showValue, visible } from '../lib/text';
import { setTheme, theme, type Theme } from '../lib/theme';
import { useTitle } from '../lib/title';
import type { About, Setting } from '../lib/types';
import { Failure } from '../parts/states';
import { Table, type Column } from '../parts/table';

const THEMES: { value: Theme; title: string }[] = [
	{ value: 'auto', title: 'as the system' }, { value: 'light', title: 'light' }, { value: 'dark', title: 'dark' },
];

const columns: Column<Setting>[] = [
	{ title: 'setting', value: (row) => row.name, show: (row) => <code>{visible(row.name)}</code> },
	{ title: 'value', value: (row) => showValue(row.value) },
	{ title: 'from', value: (row) => row.origin, show: (row) => visible(row.origin) },
	{ title: 'default', value: (row) => showValue(row.default) },
	{ title: 'meaning', value: (row) => row.help, show: (row) => visible(row.help) },
];

export function SettingsPage({ about }: { about: About | null }) {
	const chosen = useStore(theme), { rows } = useStore(preferences);

	useTitle('Settings');
	return (
		<>
			<h1 class="page-title">Settings</h1>
			<section id="view">
				<h2>This browser</h2>
				<fieldset><legend>Theme</legend>{THEMES.map(({ value, title }) => (
					<label key={value} class="check"><input type="radio" name="theme" value={value} checked={chosen === value} onChange={() => setTheme(value)} />{title}</label>
				))}</fieldset>
				<label class="check">Rows of a page
					<select value={rows} onChange={(event) => setRows(Number(event.currentTarget.value))}>
						{ROW_CHOICES.map((count) => <option key={count} value={count}>{count}</option>)}
					</select>
				</label>
			</section>
			{about && <section id="server">
				<h2>Server</h2>
				<dl class="fields">
					<div><dt>version</dt><dd>{visible(about.version)}</dd></div>
					<div><dt>user</dt><dd>{visible(about.user)}</dd></div>
					<div><dt>licenses</dt><dd><a href={address('/assets/licenses.txt')}>of the packages in this application</a></dd></div>
					<div><dt>directory of runs</dt><dd><code>{visible(about.directory)}</code></dd></div>
				</dl>
			</section>}
			{about?.pages.includes('settings') && <ServerSettings />}
		</>
	);
}

function ServerSettings() {
	const { data, error } = useApi<{ settings: Setting[] }>('/settings');

	return (
		<section id="settings">
			<h2>Settings of Sluice</h2>
			{error && <Failure text={error} />}
			{data && <Table name="Settings" rows={data.settings} columns={columns} rowKey={(row) => row.name} />}
		</section>
	);
}
