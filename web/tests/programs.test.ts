// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Program, ProgramEvent, ProgramRow, ProgramRun, Shift } from '../src/lib/program_types';
import {
	axisDates, compareFindings, compareParameters, eventDirection, findBuilds, findLevels, findWindow, importantFirst, shiftText, shortBinary, spanWindow, usedMeasures,
	verdictSentence, windowSpan,
} from '../src/lib/program_view';
import { parseRoute, routePath } from '../src/lib/route';
import type { Finding, Parameter } from '../src/lib/types';

const run = (id: string, more: Partial<ProgramRun> = {}): ProgramRun => ({
	id, group: 'g', started_ns: 0, ranks: 0, exit_status: 0, state: 'complete', comparable: true, binary: 'build:1', command: 'app', applied: '', tags: [],
	duration: 1, io_time: 1, throughput: 1, calls: 1, bytes_read: 0, bytes_written: 1, ...more,
});
const shift = (more: Partial<Shift> = {}): Shift => ({
	measure: 'calls', direction: 'worse', verdict: 'exact', before: 10, after: 162, runs_before: 6, runs_after: 6, ratio: 16.2, low: null, high: null, ...more,
});
const event = (after_run: string, ...shifts: Shift[]): ProgramEvent => ({ before_run: '', after_run, started_ns: 0, shifts });
const runs = ['a', 'b', 'c', 'd', 'e'].map((id) => run(id));

test('a window is found by the ids in the address', () => {
	assert.deepEqual(findWindow(runs, null, null), { from: 0, to: 5 });
	assert.deepEqual(findWindow(runs, 'b', 'd'), { from: 1, to: 4 });
	assert.deepEqual(findWindow(runs, 'c', null), { from: 2, to: 5 });
	assert.deepEqual(findWindow(runs, 'gone', 'gone'), { from: 0, to: 5 });
	assert.deepEqual(findWindow(runs, 'd', 'b'), { from: 0, to: 5 });
});

test('a selection contains the runs whose marks it covers, at least one', () => {
	assert.deepEqual(spanWindow({ from: 400, to: 2600 }, 5), { from: 0, to: 3 });
	assert.deepEqual(spanWindow({ from: 600, to: 2400 }, 5), { from: 1, to: 2 });
	assert.deepEqual(spanWindow({ from: 2600, to: 2700 }, 5), { from: 3, to: 4 });
	assert.deepEqual(spanWindow({ from: 4900, to: 5000 }, 5), { from: 4, to: 5 });
	assert.deepEqual(spanWindow(windowSpan({ from: 1, to: 4 }), 5), { from: 1, to: 4 });
});

test('levels lie between the shifts of their measure', () => {
	const events = [event('b', shift()), event('c', shift({ measure: 'duration' })), event('d', shift({ before: 162, after: 5 }))];

	assert.deepEqual(findLevels(runs, events, 'calls'), [{ from: 0, to: 1, value: 10 }, { from: 1, to: 3, value: 162 }, { from: 3, to: 5, value: 5 }]);
	assert.deepEqual(findLevels(runs, events, 'bytes_read'), []);
	assert.deepEqual(findLevels(runs, [event('gone', shift())], 'calls'), []);
});

test('a new build is one that differs from the run before', () => {
	assert.deepEqual(findBuilds([run('a'), run('b', { binary: 'build:2' }), run('c', { binary: '' }), run('d'), run('e', { binary: 'build:3' })]), [1, 4]);
	assert.equal(shortBinary('build:0123456789abcdef'), '01234567');
});

test('shifts and verdicts are sentences', () => {
	const program: Program = {
		name: 'app', total: 12, covered: 1, group: 'g', least_runs: 4, groups: [], runs, left_out: 0, verdict: 'regression', tested: 12, events: [event('d', shift())],
	};

	assert.equal(shiftText(shift()), 'Calls 162 instead of 10 (16.2 times)');
	assert.equal(shiftText(shift({ before: 0, ratio: null })), 'Calls 162 instead of 0 (from nothing)');
	assert.equal(shiftText(shift({ measure: 'io_time', verdict: 'significant', before: 1e9, after: 2e9, ratio: 2, low: 1.5, high: 2.5 })),
		'Time in I/O 2.00 s instead of 1.00 s (about 2.00 times, 1.50 to 2.50)');
	assert.equal(verdictSentence(program), 'Regression since 1970-01-01 00:00:00 UTC: Calls 162 instead of 10 (16.2 times).');
	assert.match(verdictSentence({ ...program, verdict: 'steady', events: [] }), /within the noise/);
	assert.match(verdictSentence({ ...program, verdict: 'too few runs', tested: 1 }), /there is 1 comparable run, and at least 4 before and 4 after/);
	assert.match(verdictSentence({ ...program, verdict: 'not comparable' }), /not compared/);
	assert.equal(eventDirection(event('a', shift({ direction: 'better' }), shift({ measure: 'duration' }))), 'worse');
	assert.equal(eventDirection(event('a', shift({ direction: 'other' }))), 'other');
});

test('findings and hints of two runs are compared', () => {
	const finding = (code: string) => ({ code }) as Finding;
	const hint = (name: string, effective: string) => ({ name, of: 'MPI', file: 'f', effective }) as Parameter;

	assert.deepEqual(compareFindings([finding('a'), finding('b')], [finding('b'), finding('c')]), { appeared: [finding('c')], vanished: [finding('a')] });
	assert.deepEqual(compareParameters([hint('cb_nodes', '1'), hint('striping', '4')], [hint('cb_nodes', '2'), hint('striping', '4'), hint('x', 'y')]), [
		{ kind: 'hints in effect', name: 'MPI cb_nodes', before: '1', after: '2' }, { kind: 'hints in effect', name: 'MPI x', before: null, after: 'y' },
	]);
});

test('what says nothing is left out, and what matters comes first', () => {
	assert.deepEqual(usedMeasures(runs), ['duration', 'io_time', 'throughput', 'calls', 'bytes_written']);
	const rows = ['steady', 'improvement', 'too few runs', 'regression'].map((verdict) => ({ verdict }) as ProgramRow);
	assert.deepEqual(importantFirst(rows).map(({ verdict }) => verdict), ['regression', 'improvement', 'steady', 'too few runs']);
	assert.deepEqual(axisDates([0, 61e9]), ['00:00:00', '00:01:01']);
	assert.deepEqual(axisDates([0, 86400e9]), ['1970-01-01 00:00', '1970-01-02 00:00']);
	assert.deepEqual(axisDates([]), []);
});

test('programs have addresses, whatever their names are', () => {
	for (const name of ['app', '<i>x', 'a b%2F', '..', 'ä'])
		assert.deepEqual(parseRoute(routePath({ page: 'program', name })), { page: 'program', name });
	assert.deepEqual(parseRoute('/programs'), { page: 'programs' });
});
