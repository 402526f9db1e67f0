// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { csv } from '../src/lib/csv';
import { baseName, shorten, showValue, visible } from '../src/lib/text';
import { escapeXml } from '../src/charts/surface';

test('controls and marks of direction are visible', () => {
	assert.equal(visible('a\u001b[31mb'), 'a\\x1b[31mb');
	assert.equal(visible('one\ntwo\tthree'), 'one\\ntwo\\tthree');
	assert.equal(visible('evil\u202etxt.exe'), 'evil\\u202etxt.exe');
	assert.equal(visible('half \ud800 pair'), 'half \\ud800 pair');
	assert.equal(visible('fine \u{1f600} é'), 'fine \u{1f600} é');
	assert.equal(visible(null), '');
});

test('markup stays text', () => {
	assert.equal(visible('<img src=x>'), '<img src=x>');
	assert.equal(escapeXml('<a b="c">&\''), '&#60;a b=&#34;c&#34;&#62;&#38;&#39;');
});

test('long texts keep both ends', () => {
	const text = shorten('/scratch/climate/run42/output/checkpoint.0010.h5', 24);

	assert.equal(text.length, 24);
	assert(text.startsWith('/scratc') && text.endsWith('checkpoint.0010.h5'.slice(-10)));
	assert.equal(shorten('short', 24), 'short');
	assert.equal(baseName('/a/b/c.h5'), 'c.h5');
	assert.equal(baseName('/a/b/'), 'b/');
});

test('values of any type become text', () => {
	assert.equal(showValue(null), '–');
	assert.equal(showValue(3), '3');
	assert.equal(showValue({ a: [1] }), '{"a":[1]}');
});

test('cells of a CSV file are quoted, and formulas are defused', () => {
	assert.equal(csv(['a', 'b'], [['x,y', 1], ['say "hi"', null]]), 'a,b\n"x,y",1\n"say ""hi""",\n');
	assert.equal(csv(['file'], [['=HYPERLINK(1)'], ['@x'], ['-1+1']]), "file\n'=HYPERLINK(1)\n'@x\n'-1+1\n");
	assert.equal(csv(['n'], [[-1]]), 'n\n-1\n');
});
