// SPDX-License-Identifier: BSD-3-Clause
// usage: node web.mjs MODULES ADDRESS RUN OUTPUT
// The report page of the run RUN (an id) in Chromium, for bench/web.sh. The server at ADDRESS (with its token) has just been
// started, so that it has no index yet. Measures the time from the navigation to the first chart that shows calls, then
// zooms in by keys until the window has a thousandth of the run, with a step aside after each, and out again, and measures
// from each key to the moment at which no chart or table changes any more. Writes OUTPUT, lines "key value".
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const [modules, address, run, output] = process.argv.slice(2);
const { chromium } = createRequire(path.join(modules, 'web.mjs'))('playwright-core');
const PATIENCE_MS = 300000, ZOOM_STEPS = 15; // 1.6 to the 15th is 1153
const base = address.split('/?')[0];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
const page = await context.newPage(), session = await context.newCDPSession(page);

await session.send('Performance.enable', { timeDomain: 'threadTicks' });
page.setDefaultTimeout(PATIENCE_MS);
// Only the cookie: the browser has nothing of the application in its cache.
await context.request.get(address);

// Marks the first frames after a chart, a chart that has calls, and a quiet page with a complete index.
await page.addInitScript(() => {
	const marks = globalThis.benchMarks = { changed: 0, key: 0 };
	const isBusy = () => document.querySelector('[aria-busy=true], .loading, .progress');
	const hasCalls = () => [...document.querySelectorAll('#functions tbody tr')].length > 0;
	let quiet = 0;
	const watch = () => {
		const now = performance.now();

		if (document.querySelector('.plot canvas'))
			marks.chart ??= now;
		if (marks.chart && hasCalls())
			marks.calls ??= now;
		quiet = isBusy() || !marks.chart ? 0 : quiet + 1;
		marks.isQuiet = quiet > 3;
		requestAnimationFrame(watch);
	};

	new MutationObserver(() => {
		quiet = 0;
		marks.isQuiet = false;
		requestAnimationFrame(() => { marks.changed = performance.now(); });
	}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	addEventListener('keydown', (event) => { marks.key = event.timeStamp; }, true);
	requestAnimationFrame(watch);
});

const isQuiet = () => page.waitForFunction(() => globalThis.benchMarks.isQuiet, undefined, { polling: 10 });

async function firstPaint()
{
	await page.goto(`${base}/runs/${run}`, { waitUntil: 'commit' });
	await page.waitForFunction(() => globalThis.benchMarks.calls, undefined, { polling: 10 });
	const first = await page.evaluate(() => ({ ...globalThis.benchMarks })), used = await cpu();
	await isQuiet();
	return { chart: first.chart, calls: first.calls, cpu: used, complete: await page.evaluate(() => globalThis.benchMarks.changed) };
}

// CPU time of the page's main thread so far, in milliseconds.
async function cpu()
{
	const { metrics } = await session.send('Performance.getMetrics');

	return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
}

// From the key to the frame of the last change; the CPU time includes some frames of waiting.
async function press(key)
{
	const before = page.url(), used = await cpu();

	await page.keyboard.press(key);
	await page.waitForFunction((old) => location.href !== old, before, { polling: 10 });
	await isQuiet();
	return { wall: await page.evaluate(() => globalThis.benchMarks.changed - globalThis.benchMarks.key), cpu: await cpu() - used };
}

const first = await firstPaint();
const times = { zoom: [], pan: [], again: [] };

await page.locator('figure .plot').first().focus();
for (let i = 0; i < ZOOM_STEPS; i++) {
	times.zoom.push(await press('+'));
	times.pan.push(await press(i % 2 ? 'a' : 'd'));
}
// Back through windows that the page has shown, and keeps.
for (let i = 0; i < 5; i++)
	times.again.push(await press(i % 2 ? 'd' : 'a'));
for (let i = 0; i < ZOOM_STEPS; i++)
	times.zoom.push(await press('-'));
await browser.close();

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const figures = { first_chart_ms: first.chart, first_paint_ms: first.calls, first_paint_cpu_ms: first.cpu, complete_ms: first.complete };
for (const [kind, list] of Object.entries(times))
	for (const [suffix, values] of [['', list.map(({ wall }) => wall)], ['_cpu', list.map((time) => time.cpu)]]) {
		figures[`${kind}${suffix}_ms`] = median(values);
		figures[`${kind}_max${suffix}_ms`] = Math.max(...values);
	}
fs.writeFileSync(output, Object.entries(figures).map(([key, value]) => `${key} ${value.toFixed(1)}\n`).join(''));
console.log(`  browser: first chart ${first.chart.toFixed(0)} ms, with calls ${first.calls.toFixed(0)} ms (CPU ${first.cpu.toFixed(0)}), complete ${first.complete.toFixed(0)} ms`);
for (const [kind, list] of Object.entries(times))
	console.log(`  browser: ${kind.padEnd(29)} wall ${figures[`${kind}_ms`].toFixed(1).padStart(8)} max ${figures[`${kind}_max_ms`].toFixed(1).padStart(8)}   CPU`
		+ ` ${figures[`${kind}_cpu_ms`].toFixed(1).padStart(8)} max ${figures[`${kind}_max_cpu_ms`].toFixed(1).padStart(8)} ms`
		+ ` (${list.map(({ wall }) => wall.toFixed(0)).join(' ')})`);
