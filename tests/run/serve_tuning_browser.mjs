// SPDX-License-Identifier: BSD-3-Clause
// usage: node serve_tuning_browser.mjs MODULES DIRECTORY ADDRESS empty | follow HOLD | stop HOLD | looks (see browser.mjs)
// Opens the pages about tunings and the knowledge base. Checks that pages without data name the command that fills them;
// that a tuning that runs is followed to its verdict without loading the page again; that a tuning is stopped and resumed
// by its buttons; that a range of an axis filters the page, is in the address and undone by going back; that charts can be
// saved; that names are text; and that all of it can be used by keyboard, without serious problems of accessibility, also
// on narrow screens. Tuning 2, which is followed, and tuning 3, which is stopped, wait until their file HOLD is removed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { base, checkLook, close, open, programArguments, settle, VARIANTS, visit } from './browser.mjs';

const PAGES = { tunings: '/tunings', knowledge: '/knowledge' };

async function checkEmpty()
{
	for (const [variant, options] of VARIANTS)
		await visit(`empty ${variant}`, options, async (page) => {
			for (const [name, place] of Object.entries(PAGES)) {
				await open(page, place);
				assert.match(await page.locator('.empty pre').textContent(), /^sluice tune -- /);
				await checkLook(page, `${name}-empty-${variant}`);
			}
		});
}

const verdict = (page) => page.locator('#verdict p').first();
const state = (page) => page.locator('.run-head .chip').textContent();
const runCount = async (page) => Number((await page.locator('#trials output').textContent()).replace(/\D/g, ''));
const waitForState = (page, wanted) => page.waitForFunction((word) => document.querySelector('.run-head .chip')?.textContent === word, wanted);

// The figures of the page are those of the API.
async function answer(page, place)
{
	return page.evaluate(async (url) => (await fetch(url)).json(), `${base}/api/v1${place}`);
}

// The page that was loaded while the tuning ran shows each further run, and ends with the verdict of the tuner.
async function checkFollowing(page, id, hold)
{
	await open(page, `/tunings/${id}`);
	assert.equal(await state(page), 'running');
	assert.match(await verdict(page).textContent(), /Nothing is proven/);
	assert.equal(await page.locator('.proven').count(), 0, 'no gain is claimed while it runs');
	await checkLook(page, 'tuning-running-light');
	const before = await runCount(page);
	await page.evaluate(() => { globalThis.isSamePage = true; });
	fs.rmSync(hold);
	await page.waitForFunction((count) => Number(document.querySelector('#trials output').textContent.replace(/\D/g, '')) > count, before);
	await waitForState(page, 'finished');
	const outcome = await answer(page, `/tunings/${id}/outcome`), tuning = await answer(page, `/tunings/${id}`);
	await page.waitForFunction((text) => document.querySelector('#verdict p')?.textContent === text, outcome.verdict);
	assert(await page.evaluate(() => globalThis.isSamePage), 'the page was not loaded again');
	assert.equal(await runCount(page), tuning.runs.length);
	assert.equal(await page.locator('.copy', { hasText: '--tune=apply' }).count(), outcome.apply ? 1 : 0);
	if (tuning.gain === null)
		assert.equal(await page.locator('.verdict.proven').count(), 0, 'no gain is claimed without a proof');
}

async function checkStopping(page, id, hold)
{
	await open(page, `/tunings/${id}`);
	await page.getByRole('button', { name: 'Stop' }).focus();
	await page.keyboard.press('Enter');
	await waitForState(page, 'interrupted');
	await page.getByRole('button', { name: 'Resume' }).waitFor();
	await page.waitForFunction(() => /^unfinished/.test(document.querySelector('#verdict p')?.textContent));
	await settle(page);
	await checkLook(page, 'tuning-interrupted-light');
	assert.equal(await page.locator('.copy pre').textContent(), `sluice tune --resume --tuning ${id}`);
	await page.getByRole('button', { name: 'Resume' }).click();
	await waitForState(page, 'running');
	fs.rmSync(hold);
	await waitForState(page, 'finished');
	await page.locator('.output summary').click();
	assert.match(await page.locator('.output pre').textContent(), /runs in total/);
}

const texts = (page, column) => page.$$eval('#trials tbody tr', (rows, at) => rows.map((row) => row.cells[at].textContent), column);

async function checkBrushing(page, id)
{
	await open(page, `/tunings/${id}`);
	const all = await runCount(page), axis = page.locator('.axis').first();

	await axis.scrollIntoViewIfNeeded();
	const box = await axis.boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.3);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2, box.y + 4, { steps: 5 });
	await page.mouse.up();
	await page.waitForURL(/d0=\d+\.\.\d+/);
	const some = await runCount(page);
	assert(some < all && some > 0, `${some} of ${all} runs`);
	await open(page, page.url().slice(base.length));
	assert.equal(await runCount(page), some, 'the address alone shows the same');
	await page.getByRole('button', { name: 'Show all trials' }).click();
	assert.equal(await runCount(page), all);
	await page.goBack();
	await page.waitForURL(/d0=/);
	assert.equal(await runCount(page), some);
	await page.locator('.axis').first().focus();
	await page.keyboard.press('Escape');
	await page.waitForURL((url) => !url.search.includes('d0='));
	await page.keyboard.press('ArrowUp');
	await page.waitForURL(/d0=0\.\.0/);
	await page.keyboard.press('Shift+ArrowUp');
	await page.waitForURL(/d0=0\.\.1/);
	await page.keyboard.press('Escape');
	await page.waitForURL((url) => !url.search.includes('d0='));
	await page.locator('.axis').last().focus();
	await page.keyboard.press('ArrowUp');
	await page.waitForURL(/cost=/);
	const filtered = await texts(page, 3);
	assert(filtered.length > 0 && filtered.every((text) => text !== '–'), 'only runs with a cost');
	await checkLook(page, 'tuning-filtered-light');
	await page.getByRole('button', { name: 'Show all trials' }).click();
	await page.mouse.move(0, 0);
	await page.locator('figure .plot').first().focus();
	await page.keyboard.press('ArrowRight');
	await page.locator('.tip').first().waitFor();
}

// Chromium permits ten downloads of a page in quick succession.
async function checkSaving(page, id)
{
	await open(page, `/tunings/${id}`);
	for (const [kind, start] of [['SVG', '<svg xmlns'], ['PNG', '\x89PNG'], ['CSV', '']]) {
		const buttons = page.locator('figure .exports button', { hasText: kind });

		assert.equal(await buttons.count(), 3);
		for (let i = 0; i < 3; i++) {
			const [download] = await Promise.all([page.waitForEvent('download'), buttons.nth(i).click()]);
			const text = fs.readFileSync(await download.path(), 'latin1');

			assert(text.startsWith(start) && text.length > 40, `${kind} ${i}: ${text.slice(0, 40)}`);
			assert(!text.includes('<img') && !text.includes('<script'), 'names are text');
		}
	}
}

async function checkLists(page)
{
	await open(page, '/tunings');
	await page.getByLabel('Filter the table: Tunings').fill('vpic');
	await page.waitForURL(/search=vpic/);
	assert.equal(await page.locator('tbody tr').count(), 1);
	await open(page, '/knowledge?search=vpic&sort=ranks&order=descending');
	assert.equal(await page.locator('tbody tr').count(), 1);
	await page.locator('tbody th a').click();
	await page.waitForURL(/entry=\d+/);
	await page.locator('#entry').waitFor();
	assert.match(await page.locator('#entry .incomplete').textContent(), /not been applied since .*: 3 runs took longer than <b>all<\/b>/);
	await page.locator('#entry a', { hasText: 'tuning' }).click();
	await page.waitForURL(/\/tunings\/1$/);
	await page.goBack();
	await page.locator('#entry').waitFor();
}

async function checkHostile(page)
{
	await open(page, '/tunings');
	assert(await page.locator('tbody th a', { hasText: '<img src=x onerror=alert(1)>' }).count() >= 2);
	await open(page, '/tunings/2');
	await page.getByLabel('Filter the table: tuning-2 runs').fill('alert(2)');
	assert.match(await page.locator('#trials tbody').textContent(), /<script>alert\(2\)/);
	assert.equal(await page.locator('main img, main script').count(), 0);
	await open(page, '/knowledge');
	assert.equal(await page.locator('main img, main script').count(), 0);
}

async function checkLooks()
{
	const places = { ...PAGES, tuning: '/tunings/1', 'tuning-real': '/tunings/2', entry: '/knowledge?entry=1' };

	await visit('brushing', {}, (page) => checkBrushing(page, 1));
	await visit('saving', {}, (page) => checkSaving(page, 1));
	await visit('lists', {}, checkLists);
	await visit('hostile', {}, checkHostile);
	for (const [variant, options] of VARIANTS)
		await visit(variant, options, async (page) => {
			for (const [name, place] of Object.entries(places)) {
				await open(page, place);
				await checkLook(page, `${name}-${variant}`);
			}
		});
}

const [part, hold] = programArguments;
const parts = {
	empty: checkEmpty,
	follow: () => visit('following', {}, (page) => checkFollowing(page, 2, hold)),
	stop: () => visit('stopping', {}, (page) => checkStopping(page, 3, hold)),
	looks: checkLooks,
};

await parts[part]();
await close();
