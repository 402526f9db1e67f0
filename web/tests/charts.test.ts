// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { boxPath, layoutIcicle, mergeFiles } from '../src/charts/icicle_layout';
import { contrastColor, palette, rampColor } from '../src/charts/palette';
import { binAt, perSecond } from '../src/charts/series';
import { sizeClasses } from '../src/charts/size_classes';
import { svgSurface } from '../src/charts/surface';
import { binaryTicks, decimalTicks } from '../src/charts/ticks';
import { fileRange, nearestAccess } from '../src/charts/accesses';
import type { Access, CauseNode } from '../src/lib/types';

const near = (a: number, b: number) => assert(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test('ticks are round numbers in the range', () => {
	assert.deepEqual(decimalTicks(0, 5.3e9, 5), [0, 2e9, 4e9]);
	assert.deepEqual(decimalTicks(0, 1, 5).length, 6);
	assert.deepEqual(binaryTicks(0, 1000, 4), [0, 256, 512, 768]);
	assert.deepEqual(decimalTicks(3, 3, 5), [3]);
});

test('a time belongs to one bin', () => {
	const bins = { from_ns: 100, bin_ns: 10, series: [{ name: 'x', color: '', values: [1, 2, 3] }] };

	assert.deepEqual([99, 100, 109, 110, 129, 130, 141].map((ns) => binAt(bins, ns)), [-1, 0, 0, 1, 2, 2, -1]);
	assert.deepEqual(perSecond([5], 1e8), [50]);
});

test('classes of sizes without calls are left out at both ends', () => {
	const classes = sizeClasses({ edges: [0, 1, 2, 4, 8], reads: [0, 0, 3, 0, 0], writes: [0, 0, 0, 0, 2] });

	assert.deepEqual(classes.map(({ low, high }) => [low, high]), [[2, 4], [4, 8], [8, null]]);
	assert.deepEqual(sizeClasses({ edges: [0, 1], reads: [0, 0], writes: [0, 0] }), []);
});

test('the nearest access is found by time and offset', () => {
	const accesses: Access[] = [[0, 10, 0, 64, 0, 0], [50, 10, 4096, 64, 1, 1]];

	assert.equal(nearestAccess(accesses, { from: 0, to: 100 }, 55, 4000, 8192), accesses[1]);
	assert.equal(nearestAccess([], { from: 0, to: 100 }, 55, 4000, 8192), null);
	assert.deepEqual(fileRange(accesses), { low: 0, high: 4160 });
	assert.deepEqual(fileRange([]), { low: 0, high: 64 });
	assert.deepEqual(fileRange([[0, 1, 1e9, 0, 0, 0]]), { low: 1e9, high: 1e9 + 64 });
});

const node = (id: number, parent: number, name: string, time_ns: number): CauseNode =>
	({ id, parent, function: name, layer: 'POSIX', file: null, calls: 1, errors: 0, bytes_read: 0, bytes_written: 0, time_ns });

test('boxes of an icicle lie within their parents', () => {
	const boxes = layoutIcicle([node(1, 0, 'H5Dwrite', 60), node(2, 0, 'open', 40), node(3, 1, 'pwrite', 45)], null);
	const [write, inner, open] = boxes;

	assert.deepEqual(boxes.map((box) => box.node.function), ['H5Dwrite', 'pwrite', 'open']);
	near(write.width, 0.6);
	near(inner.left, 0);
	near(inner.width, 0.45);
	near(open.left, 0.6);
	assert.deepEqual(boxPath(inner), ['H5Dwrite', 'pwrite']);
});

test('children that overlap widen their parent, and any call can be the root', () => {
	const nodes = [node(1, 0, 'MPI_File_write_all', 10), node(2, 1, 'a', 10), node(3, 1, 'b', 30)];
	const [all] = layoutIcicle(nodes, null), [root, ...rest] = layoutIcicle(nodes, 3);

	near(all.width, 1);
	near(all.children.reduce((sum, child) => sum + child.width, 0), 1);
	near(root.width, 1);
	assert.equal(rest.length, 0);
	assert.deepEqual(layoutIcicle([], null), []);
});

test('calls of one function on several files are one box', () => {
	const merged = mergeFiles([{ ...node(1, 0, 'write', 10), file: '/a' }, { ...node(2, 0, 'write', 20), file: '/b' }, node(3, 2, 'inner', 5), node(4, 1, 'inner', 3)]);

	assert.deepEqual(merged.map(({ id, parent, time_ns, file }) => [id, parent, time_ns, file]), [[1, 0, 30, null], [3, 1, 8, null]]);
});

test('colors are those of the palette', () => {
	const light = palette(false);

	assert.equal(rampColor(light, 0), '#fde725');
	assert.equal(rampColor(light, 1), '#440154');
	assert.equal(palette(true).ramp[0], '#440154');
	assert.equal(contrastColor('#fde725'), '#000000');
	assert.equal(contrastColor('#440154'), '#ffffff');
});

test('an exported picture escapes names', () => {
	const svg = svgSurface(10, 10, '<script>', '#fff');

	svg.text(1, 1, '<img src=x onerror=alert(1)>', { color: '#000' });
	assert(!/<script|<img/.test(svg.toString()));
});
