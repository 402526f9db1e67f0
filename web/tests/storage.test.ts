// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { courseLabel, courseScale, drawCourse, nearestBin, segments, type Course } from '../src/charts/course';
import { dateLabel, dateTicks, DATE_AXIS } from '../src/charts/dates';
import { palette } from '../src/charts/palette';
import { drawScatter, nearestPair, pairPlace, pairRange } from '../src/charts/scatter';
import { svgSurface } from '../src/charts/surface';
import { accessChanges, accessCommand, isComplete, parseAccess, settingsLine } from '../src/lib/access_form';
import { changeQuery } from '../src/lib/filter';
import { gradeShares, groupStatistics, sumValues } from '../src/lib/statistics';
import type { Forecast, Grade, Pair, Statistic, TargetForecast, Targets } from '../src/lib/storage_types';
import { forecastBasis, forecastSizes, targetRows, targetsVerdict } from '../src/lib/targets';

const HOUR = 3600e9, NOON = Date.UTC(2026, 10, 17, 12) * 1e6;

test('ticks of dates are round times', () => {
	assert.deepEqual(dateTicks({ from: NOON - 3 * HOUR, to: NOON + HOUR }, 4).map((ns) => dateLabel(ns, HOUR)), ['09:00', '10:00', '11:00', '12:00', '13:00']);
	assert.equal(dateLabel(NOON + 12 * HOUR, 6 * HOUR), '11-18');
	assert.equal(dateLabel(NOON + 5e9, 5e9), '12:00:05');
	assert.equal(dateLabel(NOON + 5.25e9, 5e7), '12:00:05.250');
	assert(dateTicks({ from: NOON, to: NOON + 1e6 }, 4).length >= 2);
	assert(dateTicks({ from: NOON - 400 * 24 * HOUR, to: NOON }, 5).length <= 6);
});

test('durations that differ much have a logarithmic scale, shares always the same', () => {
	const series = (values: number[]) => [{ name: 'x', color: '#000000', values }];

	assert.equal(courseScale(series([0.01, 0.02]), 'seconds').isLog, false);
	const log = courseScale(series([0.001, 1]), 'seconds');
	assert(log.isLog && log.place(0.001) > 0 && log.place(1) < 1 && log.ticks.includes(0.1));
	assert.equal(courseScale(series([0.2]), 'share').high, 1);
	assert.equal(courseScale([], 'bytes').high, 1);
	assert.equal(courseLabel('seconds', 0.0123), '12.3 ms');
	assert.equal(courseLabel('share', 0.125), '12.5%');
});

test('a long gap separates values, a short one does not', () => {
	assert.deepEqual(segments([1, null, 2, null, 3, null, null, null, null, null, null, null, 4]), [[0, 2, 4], [12]]);
	assert.deepEqual(segments([null, null]), []);
});

const course: Course = { from_ns: 100, bin_ns: 10, series: [{ name: 'x', color: '#112233', values: [1, null, null, null, 5], band: { low: [1, null, null, null, 4], high: [2, null, null, null, 6] } }] };

test('the cursor finds the nearest value', () => {
	assert.deepEqual([101, 111, 121, 135, 149, 175].map((ns) => nearestBin(course, ns)), [0, 0, 0, 4, 4, -1]);
});

test('a course is drawn within its plot', () => {
	const svg = svgSurface(600, 200, 'x', '#ffffff');

	drawCourse(svg, 600, 200, { ...course, shades: { values: [1, null, 0, 0.5, null], color: '#ff0000' }, marks: [{ ns: 120, color: '#00ff00' }, { ns: 999, color: '#0000ff' }] },
		{ from: 100, to: 150 }, 'seconds', DATE_AXIS, palette(false));
	assert(svg.toString().includes('#00ff00') && !svg.toString().includes('#0000ff'));
	assert(!/NaN|Infinity/.test(svg.toString()));
	assert.equal(svg.toString().match(/fill="#ff0000"/g)?.length, 2, 'one shade until the next known state');
});

const pairs: Pair[] = [[1, 2, 'writing', 'write'], [0.01, 0.012, 'held out', '<img>']];

test('pairs lie in the range of both axes', () => {
	const range = pairRange(pairs);

	assert(range && range.low < 0.01 && range.high > 2);
	assert.equal(nearestPair(pairs, range, pairPlace(range, 0.01), pairPlace(range, 0.012)), 1);
	assert.equal(pairRange([]), null);
	const svg = svgSurface(600, 400, 'x', '#ffffff');
	drawScatter(svg, 600, 400, pairs, 1.5, -1, palette(true));
	drawScatter(svg, 600, 400, pairs, 1e9, 0, palette(true));
	assert(!/NaN|Infinity/.test(svg.toString()));
});

const forecastOf = (target: string, state: 'idle' | 'busy', rest: Partial<TargetForecast> = {}): TargetForecast => ({
	target, bytes: 1 << 30, state, busy: 0.5, expected_s: 2, idle_s: 1, busy_s: 3, is_model: true, rows: 100, accuracy: 0.9, majority: 0.6, ceiling: 0.95, is_useful: true, age_s: 5, ...rest,
});
const size = { bytes: 1 << 20, writes: 1, failed: 0, newest: null, trend: [] };
const targets: Targets = {
	problem: null, system: 'lab', modelled: false, systems: [], now_ns: 0, first_ns: 0, last_ns: 1, from_ns: 0, to_ns: 1, target_count: 2,
	targets: [{ name: 'oss-10', sizes: [size] }, { name: 'oss-9', sizes: [size] }],
};
const forecast: Forecast = { system: 'lab', is_stale: false, forecasts: [forecastOf('oss-9', 'busy'), forecastOf('oss-10', 'idle')] };

test('targets get the forecasts of their system', () => {
	const rows = targetRows(targets, forecast, 1 << 30);

	assert.deepEqual(rows.map(({ name, forecast: one }) => [name, one?.state]), [['oss-9', 'busy'], ['oss-10', 'idle']]);
	assert.deepEqual(forecastSizes(forecast), [1 << 30]);
	assert.equal(targetsVerdict(rows, forecast, 1 << 30), '1 of 2 targets is forecast to be busy for writes of 1.00 GiB: oss-9.');
	assert.match(targetsVerdict(rows, { ...forecast, is_stale: true }, 1 << 30), /no current forecast/);
	assert(targetRows(targets, { ...forecast, system: 'other' }, 1 << 30).every(({ forecast: one }) => one === null));
	assert.match(forecastBasis(forecastOf('a', 'idle'), 'svm'), /method svm, which learned from 100 writes and was right in 90\.0%/);
	assert.match(forecastBasis(forecastOf('a', 'idle', { is_model: false }), 'svm'), /share of its past states/);
	assert.match(forecastBasis(null, 'svm'), /no model/);
});

const statistic = (name: string, values: (number | null)[]): Statistic => ({ name, unit: 'bytes', is_rate: true, mean: null, least: null, most: null, total: null, values });

test('statistics of devices are added, and the loopback interface is left out', () => {
	const groups = groupStatistics([statistic('io/vda/read', [1, null]), statistic('io/vdb/read', [2, null]), statistic('network/lo/sent', [9, 9]), statistic('network/eth0/sent', [1, 1])]);

	assert.deepEqual(groups.map(({ title, series }) => [title, series.map(({ name, values }) => [name, values])]),
		[['Block devices', [['read', [3, null]]]], ['Network', [['sent', [1, 1]]]]]);
	assert.deepEqual(sumValues([]), []);
});

test('grades are shares of the calls', () => {
	const grade: Grade = { host: 'h', call: 'POSIX write', very_slow: 1, slow: 0, normal: 3, fast: null, very_fast: 0, from_bytes: 0, median_ns: 1, very_slow_ns: 2 };

	assert.deepEqual(gradeShares(grade), [0.25, 0, 0.75, 0, 0]);
});

test('the form survives its address, and defaults are left out', () => {
	const form = parseAccess('?ranks=64&size=16M&pattern=strided&block=4K&params=cb_nodes%3D4&model=x');

	assert.deepEqual(parseAccess(changeQuery('?model=x', accessChanges(form))), form);
	assert.equal(accessChanges({ ...form, pattern: 'contiguous' }).block, null);
	assert(isComplete(form) && !isComplete(parseAccess('')) && !isComplete({ ...form, block: '' }) && !isComplete({ ...form, size: 'much' }) && !isComplete({ ...form, ranks: '0' }));
	assert.equal(accessCommand(form, null), 'sluice model recommend -n 64 -s 16M --pattern strided --block 4K --param cb_nodes=4 -o best.hints');
	assert.equal(accessCommand({ ...form, pattern: 'contiguous', params: "a='$(x)" }, 'm'), "sluice model recommend -m m -n 64 -s 16M --param 'a='\\''$(x)' -o best.hints");
	assert.equal(settingsLine({}), 'the default');
});
