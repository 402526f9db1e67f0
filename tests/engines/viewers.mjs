// SPDX-License-Identifier: BSD-3-Clause
// node viewers.mjs NODE_MODULES DIRECTORY FILE...
// Lets speedscope open each file in Chromium and writes what it showed as a line of JSON: the profile and its position
// in the file, and what it reported while reading. DIRECTORY receives screenshots.
import { createRequire } from 'node:module'
import path from 'node:path'

const [modules, directory, ...files] = process.argv.slice(2)
const require = createRequire(path.join(modules, 'viewers.mjs'))
const { chromium } = require('playwright-core')
const viewer = path.join(modules, 'speedscope/dist/release/index.html')
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', timeout: 300000,
	args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--allow-file-access-from-files'] })

for (const file of files) {
	const page = await browser.newPage({ viewport: { width: 1400, height: 700 } }), messages = []

	page.setDefaultTimeout(300000)
	page.on('console', (message) => message.text().includes('WebGL') || messages.push(message.text()))
	page.on('pageerror', (error) => messages.push(String(error)))
	page.on('dialog', (dialog) => { messages.push(dialog.message()); dialog.dismiss() })
	await page.goto(`file://${viewer}`)
	await page.locator('input[type=file]').first().setInputFiles(file)
	await page.getByText('Left Heavy').waitFor()
	await page.screenshot({ path: path.join(directory, `${path.basename(file)}.png`) })
	console.log(JSON.stringify({ shown: await page.evaluate(() => document.body.innerText), messages }))
	await page.close()
}
await browser.close()
