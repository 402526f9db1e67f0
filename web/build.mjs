// SPDX-License-Identifier: BSD-3-Clause
// usage: node build.mjs OUTPUT
// Bundles the application into OUTPUT: index.html, and compressed app.js, app.css and licenses.txt. It is run in a copy
// of this folder that has node_modules (see build.cmake).
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { constants, gzipSync } from 'node:zlib';

const [output] = process.argv.slice(2);

if (!output) {
	console.error('usage: node build.mjs OUTPUT');
	process.exit(2);
}
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const result = await build({
	entryPoints: { app: 'src/main.tsx' },
	outdir: output,
	bundle: true,
	minify: true,
	write: false,
	format: 'iife',
	target: ['chrome123', 'firefox120', 'safari17.5'],
	jsx: 'automatic',
	jsxImportSource: 'preact',
	legalComments: 'none',
	logLevel: 'warning',
});

function writeCompressed(name, content)
{
	writeFileSync(path.join(output, `${name}.gz`), gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
}

for (const file of result.outputFiles)
	writeCompressed(path.basename(file.path), file.contents);
/* The bundle contains these packages, whose licenses ask for their text. */
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const licenses = Object.keys(dependencies).map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`);
writeCompressed('licenses.txt', licenses.join('\n\n'));
copyFileSync('src/index.html', path.join(output, 'index.html'));
