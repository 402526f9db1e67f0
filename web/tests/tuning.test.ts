// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { importanceBars } from '../src/charts/importance_bars';
import { formatTimeTick, logRange, logShare, logTicks, logTimeTicks, logValue } from '../src/charts/log_scale';
import { axisX, brushBox, brushRange, nearestTrial, parallelFrame, stepRange, trialLine, trialsOf, valueY } from '../src/charts/parallel_layout';
import { bestSoFar, comparedWord, describeRange, formatCost, formatGain, hasBrush, isLeft, mergeRuns, parseBrushes, rangeText } from '../src/lib/tuning';
import type { Dimension, TuningRun } from '../src/lib/tuning_types';

const near = (a: number, b: number) => assert(Math.abs(a - b) < 1e-9 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

const space: Dimension[] = [
	{ name: 'block', layer: 'command', help: '', ordered: true, values: ['512', '4096', '65536'] },
	{ name: 'hint', layer: 'mpi', help: '', ordered: false, values: [null, 'a'] },
];

function run(number: number, cost: number | null, more: Partial<TuningRun> = {}): TuningRun {
	return {
		number, cost, phase: 'search', state: cost === null ? 'failed' : 'good', baseline: false, run_s: 1, io_s: 1, read_bytes: 0, write_bytes: 0,
		foreign: null, parameters: 'block=512', values: [number % 3, number % 2], effective: null, compared: null, reason: null, begun_ns: 0, ...more,
	};
}

test('costs are times, or rates if the objective is a bandwidth', () => {
	assert.equal(formatCost('io', 0.0284), '28.4 ms');
	assert.equal(formatCost('write', 1 / (350 * 2 ** 20)), '350 MiB/s');
	assert.equal(formatCost('io', null), '–');
});

test('a gain without a proof is not a number', () => {
	assert.equal(formatGain({ gain: null, gain_low: null, gain_high: null }), '–');
	assert.equal(formatGain({ gain: 3.849, gain_low: 3, gain_high: 5 }), '3.85 × (3.00 to 5.00)');
	assert.equal(formatGain({ gain: 2, gain_low: 2, gain_high: 2 }), '2.00 ×');
});

test('how data was compared is a word', () => {
	assert.equal(comparedWord('identical: 2 files, 1.50 GiB'), 'identical');
	assert.equal(comparedWord(null), '–');
});

test('the best so far ignores failures, the confirmation, and runs without recording', () => {
	const runs = [
		run(1, 10, { phase: 'default', baseline: true }), run(2, 4), run(3, null), run(4, 6), run(5, 1, { phase: 'proof' }),
		run(6, 0.5, { phase: 'unrecorded' }), run(7, 3),
	];

	assert.deepEqual(bestSoFar(runs), [{ number: 1, cost: 10 }, { number: 2, cost: 4 }, { number: 4, cost: 4 }, { number: 7, cost: 3 }]);
});

test('runs that a stream sends twice are merged', () => {
	assert.deepEqual(mergeRuns([run(1, 1), run(2, 2)], [run(3, 3), run(2, 5)]).map(({ number, cost }) => [number, cost]), [[1, 1], [2, 5], [3, 3]]);
});

test('ranges of axes survive the address, and nonsense selects everything', () => {
	const brushes = parseBrushes(`?d0=${rangeText({ low: 1, high: 2 })}&cost=${encodeURIComponent(rangeText({ low: 1e-7, high: 0.25 }))}`, space);

	assert.deepEqual(brushes, { dimensions: [{ low: 1, high: 2 }, null], cost: { low: 1e-7, high: 0.25 } });
	assert(hasBrush(brushes));
	for (const nonsense of ['', '?d0=', '?d0=3..1', '?d0=a..b', '?d0=1', '?cost=..', '?d0=1..2..3', '?d9=1..2'])
		assert(!hasBrush(parseBrushes(nonsense, space)), nonsense);
});

test('a range leaves the runs that are in it', () => {
	const brushes = parseBrushes('?d0=1..2&cost=2..5', space);

	assert(isLeft(run(1, 3, { values: [1, 0] }), brushes));
	assert(!isLeft(run(1, 3, { values: [0, 0] }), brushes));
	assert(!isLeft(run(1, 9, { values: [1, 0] }), brushes));
	assert(!isLeft(run(1, null, { values: [1, 0] }), brushes), 'a failed run has no cost');
	assert(!isLeft(run(1, 3, { values: null }), brushes), 'a run outside of the space');
	assert(!isLeft(run(1, 3, { values: [null, 0] }), brushes), 'the parameter has no effect there');
	assert.equal(describeRange(space[0], { low: 1, high: 2 }), '4096 to 65536');
	assert.equal(describeRange(space[1], { low: 0, high: 0 }), 'unset');
});

test('a logarithmic axis has round ticks and can be inverted', () => {
	assert.deepEqual(logTicks(0.9, 12, 7), [1, 2, 5, 10]);
	assert.deepEqual(logTicks(0.001, 1000, 7), [0.001, 0.01, 0.1, 1, 10, 100, 1000]);
	assert.equal(logTicks(3.1, 3.2, 5).length, 1);
	assert.equal(logRange([]), null);
	assert.deepEqual(logTimeTicks(30, 8000, 7).map(formatTimeTick), ['50 s', '2 min', '10 min', '30 min', '2 h']);
	assert.deepEqual(logTimeTicks(0.0009, 0.012, 7).map(formatTimeTick), ['1 ms', '2 ms', '5 ms', '10 ms']);
	near(logValue(logShare(3, 1, 10), 1, 10), 3);
});

test('a line of a trial goes from axis to axis to its cost', () => {
	const trials = trialsOf([run(1, 10), run(2, 1, { values: [2, null] }), run(3, null), run(4, 5, { values: null }), run(5, 2, { phase: 'unrecorded' })]);
	const frame = parallelFrame(600, 300, space, trials, 'io');

	assert.deepEqual(trials.map(({ number }) => number), [1, 2]);
	const line = trialLine(frame, trials[1]);
	assert.deepEqual(line.slice(0, 2), [axisX(frame, 0), valueY(frame, 0, 2)]);
	assert.equal(line.length, 4, 'an axis without effect is left out');
	assert.equal(nearestTrial(frame, trials, line[0], line[1] + 2, 10), trials[1]);
	assert.equal(nearestTrial(frame, trials, 5, 5, 10), null);
});

test('a range of an axis has the values in it, or the nearest', () => {
	const frame = parallelFrame(600, 300, space, trialsOf([run(1, 10), run(2, 1)]), 'io');

	assert.deepEqual(brushRange(frame, 0, valueY(frame, 0, 2) - 5, valueY(frame, 0, 1) + 5), { low: 1, high: 2 });
	assert.deepEqual(brushRange(frame, 0, valueY(frame, 0, 1) - 20, valueY(frame, 0, 1) - 10), { low: 1, high: 1 });
	const range = brushRange(frame, 2, frame.area.y, frame.area.y + frame.area.height / 2), box = brushBox(frame, 2, range);
	assert(range.low > 2 && range.low < 4 && range.high > 10);
	assert(Math.abs(box.top - frame.area.y) < 1 && Math.abs(box.height - frame.area.height / 2) < 1);
});

test('arrow keys move a range, and Shift widens it', () => {
	assert.deepEqual(stepRange(null, 'ArrowUp', false, 2), { low: 0, high: 0 });
	assert.deepEqual(stepRange(null, 'ArrowDown', false, 2), { low: 2, high: 2 });
	assert.deepEqual(stepRange({ low: 0, high: 0 }, 'ArrowUp', true, 2), { low: 0, high: 1 });
	assert.deepEqual(stepRange({ low: 0, high: 1 }, 'ArrowUp', false, 2), { low: 1, high: 2 });
	assert.deepEqual(stepRange({ low: 1, high: 2 }, 'ArrowUp', false, 2), { low: 1, high: 2 });
	assert.equal(stepRange(null, 'a', false, 2), null);
});

test('the most important parameter is first, and what none explains is last', () => {
	const bars = importanceBars({ details: [{ name: 'a', share: 0.1, best: null, factor: 1 }, { name: 'b', share: 0.6, best: '4', factor: 3 }], together: -1e-17, unexplained: 0.3 });

	assert.deepEqual(bars.map(({ name }) => name), ['b', 'a', 'combinations', 'noise, or too few trials']);
	assert.equal(bars[2].share, 0);
	assert.equal(bars[1].remark, 'best: unset');
});
