// SPDX-License-Identifier: BSD-3-Clause
// Drives the pages about storage targets, node and model with Chromium; started by serve_storage_browser.sh. The argument
// is "empty" for a user who has nothing yet, else "full" (libstorage.sh).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { base, checkLook, close, drag, NARROW, open, programArguments, settle, VARIANTS, visit } from './browser.mjs';

const [kind] = programArguments;
const HOSTILE = '<img src=x onerror=alert(1)>';
/* Follows a link by keyboard: a pointer may miss what a page that is still loading moves. */
async function press(page, selector)
{
	await page.locator(selector).first().focus();
	await page.keyboard.press('Enter');
}

const text = (page, selector) => page.locator(selector).first().textContent();

// Each empty state names the command that fills it.
async function checkEmpty(page)
{
	for (const [place, command] of [['/storage', 'sluice forecast probe'], ['/node', 'sluice run -- PROGRAM'], ['/model', 'sluice model measure']]) {
		await open(page, place);
		assert((await page.locator('.empty').allTextContents()).some((shown) => shown.includes(command)), place);
	}
	await open(page, '/storage');
	assert((await text(page, '#load .empty')).includes('site.database'));
}

// The forecast is what the table says; a target and a window are in the address; the back button works.
async function checkStorage(page)
{
	await open(page, '/storage');
	assert.match(await text(page, '#targets .verdict'), /1 of 5 targets is forecast to be busy for writes of 1\.00 GiB: oss-c\./);
	const useless = page.locator('#targets tbody tr', { hasText: 'oss-d' });
	assert((await useless.textContent()).includes('no better than the majority'));
	assert.equal(await text(page, '#target h2'), 'oss-c', 'the busy target is shown');
	await press(page, '#targets tbody a[href*="target=oss-b"]');
	await page.waitForURL(/target=oss-b/);
	await settle(page);
	assert.equal(await text(page, '#target h2'), 'oss-b');
	const range = await text(page, '.range output');
	await drag(page, page.locator('#target .plot').first(), 0.5, 0.75);
	await page.waitForURL(/from_ns=\d+&to_ns=\d+/);
	await settle(page);
	assert.notEqual(await text(page, '.range output'), range);
	await page.locator('#target .plot').first().focus();
	await page.keyboard.press('ArrowRight');
	assert.match(await text(page, '.tip'), /UTC, for .*mean .*writes?/s);
	await page.keyboard.press('Escape');
	await page.waitForFunction(() => /Whole history/.test(document.querySelector('.range output').textContent));
	await page.goBack();
	await page.goBack();
	await page.waitForURL((url) => !url.search.includes('from_ns'));
	await settle(page);
	assert.equal(await text(page, '.range output'), range);
	await page.locator('#target .filters select').first().selectOption({ label: '1.00 GiB' });
	await page.waitForURL(/bytes=1073741824/);
	await settle(page);
	assert.match(await text(page, '#target figure h3'), /Duration of test writes of 1\.00 GiB/);
	await page.locator('#target .filters select').nth(1).selectOption('bandwidth');
	await page.waitForURL(/of=bandwidth/);
	await page.locator('#target figure h3', { hasText: 'Bandwidth of test writes of 1.00 GiB' }).waitFor();
	await page.locator('#targets .choice select').selectOption('here');
	await page.waitForURL(/system=here/);
	await settle(page);
	assert.match(await text(page, '#targets .empty'), /sluice forecast train --system here/);
	assert.deepEqual(await page.$$eval('#targets tbody th', (cells) => cells.map((cell) => cell.textContent)), ['a', 'b']);
	await open(page, page.url().slice(base.length));
	assert.equal(await page.locator('#targets tbody tr').count(), 2, 'the address alone shows the same');
}

async function checkLoad(page)
{
	await open(page, '/storage');
	const rows = await page.$$eval('#load > .scroll tbody tr', (found) => found.map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)));

	assert.deepEqual(rows, [['4711', 'ann'], [HOSTILE, 'bob']]);
	assert(await page.locator('#jobs tbody tr').count() >= 2);
}

// Anomalies are marked, the window filters all charts, and the run is in the address.
async function checkNode(page)
{
	await open(page, '/node');
	const runs = await page.$$eval('#run select option', (options) => options.map((option) => option.value));

	assert.equal(runs.length, 2);
	assert.match(await text(page, '#run .verdict'), /anomal/);
	await page.locator('#anomalies', { hasText: 'process bad' }).waitFor();
	assert(await page.locator('#run .plots figure').count() >= 4);
	const very = await page.locator('#grades tbody tr', { hasText: 'POSIX pwrite' }).locator('td').nth(1).textContent();
	assert(parseFloat(very) > 50, `very slow calls: ${very}`);
	await drag(page, page.locator('#run .plot').first(), 0.3, 0.6);
	await page.waitForURL(/from_ns=/);
	await settle(page);
	assert.match(await text(page, '#run .range output'), /of the run/);
	await page.locator('#run .filters select').first().selectOption(runs[1]);
	await page.waitForURL(new RegExp(`run=${runs[1]}`));
	await settle(page);
	assert.match(await text(page, '#run .verdict'), /No anomaly/);
	await press(page, '#run .verdict a');
	await page.waitForURL(new RegExp(`/runs/${runs[1]}`));
	await page.locator('h1').waitFor();
	await settle(page);
	await press(page, '.tabs a[href*="/node"]');
	await page.waitForURL(new RegExp(`/node\\?run=${runs[1]}`));
	await page.locator('#site tbody tr', { hasText: 'likely job' }).waitFor();
	assert((await page.locator('#usual tbody tr').count()) > 0);
	assert((await page.locator('#prober figure').count()) >= 3);
}

// The form is filled and submitted by keyboard alone; the address holds the question.
async function checkModel(page)
{
	await open(page, '/model');
	assert((await text(page, '#models tbody')).includes('modelled'));
	assert.match(await text(page, '#accuracy .verdict'), /not calibrated/);
	await page.getByLabel('MPI ranks').focus();
	await page.keyboard.type('512');
	await page.keyboard.press('Tab');
	await page.keyboard.type('256M');
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('Tab');
	await page.keyboard.type('striping_factor=8 striping_unit=8M');
	await page.keyboard.press('Enter');
	await page.waitForURL(/ranks=512&size=256M&params=striping_factor/);
	await page.locator('#answer').waitFor();
	await settle(page);
	assert.match(await text(page, '#answer .verdict'), /^Use .*modelled$/);
	assert.match(await text(page, '#answer .copy pre'), /^sluice model recommend -n 512 -s 256M --param striping_factor=8 --param striping_unit=8M -o best\.hints$/);
	const rows = await page.$$eval('#answer tbody tr', (found) => found.map((row) => [...row.cells].map((cell) => cell.textContent)));
	assert.equal(rows[0][0], 'current settings');
	assert(rows.length > 5 && rows.every(([, , interval]) => / to /.test(interval)), JSON.stringify(rows));
	await open(page, page.url().slice(base.length));
	assert.deepEqual(await page.$$eval('#answer tbody tr', (found) => found.map((row) => [...row.cells].map((cell) => cell.textContent))), rows);
	await page.locator('#accuracy .plot').focus();
	await page.keyboard.press('ArrowRight');
	assert.match(await text(page, '.tip'), /predicted .*measured/s);
	await page.getByLabel('Pattern').selectOption('strided');
	await page.getByLabel('Bytes of a block').fill('4K');
	await page.getByLabel('MPI ranks').fill('');
	await page.locator('.access button').click();
	assert(page.url().includes('ranks=512'), 'an incomplete form is not sent');
	const measured = '#models tbody a[href*="model=here.model"]';
	if (await page.locator(measured).count()) {
		await press(page, measured);
		await page.waitForURL(/model=here\.model/);
		await page.locator('#accuracy .figures').waitFor();
		await settle(page);
		assert.match(await text(page, '#accuracy .verdict'), /prediction interval/);
		assert((await page.locator('#accuracy .figures').textContent()).includes('held out'));
	}
}

async function checkSaving(page, place, count)
{
	for (const [file, start] of [['SVG', '<svg xmlns'], ['PNG', '\x89PNG'], ['CSV', '']]) {
		await open(page, place);
		const buttons = page.locator('figure .exports button', { hasText: file });

		assert.equal(await buttons.count(), count, place);
		for (let i = 0; i < count; i++) {
			const [download] = await Promise.all([page.waitForEvent('download'), buttons.nth(i).click()]);
			const content = fs.readFileSync(await download.path(), 'latin1');

			assert(content.startsWith(start) && content.length > 40 && !/NaN/.test(file === 'SVG' ? content : ''), `${file} of ${place}`);
		}
	}
}

// Names are text everywhere.
async function checkHostile(page)
{
	await open(page, `/storage?target=${encodeURIComponent(HOSTILE)}`);
	assert.equal(await text(page, '#target h2'), HOSTILE);
	assert.equal(await page.locator('main img, main script').count(), 0);
	for (const place of ['/storage', '/node', '/model']) {
		await open(page, place);
		assert.equal(await page.locator('main img, main script').count(), 0);
	}
}

if (kind === 'empty') {
	await visit('empty', {}, checkEmpty);
	for (const [variant, options] of [VARIANTS[0], ['narrow', { viewport: NARROW }]])
		await visit(variant, options, async (page) => {
			for (const place of ['storage', 'node', 'model']) {
				await open(page, `/${place}`);
				await checkLook(page, `empty-${place}-${variant}`);
			}
		});
} else {
	const PAGES = {
		storage: '/storage', target: `/storage?target=oss-b`, probed: '/storage?system=here', node: '/node', model: '/model',
		recommend: '/model?ranks=512&size=256M&params=striping_factor%3D8+striping_unit%3D8M', calibrated: '/model?model=here.model&ranks=2&size=512K&pattern=strided&block=4K',
	};

	for (const [variant, options] of VARIANTS)
		await visit(variant, options, async (page) => {
			for (const [name, place] of Object.entries(PAGES)) {
				await open(page, place);
				await checkLook(page, `${name}-${variant}`);
			}
		});
	await visit('storage', {}, checkStorage);
	await visit('load', {}, checkLoad);
	await visit('node', {}, checkNode);
	await visit('model', {}, checkModel);
	await visit('saving storage', {}, (page) => checkSaving(page, '/storage', 2));
	await visit('saving model', {}, (page) => checkSaving(page, '/model', 1));
	await visit('hostile', {}, checkHostile);
}
await close();
