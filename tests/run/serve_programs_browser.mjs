// SPDX-License-Identifier: BSD-3-Clause
// usage: node serve_programs_browser.mjs MODULES DIRECTORY ADDRESS [empty] (see browser.mjs)
// Opens the pages about programs over time, and edits tags. Checks that the program that changed is marked, with the run at
// which it changed and what changed there; that no change is claimed for the one that did not; that a window of runs and the
// group of comparable runs are in the address; that a click and keys open runs; that charts can be saved; that tags are
// given, removed and used as a filter; that names are text; and that the pages have no serious problem of accessibility and
// fit narrow screens. With "empty", there are no runs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { base, checkLook, close, drag, open, programArguments, settle, VARIANTS, visit } from './browser.mjs';

// The program reads nothing, which needs no chart.
const HOSTILE = '<i>x<!--', CHARTS = 5;
const row = (page, name) => page.locator('tbody tr', { has: page.locator('th', { hasText: name }) });
const marks = (page) => page.locator('#trend figure .plot');
const shownRuns = (page) => page.locator('#trend .range output').textContent();

async function checkList(page)
{
	await open(page, '/programs');
	await page.locator('nav a[aria-current=page]', { hasText: 'Programs' }).waitFor();
	assert.match(await row(page, 'writer').textContent(), /regression.*instead of .*times.* since/);
	assert.match(await row(page, HOSTILE).textContent(), /too few runs/);
	/* Eight runs are too few for a shift of times at the level of one measure, and their counts are equal. */
	assert.equal(await row(page, 'steady').locator('.chip').textContent(), 'steady');
	assert.match(await page.locator('.verdict').textContent(), /^1 program of 3 regressed: writer/);
	await page.getByRole('link', { name: 'writer' }).click();
	await page.waitForURL(/\/programs\/writer$/);
	await page.locator('#changes .finding').first().waitFor();
}

// The change is shown with the number of calls, which is exact, and with the build and the variable that differ.
async function checkRegression(page)
{
	await open(page, '/programs/writer');
	const change = page.locator('#changes .finding', { hasText: 'Calls' });

	assert.match(await page.locator('#verdict').textContent(), /^Regression since .*instead of/);
	await change.getByText('What changed between the two runs').waitFor();
	assert.match(await change.textContent(), /Calls 162 instead of 10 \(16\.2 times\)/);
	assert.match(await change.textContent(), /the same in all 6 runs before and 6 since/);
	const conditions = await change.locator('.conditions tbody tr').allTextContents();
	assert.equal(conditions.length, 2, String(conditions));
	assert.match(conditions[0], /^binary program/);
	assert.match(conditions[1], /HDF5_USE_FILE_LOCKING environmentnot setFALSE/);
	const layer = await change.locator('table').last().locator('tbody tr').first().textContent();
	assert.match(layer, /^POSIX10162/);
	await change.getByRole('link', { name: 'Compare both in detail' }).click();
	await page.waitForURL(/\/compare\?base=.*with=/);
	await page.locator('#totals tbody tr').first().waitFor();
	await page.goBack();
	await page.locator('#changes .finding').first().waitFor();
}

async function checkSteady(page)
{
	await open(page, '/programs/steady');
	assert.equal(await page.locator('#changes li', { hasText: /^(Calls|Read|Written)/ }).count(), 0);
	assert.equal(await page.locator('#runs tbody tr').count(), 9);
}

// A drag shows some of the runs in all charts and in the table; keys do the same; going back undoes it.
async function checkWindow(page)
{
	await open(page, '/programs/writer');
	assert.equal(await marks(page).count(), CHARTS);
	assert.equal(await shownRuns(page), 'All 12 runs');
	await drag(page, marks(page).nth(3), 0.55, 0.95);
	await page.waitForURL(/first=[0-9a-f]+/);
	const some = await shownRuns(page), count = await page.locator('#runs tbody tr').count();
	assert.match(some, /^Runs \d+ to \d+ of 12$/);
	assert(count > 1 && count < 12);
	await open(page, page.url().slice(base.length));
	assert.equal(await shownRuns(page), some);
	await page.getByRole('button', { name: 'All runs' }).click();
	await page.waitForURL((url) => !url.search.includes('first'));
	assert.equal(await page.locator('#runs tbody tr').count(), 12);
	await page.goBack();
	await page.waitForURL(/first=/);
	await marks(page).first().focus();
	await page.keyboard.press('Escape');
	await page.waitForURL((url) => !url.search.includes('first'));
	await marks(page).first().focus();
	for (let i = 0; i < 4; i++)
		await page.keyboard.press('Shift+ArrowRight');
	await page.keyboard.press('Enter');
	await page.waitForURL(/first=.*last=/);
	assert.match(await shownRuns(page), /^Runs \d+ to \d+ of 12$/);
}

// A click on a mark opens its run, and Enter does the same at the cursor, which shows exact values.
async function checkOpening(page)
{
	await open(page, '/programs/writer');
	const runs = await page.$$eval('#runs tbody th a', (links) => links.map((link) => new URL(link.href).pathname));
	const plot = marks(page).nth(3), box = await plot.boundingBox();

	await plot.scrollIntoViewIfNeeded();
	await plot.click({ position: { x: box.width - 30, y: box.height / 2 } });
	await page.waitForURL(/\/runs\/[0-9a-f]+$/);
	assert.equal(new URL(page.url()).pathname, runs[0], 'the newest run is at the right');
	await page.getByRole('link', { name: 'All runs of writer' }).click();
	await page.waitForURL(/\/programs\/writer$/);
	await settle(page);
	await marks(page).nth(3).focus();
	for (let i = 0; i < 12; i++)
		await page.keyboard.press('ArrowLeft');
	assert.match(await page.locator('.tip').textContent(), /^Calls 10/);
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/runs\/[0-9a-f]+$/);
	assert.equal(new URL(page.url()).pathname, runs[11], 'the oldest run is at the left');
}

async function checkGroups(page)
{
	await open(page, '/programs/writer');
	const choice = page.getByLabel('Comparable runs');

	assert.equal(await choice.locator('option').count(), 3);
	await choice.selectOption('all');
	await page.waitForURL(/group=all/);
	await page.waitForFunction(() => /not compared/.test(document.querySelector('#verdict').textContent));
	assert.equal(await page.locator('#changes .finding').count(), 0);
	assert.equal(await page.locator('#runs tbody tr').count(), 14);
	await choice.selectOption({ label: (await choice.locator('option').allTextContents()).find((text) => text.startsWith('writer 16 ')) });
	await page.waitForURL(/group=[0-9a-f]+/);
	await page.waitForFunction(() => /Too few runs/.test(document.querySelector('#verdict').textContent));
	await page.goBack();
	await page.goBack();
	await page.waitForFunction(() => /Regression/.test(document.querySelector('#verdict').textContent));
}

async function checkSaving(page, kind, start)
{
	await open(page, '/programs/writer');
	const buttons = page.locator('figure .exports button', { hasText: kind });

	assert.equal(await buttons.count(), CHARTS);
	for (let i = 0; i < CHARTS; i++) {
		const [download] = await Promise.all([page.waitForEvent('download'), buttons.nth(i).click()]);
		const text = fs.readFileSync(await download.path(), 'latin1');

		assert(text.startsWith(start) && text.length > 40, `${kind} of figure ${i}: ${text.slice(0, 40)}`);
		if (kind === 'CSV')
			assert.equal(text.trim().split('\n').length, 13);
	}
}

// By keyboard alone: the run gets tags, one that is not a word is refused, one is removed, and the list is filtered by one.
async function checkTags(page)
{
	await open(page, '/runs?search=writer+8');
	await page.locator('table.runs tbody tr').first().getByRole('link', { name: 'writer' }).click();
	await page.locator('#verdict').waitFor();
	await settle(page);
	await page.getByRole('button', { name: 'Edit the tags of this run' }).focus();
	await page.keyboard.press('Enter');
	await page.locator('.run-head .tags input:focus').waitFor();
	await page.keyboard.type('nightly slow');
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'Remove the tag nightly' }).waitFor();
	await page.getByRole('button', { name: 'Remove the tag slow' }).press('Enter');
	await page.waitForFunction(() => !/slow/.test(document.querySelector('.run-head .tags').textContent));
	await page.getByRole('button', { name: 'Done' }).press('Enter');
	await page.getByRole('link', { name: 'nightly' }).click();
	await page.waitForURL(/\/runs\?tag=nightly$/);
	await page.waitForFunction(() => document.querySelectorAll('table.runs tbody tr').length === 1);
	await page.reload();
	await settle(page);
	assert.equal(await page.locator('table.runs tbody tr').count(), 1);
	await page.getByRole('button', { name: 'Remove the filter: tag nightly' }).click();
	await page.waitForFunction(() => document.querySelectorAll('table.runs tbody tr').length > 10);
	await page.goBack();
	await page.waitForFunction(() => document.querySelectorAll('table.runs tbody tr').length === 1);
	/* In the table */
	await page.getByRole('button', { name: /^Edit the tags of writer/ }).click();
	await page.getByLabel(/^New tag of writer/).fill('v2');
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: 'Remove the tag v2' }).waitFor();
	await page.keyboard.press('Escape');
	await page.locator('table.runs a.tag', { hasText: 'v2' }).waitFor();
	assert.match(await page.locator('table.runs tbody tr').first().textContent(), /nightly/);
}

// That a change failed is shown. The answer is broken on its way, because a status of failure would be an error here.
async function checkRefusal(page)
{
	await open(page, '/runs?search=steady');
	await page.getByRole('button', { name: /^Edit the tags of steady/ }).first().click();
	await page.route('**/tags', (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '{' }));
	await page.getByLabel(/^New tag of steady/).fill('word');
	await page.keyboard.press('Enter');
	await page.locator('.tag-error').waitFor();
}

async function checkHostile(page)
{
	await open(page, '/programs');
	assert.equal(await page.locator('main i, main img, main script').count(), 0);
	await page.getByRole('link', { name: HOSTILE }).click();
	await page.waitForURL(/\/programs\/%3Ci%3Ex/);
	await settle(page);
	assert.equal(await page.locator('h1').textContent(), HOSTILE);
	assert.equal(await page.locator('main i, main img, main script').count(), 0);
	await open(page, page.url().slice(base.length));
	assert.equal(await page.locator('h1').textContent(), HOSTILE);
}

const PAGES = { programs: '/programs', program: '/programs/writer', 'program-steady': '/programs/steady', 'program-all': '/programs/writer?group=all', runs: '/runs' };

if (programArguments.includes('empty')) {
	await visit('empty', {}, async (page) => {
		await open(page, '/programs');
		await page.locator('.empty', { hasText: 'sluice run' }).waitFor();
		await checkLook(page, 'programs-empty');
	});
} else {
	await visit('list', {}, checkList);
	await visit('regression', {}, checkRegression);
	await visit('steady', {}, checkSteady);
	await visit('window', {}, checkWindow);
	await visit('opening', {}, checkOpening);
	await visit('groups', {}, checkGroups);
	for (const [kind, start] of [['SVG', '<svg xmlns'], ['PNG', '\x89PNG'], ['CSV', 'run,started']])
		await visit(`saving ${kind}`, {}, (page) => checkSaving(page, kind, start));
	await visit('tags', {}, checkTags);
	await visit('refusal', {}, checkRefusal);
	await visit('hostile', {}, checkHostile);
	for (const [variant, options] of VARIANTS)
		await visit(variant, options, async (page) => {
			for (const [name, place] of Object.entries(PAGES)) {
				await open(page, place);
				await checkLook(page, `${name}-${variant}`);
			}
			/* The table of runs fits a usual window. */
			if (variant !== 'narrow')
				assert(await page.$eval('.scroll.tall', (element) => element.scrollWidth <= element.clientWidth), 'the table of runs is too wide');
		});
}
await close();
