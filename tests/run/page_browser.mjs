// SPDX-License-Identifier: BSD-3-Clause
// usage: node page_browser.mjs MODULES DIRECTORY PAGE HOSTILE_PAGE
// Opens the pages from file:// in Chromium and checks that it makes no request, logs no error, runs no script of its
// content, can be sorted, filtered, zoomed and used by keyboard, reads well without script, fits narrow screens, and has
// no serious problem of accessibility. MODULES holds npm packages; DIRECTORY receives screenshots.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const [modules, directory, parallel, hostile] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'page_browser.mjs'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { width: 1400, height: 1000 }, NARROW = { width: 390, height: 844 };

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', timeout: 300000,
	args: ['--no-sandbox', '--disable-gpu'] });

// Opens the file in a fresh context; use(page) must leave no error, request or dialog behind.
async function visit(file, options, use)
{
	const context = await browser.newContext({ viewport: WIDE, offline: true, reducedMotion: 'reduce', ...options });
	const page = await context.newPage();
	const address = `file://${path.resolve(file)}`, problems = [];

	page.setDefaultTimeout(300000);
	page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
	page.on('pageerror', (error) => problems.push(String(error)));
	page.on('request', (request) => request.url().split('#')[0] !== address && problems.push(request.url()));
	page.on('dialog', (dialog) => { problems.push(dialog.message()); dialog.dismiss(); });
	await page.goto(address);
	await use(page);
	assert.deepEqual(problems, [], file);
	await context.close();
}

async function checkAccessibility(page, what)
{
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
	const serious = violations.filter((found) => ['serious', 'critical'].includes(found.impact));

	assert.deepEqual(serious.map((found) => `${found.id}: ${found.nodes[0].html}`), [], `axe: ${what}`);
	for (const found of violations)
		console.log(`${what}: ${found.impact}: ${found.id}: ${found.nodes.length} nodes`);
}

async function checkLook(page, file, name)
{
	const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

	assert(overflow <= 0, `${file}, ${name}: ${overflow} pixels too wide`);
	await checkAccessibility(page, `${file}, ${name}`);
	await page.screenshot({ path: path.join(directory, `${path.parse(file).name}-${name}.png`), fullPage: true });
}

const column = (page, index) => page.$$eval('#functions tbody tr', (rows, i) =>
	rows.filter((row) => !row.hidden).map((row) => row.cells[i].dataset.v || row.cells[i].textContent), index);

async function checkTables(page)
{
	const titles = await page.$$eval('#functions thead th', (cells) => cells.map((cell) => cell.textContent));
	const calls = titles.indexOf('calls');
	const button = page.locator('#functions thead button').nth(calls);
	const isSorted = (values, sign) => values.every((value, i) => !i || sign * (value - values[i - 1]) >= 0);

	await button.click();
	assert.equal(await page.locator('#functions th[aria-sort=descending]').count(), 1);
	assert(isSorted((await column(page, calls)).map(Number), -1), 'descending');
	await button.focus();
	await page.keyboard.press('Enter');
	assert(isSorted((await column(page, calls)).map(Number), 1), 'ascending');

	const filter = page.locator('#functions input'), all = (await column(page, 0)).length;

	await filter.fill('write');
	const names = await column(page, 0);
	assert(names.length > 0 && names.length < all && names.every((name) => /write/i.test(name)), String(names));
	await filter.fill('no such function');
	assert.equal((await column(page, 0)).length, 0);
	await filter.fill('');
	assert.equal((await column(page, 0)).length, all);
}

async function checkCopying(page)
{
	const button = page.locator('.copy button').first();

	await button.click();
	await page.locator('.copy button', { hasText: 'Copied' }).first().waitFor();
}

async function checkZoom(page)
{
	const output = page.locator('.range output'), plots = page.locator('.timeline svg.area');
	const boxes = () => plots.evaluateAll((areas) => areas.map((area) => area.getAttribute('viewBox')));

	await plots.first().scrollIntoViewIfNeeded();
	const whole = await boxes(), before = await output.textContent();
	const area = await plots.first().boundingBox();

	await page.mouse.move(area.x + area.width / 4, area.y + area.height / 2);
	await page.mouse.down();
	await page.mouse.move(area.x + area.width / 2, area.y + area.height / 2, { steps: 4 });
	await page.mouse.up();
	const zoomed = await boxes();
	assert(zoomed.every((box, i) => box !== whole[i]), 'all plots are zoomed');
	assert.notEqual(await output.textContent(), before);
	await page.locator('.range button[aria-label="Zoom out"]').focus();
	await page.keyboard.press('ArrowRight');
	assert.notDeepEqual(await boxes(), zoomed);
	await page.keyboard.press('Escape');
	assert.deepEqual(await boxes(), whole);
}

async function checkWithoutScript(page)
{
	assert(await page.locator('h1').isVisible());
	assert.equal(await page.locator('button, input').count(), 0);
	assert.equal(await page.locator('tbody tr').count(), await page.locator('tbody tr:visible').count());
}

async function checkThemes(page)
{
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await back();

	await page.getByRole('button', { name: 'Dark theme' }).click();
	assert.notEqual(await back(), light);
	await page.getByRole('button', { name: 'Light theme' }).click();
	assert.equal(await back(), light);
}

await visit(parallel, {}, async (page) => {
	await checkLook(page, parallel, 'light');
	await checkTables(page);
	await checkCopying(page);
	await checkThemes(page);
	await checkZoom(page);
});
await visit(parallel, { colorScheme: 'dark' }, (page) => checkLook(page, parallel, 'dark'));
await visit(parallel, { viewport: NARROW }, (page) => checkLook(page, parallel, 'narrow'));
await visit(parallel, { javaScriptEnabled: false }, checkWithoutScript);
await visit(hostile, {}, checkTables);
await browser.close();
