// SPDX-License-Identifier: BSD-3-Clause
// What tests of `sluice serve` in Chromium share. They are started as: node TEST.mjs MODULES DIRECTORY ADDRESS [ARGUMENT]...
// MODULES holds npm packages; DIRECTORY receives screenshots; ADDRESS is that of the server, with its token.
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const [modules, directory, address] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'browser.mjs'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
export const PATIENCE_MS = 300000;
// Without this limit it is 30 s, which a loaded machine may need.
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', '--disable-gpu'], timeout: PATIENCE_MS });

export const WIDE = { width: 1280, height: 900 }, NARROW = { width: 390, height: 844 };
// How each page is looked at: name of the variant, options of the browser.
export const VARIANTS = [['light', {}], ['dark', { colorScheme: 'dark' }], ['narrow', { viewport: NARROW }]];
export const base = address.split('/?')[0], basePath = new URL(base).pathname.replace(/\/$/, '');
export const programArguments = process.argv.slice(5);

// Opens a page in a fresh context that has the cookie; use(page) must leave no error, foreign request or dialog behind.
export async function visit(what, options, use)
{
	const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', acceptDownloads: true, ...options });
	const page = await context.newPage(), problems = [];

	page.setDefaultTimeout(PATIENCE_MS);
	page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
	page.on('pageerror', (error) => problems.push(String(error.stack)));
	page.on('request', (request) => /^(data|blob):/.test(request.url()) || request.url().startsWith(`${base}/`) || problems.push(request.url()));
	page.on('response', (response) => response.status() < 400 || problems.push(`${response.status()} ${response.url()}`));
	page.on('dialog', (dialog) => { problems.push(dialog.message()); dialog.dismiss(); });
	await page.goto(address);
	assert(!page.url().includes('token'), 'the token does not stay in the address');
	await use(page);
	assert.deepEqual(problems, [], what);
	await context.close();
}

// For some frames nothing is loading, and the index of the run is complete: an answer may lead to further requests.
export async function settle(page)
{
	await page.evaluate(() => new Promise((resolve) => {
		let quiet = 0;
		const check = () => {
			quiet = document.querySelector('[aria-busy=true], .loading, .progress') ? 0 : quiet + 1;
			if (quiet > 12)
				resolve();
			else
				requestAnimationFrame(check);
		};

		check();
	}));
}

export async function open(page, place)
{
	await page.goto(base + place);
	await page.locator('h1').waitFor();
	await settle(page);
	assert.equal(await page.locator('.failure').count(), 0, `${place}: ${await page.locator('.failure').allTextContents()}`);
}

export async function checkAccessibility(page, what)
{
	await page.evaluate(axe);
	// Describing what is in order takes half of the time.
	const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
	const serious = violations.filter((found) => ['serious', 'critical'].includes(found.impact));

	assert.deepEqual(serious.map((found) => `${found.id}: ${found.nodes[0].html}`), [], `axe: ${what}`);
}

export async function checkLook(page, name)
{
	const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

	assert(overflow <= 0, `${name}: ${overflow} pixels too wide`);
	await checkAccessibility(page, name);
	await page.screenshot({ path: path.join(directory, `${name}.png`), fullPage: true });
}

export async function drag(page, plot, from, to)
{
	await plot.scrollIntoViewIfNeeded();
	const box = await plot.boundingBox(), y = box.y + box.height / 2;

	await page.mouse.move(box.x + box.width * from, y);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * to, y, { steps: 5 });
	await page.mouse.up();
}

export const close = () => browser.close();
