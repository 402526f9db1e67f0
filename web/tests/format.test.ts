// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { formatBytes, formatCount, formatDate, formatMicroseconds, formatPosition, formatRate, formatSeconds, formatShare, formatShortCount,
	formatTime, known, plural } from '../src/lib/format';

test('sizes have three digits and binary units, as on the command line', () => {
	assert.equal(formatBytes(0), '0 B');
	assert.equal(formatBytes(999), '999 B');
	assert.equal(formatBytes(1000), '0.98 KiB');
	assert.equal(formatBytes(101056512), '96.4 MiB');
	assert.equal(formatBytes(2 ** 60), '1024 PiB');
});

test('times have the unit that suits them', () => {
	assert.equal(formatTime(0), '0 ns');
	assert.equal(formatTime(999), '999 ns');
	assert.equal(formatTime(37409), '37.4 µs');
	assert.equal(formatTime(957e6), '957 ms');
	assert.equal(formatTime(5.3e9), '5.30 s');
	assert.equal(formatTime(125e9), '2 min 5 s');
	assert.equal(formatTime(7322e9), '2 h 2 min');
	assert.equal(formatTime(-1500), '-1.50 µs');
});

test('durations of the sample page of SIOX are stop minus start in microseconds', () => {
	assert.equal(formatMicroseconds(350896127), '350896.127');
	assert.equal(formatMicroseconds(623), '0.623');
	assert.equal(formatMicroseconds(37409), '37.409');
});

test('exact times have nine digits', () => {
	assert.equal(formatSeconds(376367617), '0.376367617');
	assert.equal(formatSeconds(12000000001), '12.000000001');
	assert.equal(formatSeconds(-5), '-0.000000005');
});

test('positions tell neighbors apart', () => {
	assert.equal(formatPosition(1.5e9, 5e8), '1.5 s');
	assert.equal(formatPosition(0, 1e9), '0 s');
	assert.equal(formatPosition(2.5e6, 5e5), '2.5 ms');
	assert.notEqual(formatPosition(376367000, 1000), formatPosition(376368000, 1000));
});

test('rates, shares, counts and dates', () => {
	assert.equal(formatRate(1 << 20, 1e9), '1.00 MiB/s');
	assert.equal(formatRate(1, 0), '–');
	assert.equal(formatShare(0.181, 1), '18.1%');
	assert.equal(formatShare(1, 0), '–');
	assert.equal(formatCount(9952), '9,952');
	assert.equal(formatShortCount(1234567), '1.23M');
	assert.equal(formatDate(1794816000000000000), '2026-11-16 08:00:00');
	assert.equal(plural(1, 'rank'), '1 rank');
	assert.equal(plural(2, 'process', 'processes'), '2 processes');
	assert.equal(known(null, formatCount), '–');
	assert.equal(known(0, formatCount), '0');
});
