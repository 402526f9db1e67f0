// SPDX-License-Identifier: BSD-3-Clause
// usage: node serve_browser.mjs MODULES DIRECTORY ADDRESS MPI... (see browser.mjs)
// Opens the pages of `sluice serve` at ADDRESS (with its token) in Chromium. Checks that every page loads without an error,
// a warning or a request to another server; that a window selected in one chart by mouse, finger or keyboard and a filter
// apply to all charts and tables, are in the address and are undone by going back; that the causal chain of an H5Dwrite can
// be followed in both directions; that charts can be saved; that names of traces are text; and that pages have no serious
// problem of accessibility, fit narrow screens and can be used by keyboard.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { base, basePath, checkLook, close, drag, NARROW, open, PATIENCE_MS, programArguments as mpis, settle, VARIANTS, visit } from './browser.mjs';

// The addresses of the runs, by the words in their commands.
async function findRuns(page)
{
	await open(page, '/runs');
	const links = await page.$$eval('table.runs tbody tr', (rows) => rows.map((row) => [row.textContent, new URL(row.querySelector('th a').href).pathname]));
	const below = (place) => place?.slice(basePath.length);
	const find = (words) => below(links.find(([text]) => words.every((word) => text.includes(word)))?.[1]);

	return {
		climate: find(['climate']), serial: find(['ls -lR']), hostile: find(['alert(2)']),
		...Object.fromEntries(mpis.map((mpi) => [mpi, find([`mpiexec.${mpi}`, 'hdf5'])])),
	};
}

async function checkRuns(page)
{
	const rows = page.locator('table.runs tbody tr'), all = await rows.count();
	const programs = () => page.$$eval('table.runs tbody tr td:nth-child(3)', (cells) => cells.map((cell) => cell.textContent));

	assert(all >= 3);
	await page.getByLabel('Search runs').fill('CLIMATE');
	await page.waitForFunction((count) => document.querySelectorAll('table.runs tbody tr').length < count, all);
	assert((await programs()).every((text) => text.includes('climate')));
	assert(page.url().includes('search=CLIMATE'));
	await page.getByLabel('Search runs').fill('no such run');
	await page.locator('.empty').waitFor();
	await page.getByLabel('Search runs').fill('');
	await page.waitForFunction((count) => document.querySelectorAll('table.runs tbody tr').length === count, all);
	await page.locator('thead button', { hasText: 'command' }).click();
	await page.waitForURL(/sort=command/);
	await settle(page);
	const sorted = await programs();
	assert.deepEqual(sorted, [...sorted].sort());
	await page.locator('table.runs tbody input').nth(0).check();
	await page.locator('table.runs tbody input').nth(1).check();
	await page.getByRole('button', { name: 'Compare' }).click();
	await page.waitForURL(/\/compare\?base=.*with=/);
	await page.locator('#totals tbody tr').first().waitFor();
	await page.goBack();
	await rows.first().waitFor();
}

const functions = (page) => page.$$eval('#functions tbody th', (cells) => cells.map((cell) => cell.textContent));
const calls = (page) => page.$$eval('#functions tbody tr', (rows) => rows.reduce((sum, row) => sum + Number(row.cells[4].textContent.replaceAll(',', '')), 0));

// A window selected in one chart is the window of everything; keys and buttons move it; going back undoes it.
async function checkWindow(page, run)
{
	await open(page, run);
	const range = page.locator('.range output'), whole = await range.textContent(), before = await calls(page);
	const asked = new Set();
	const note = (request) => asked.add(new URL(request.url()).pathname.split('/').pop());

	page.on('request', note);
	await drag(page, page.locator('figure .plot').first(), 0.3, 0.5);
	await page.waitForURL(/from_ns=\d+&to_ns=\d+/);
	await settle(page);
	page.off('request', note);
	for (const name of ['window', 'heatmap', 'causes'])
		assert(asked.has(name), `${name} shows the window`);
	assert.notEqual(await range.textContent(), whole);
	assert(await calls(page) < before, 'fewer calls in the window');
	const chosen = page.url();
	await page.getByRole('button', { name: 'Zoom in' }).focus();
	await page.keyboard.press('ArrowRight');
	await page.waitForFunction((old) => location.href !== old, chosen);
	await page.locator('figure .plot').first().focus();
	await page.keyboard.press('+');
	await page.keyboard.press('ArrowRight');
	await page.locator('.tip').first().waitFor();
	await page.keyboard.press('Escape');
	await page.waitForURL((url) => !url.search.includes('from_ns'));
	await settle(page);
	assert.equal(await range.textContent(), whole);
	await page.goBack();
	await page.waitForURL(/from_ns=/);
	await page.locator('figure .plot').first().focus();
	for (let i = 0; i < 30; i++)
		await page.keyboard.press('Shift+ArrowRight');
	const selected = page.url();
	await page.keyboard.press('Enter');
	await page.waitForFunction((old) => location.href !== old, selected);
}

// A finger that moves sideways over a chart selects a window; one that moves upwards scrolls the page; a tap shows values.
async function checkTouch(page, run)
{
	const session = await page.context().newCDPSession(page), plot = page.locator('figure .plot').first();
	const send = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });

	async function swipe(from, to)
	{
		const at = (share) => [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];

		await send('touchStart', [from]);
		for (let i = 1; i <= 10; i++)
			await send('touchMove', [at(i / 10)]);
		await send('touchEnd', []);
	}

	await open(page, run);
	await plot.scrollIntoViewIfNeeded();
	await page.evaluate(() => scrollBy(0, document.querySelector('figure .plot').getBoundingClientRect().top - 300));
	const box = await plot.boundingBox(), at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
	await page.touchscreen.tap(...at(0.5, 0.5));
	await page.locator('.tip').first().waitFor();
	assert(!page.url().includes('from_ns'), 'a tap selects nothing');
	const before = await page.evaluate(() => scrollY);
	await swipe(at(0.5, 0.6), [at(0.5, 0.6)[0] + 3, at(0.5, 0.6)[1] - 200]);
	await page.waitForFunction((old) => scrollY > old + 50, before);
	assert(!page.url().includes('from_ns'), 'scrolling selects nothing');
	await page.evaluate((old) => scrollTo({ top: old, behavior: 'instant' }), before);
	await swipe(at(0.4, 0.5), at(0.8, 0.55));
	await page.waitForURL(/from_ns=\d+&to_ns=\d+/);
	await settle(page);
	await checkLook(page, 'touch');
}

// A click on a name filters everything; the address alone shows the same.
async function checkFilter(page, run, name)
{
	await open(page, run);
	assert((await functions(page)).length > 1);
	await page.locator('#functions tbody a', { hasText: name }).first().click();
	await page.waitForURL(new RegExp(`function=${name}`));
	await page.waitForFunction(() => document.querySelectorAll('#functions tbody tr').length === 1);
	assert.deepEqual(await functions(page), [name]);
	await open(page, page.url().slice(base.length));
	assert.deepEqual(await functions(page), [name]);
	await page.getByRole('button', { name: `Remove the filter: ${name}` }).click();
	await page.waitForFunction(() => document.querySelectorAll('#functions tbody tr').length > 1);
	await page.goBack();
	await page.waitForFunction(() => document.querySelectorAll('#functions tbody tr').length === 1);
}

// Chromium permits ten downloads of a page in quick succession.
async function checkSaving(page, run, kind, start)
{
	await open(page, run);
	const buttons = page.locator('figure .exports button', { hasText: kind });

	assert(await buttons.count() >= 5);
	for (let i = 0; i < await buttons.count(); i++) {
		const [download] = await Promise.all([page.waitForEvent('download'), buttons.nth(i).click()]);
		const text = fs.readFileSync(await download.path(), 'latin1');

		assert(download.suggestedFilename().endsWith(kind.toLowerCase()));
		assert(text.startsWith(start) && text.length > 40, `${kind} of figure ${i}: ${text.slice(0, 40)}`);
	}
}

const chain = (page) => page.$$eval('.chain li', (items) => items.map((item) => item.querySelector('a, strong').textContent));

// From an H5Dwrite down to the calls of MPI and POSIX that it caused, and up again.
async function checkChain(page, run, mpi)
{
	await open(page, `${run}/activities?level=all&function=H5Dwrite`);
	const titles = await page.$$eval('#activities thead th', (cells) => cells.slice(0, 6).map((cell) => cell.textContent));

	assert.deepEqual(titles, ['#', 'Function', 'Time start [s]', 'Time stop [s]', 'Duration [µs]', 'Error code']);
	const starts = await page.$$eval('#activities tbody tr', (rows) => rows.map((row) => Number(row.cells[2].textContent)));
	assert(starts.length > 1 && starts.every((start, i) => !i || start >= starts[i - 1]), 'in order of start');
	await page.locator('#activities tbody a').first().click();
	await page.locator('.chain').waitFor();
	await page.waitForFunction(() => /MPI_File_write/.test(document.querySelector('.chain').textContent) && /pwrite/.test(document.querySelector('.chain').textContent),
		undefined, { timeout: PATIENCE_MS });
	await settle(page);
	const down = await chain(page);
	assert.equal(down[0], 'H5Dwrite');
	await checkLook(page, `activity-${mpi}`);
	const fields = await page.$$eval('.fields dt', (names) => names.map((name) => name.textContent));
	for (const name of ['name', 'unique_id', 'ucalid', 'id', 'thread_id', 'cid_pid_nid', 'cid_pid_time', 'cid_id', 'time_start', 'time_stop', 'duration',
		'attributes', 'remote_calls', 'parents', 'error_value'])
		assert(fields.includes(name), name);
	await page.locator('.chain a', { hasText: 'pwrite' }).first().click();
	await page.locator('.chain .self', { hasText: 'pwrite' }).waitFor();
	const up = await chain(page);
	assert.equal(up[0], 'H5Dwrite');
	assert(up.some((name) => name.startsWith('MPI_File_write')) && up.at(-1) === 'pwrite', String(up));
	await page.locator('.chain a').first().click();
	await page.locator('.chain .self', { hasText: 'H5Dwrite' }).waitFor();
}

// First, previous, next, last, and a page by its number.
async function checkPages(page, run)
{
	const current = () => page.getByLabel('Page', { exact: true }).first().inputValue();

	await open(page, `${run}/activities?level=all`);
	assert.equal(await current(), '1');
	for (const [button, expected] of [['Next', '2'], ['Last', /^\d+$/], ['Previous', /^\d+$/], ['First', '1']]) {
		const before = page.url();

		await page.getByRole('button', { name: button }).first().click();
		await page.waitForFunction((old) => location.href !== old, before);
		await settle(page);
		assert.match(await current(), new RegExp(expected));
	}
	await page.getByLabel('Page', { exact: true }).first().fill('3');
	await page.keyboard.press('Enter');
	await page.waitForURL(/offset=200/);
	await settle(page);
	assert.equal(await page.locator('#activities tbody tr td').first().textContent(), '201');
}

// Names are text, and what controls a terminal is visible.
async function checkHostile(page, run)
{
	for (const place of ['/runs', run, `${run}/window?level=all`, `${run}/execution`, `${run}/activities?level=all`]) {
		await open(page, place);
		assert.equal(await page.locator('main img, main script').count(), 0);
	}
	await open(page, `${run}?level=all`);
	const text = await page.locator('#files').textContent();
	assert(text.includes('<img src=x onerror=alert(1)>'), text);
	assert(text.includes('\\x1b[31m'), text);
}

const PAGES = {
	runs: () => '/runs',
	report: (run) => run,
	window: (run) => `${run}/window?from_ns=1000000000&to_ns=3000000000`,
	execution: (run) => `${run}/execution`,
	activities: (run) => `${run}/activities?level=all`,
	compare: (run, other) => `/compare?base=${run.split('/').pop()}&with=${other.split('/').pop()}`,
	settings: () => '/settings',
	missing: () => '/no/such/page',
};

let runs;
await visit('runs', {}, async (page) => {
	runs = await findRuns(page);
	for (const [name, place] of Object.entries(runs))
		assert(place, `the run ${name} is listed`);
	await checkRuns(page);
});
for (const [variant, options] of VARIANTS)
	await visit(variant, options, async (page) => {
		for (const [name, place] of Object.entries(PAGES)) {
			await open(page, place(runs.climate, runs.serial));
			await checkLook(page, `${name}-${variant}`);
		}
	});
await visit('window', {}, (page) => checkWindow(page, runs.climate));
await visit('touch', { viewport: NARROW, hasTouch: true, isMobile: true }, (page) => checkTouch(page, runs.climate));
await visit('filter', {}, (page) => checkFilter(page, runs.climate, 'H5Dwrite'));
for (const [kind, start] of [['SVG', '<svg xmlns'], ['PNG', '\x89PNG'], ['CSV', '']])
	await visit(`saving ${kind}`, {}, (page) => checkSaving(page, runs.climate, kind, start));
await visit('pages', {}, (page) => checkPages(page, runs.climate));
for (const mpi of mpis)
	await visit(mpi, {}, async (page) => {
		await open(page, runs[mpi]);
		await checkLook(page, `report-${mpi}`);
		await checkChain(page, runs[mpi], mpi);
	});
await visit('hostile', {}, (page) => checkHostile(page, runs.hostile));
await visit('themes', {}, async (page) => {
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	await open(page, '/runs');
	const light = await back();
	await page.getByRole('button', { name: 'Dark theme' }).click();
	assert.notEqual(await back(), light);
	await page.reload();
	await page.getByRole('button', { name: 'Light theme' }).click();
	assert.equal(await back(), light);
});
await close();
