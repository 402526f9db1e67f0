// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { clampSpan, dragSpan, panSpan, zoomSpan } from '../src/lib/span';
import { paging } from '../src/lib/pages';
import { sortRows } from '../src/lib/sort';

const whole = { from: 0, to: 1e9 };

test('zooming keeps the chosen position and stays in the run', () => {
	assert.deepEqual(zoomSpan(whole, whole, 2), { from: 25e7, to: 75e7 });
	assert.deepEqual(zoomSpan(whole, whole, 2, 0), { from: 0, to: 5e8 });
	assert.deepEqual(zoomSpan({ from: 0, to: 5e8 }, whole, 0.25), whole);
	const tiny = zoomSpan({ from: 500, to: 600 }, whole, 1000);
	assert.equal(tiny.to - tiny.from, 100);
});

test('panning stops at the ends of the run', () => {
	assert.deepEqual(panSpan({ from: 0, to: 4e8 }, whole, 0.25), { from: 1e8, to: 5e8 });
	assert.deepEqual(panSpan({ from: 6e8, to: 1e9 }, whole, 0.5), { from: 6e8, to: 1e9 });
	assert.deepEqual(clampSpan({ from: -50, to: 2e9 }, whole), whole);
});

test('a drag in any direction selects a window, a click none', () => {
	assert.deepEqual(dragSpan(whole, 0.5, 0.25, 1000), { from: 25e7, to: 5e8 });
	assert.equal(dragSpan(whole, 0.5, 0.501, 1000), null);
	assert.deepEqual(dragSpan(whole, 0.5, 0.51, 1000), { from: 5e8, to: 51e7 });
	assert.equal(dragSpan(whole, 0.5, 0.51, 1000, 12), null);
	assert.deepEqual(dragSpan(whole, -1, 2, 1000), whole);
});

test('pages of a list', () => {
	assert.deepEqual(paging(0, 100, 2350), { page: 1, pages: 24, first: -1, previous: -1, next: 100, last: 2300 });
	assert.deepEqual(paging(2300, 100, 2350), { page: 24, pages: 24, first: 0, previous: 2200, next: -1, last: -1 });
	assert.deepEqual(paging(0, 100, 0), { page: 1, pages: 1, first: -1, previous: -1, next: -1, last: -1 });
	assert.equal(paging(99999, 100, 150).page, 2);
});

test('rows without a value come last in both orders', () => {
	const rows = [{ v: 2 }, { v: null }, { v: 10 }];

	assert.deepEqual(sortRows(rows, (row) => row.v, 'ascending').map((row) => row.v), [2, 10, null]);
	assert.deepEqual(sortRows(rows, (row) => row.v, 'descending').map((row) => row.v), [10, 2, null]);
	assert.deepEqual(sortRows(['rank 10', 'rank 9'], (row) => row, 'ascending'), ['rank 9', 'rank 10']);
});
