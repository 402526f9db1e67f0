// SPDX-License-Identifier: BSD-3-Clause
// usage: node serve_site_browser.mjs MODULES DIRECTORY ADDRESS (see browser.mjs)
// Opens the pages of the server of a site as the user alice. Checks that the list has her runs only and nothing that the
// server of a site lacks; that a run shows its sums and findings; that anomalies and loads are shown; that names are text;
// and that pages have no serious problem of accessibility and fit narrow screens.
import assert from 'node:assert/strict';
import { basePath, checkLook, close, open, settle, VARIANTS, visit } from './browser.mjs';

const login = { extraHTTPHeaders: { Authorization: `Basic ${Buffer.from('alice:secret').toString('base64')}` } };

for (const [variant, options] of VARIANTS) {
	await visit(variant, { ...login, ...options }, async (page) => {
		await open(page, '/runs');
		const rows = page.locator('table.runs tbody tr');
		assert.equal(await rows.count(), 2);
		assert.equal(await page.getByText('of-bob').count(), 0);
		assert.equal(await page.locator('table.runs input[type=checkbox]').count(), 0);
		assert.deepEqual(await page.locator('nav a').allTextContents(), ['Runs', 'Site']);
		await checkLook(page, `runs-${variant}`);

		const hostile = await rows.filter({ hasText: 'onerror' }).locator('th a').getAttribute('href');
		await rows.filter({ hasText: 'climate' }).locator('th a').click();
		await page.locator('#layers tbody tr').first().waitFor();
		await settle(page);
		assert((await page.locator('#layers tbody th').allTextContents()).includes('POSIX'));
		assert(await page.locator('#findings article').count() > 0, 'findings');
		assert(await page.locator('#members tbody tr').count() > 1, 'ranks');
		assert.equal(await page.locator('#files img').count(), 0);
		await checkLook(page, `run-${variant}`);
		await page.goBack();
		await rows.first().waitFor();

		await open(page, hostile.slice(basePath.length));
		assert((await page.locator('#files').textContent()).includes('<img src=x onerror=alert(1)>'), 'a name is text');

		await open(page, '/site');
		assert.equal(await page.locator('#anomalies tbody tr').count(), 2);
		assert((await page.locator('#anomalies').textContent()).includes('<b>slow</b>'));
		assert.equal(await page.locator('#loads tbody tr').count(), 1);
		await checkLook(page, `site-${variant}`);
	});
}
await close();
