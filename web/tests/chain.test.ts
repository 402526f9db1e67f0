// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { chainSteps } from '../src/lib/chain';
import type { Activity, ActivityRow } from '../src/lib/types';

const row = (key: string, name: string): ActivityRow => ({
	key, function: name, layer: 'POSIX', start_ns: 0, duration_ns: 1, member: 0, process: 0, thread: 0, file: null, offset: null,
	size: null, result: null, error: 0, error_text: null,
});

test('a chain lists enclosing calls, the call, and the calls below it in depth', () => {
	const activity: Activity = {
		key: '1.2', name: 'MPI_File_write_at_all', layer: 'MPI', file: null, time_start: 0, time_stop: 5, duration: 5, error_value: 0,
		attributes: [], remote_calls: [], parents: [], ancestors: [row('1.1', 'H5Dwrite')], children: [row('1.3', 'pwrite'), row('1.4', 'pwrite')],
		opened_by: null,
	};
	const children = new Map([['1.2', activity.children], ['1.3', [row('1.5', 'inner')]]]);
	const steps = chainSteps(activity, (key) => children.get(key));

	assert.deepEqual(steps.map((step) => `${step.depth} ${step.row.key}`), ['0 1.1', '1 1.2', '2 1.3', '3 1.5', '2 1.4']);
	assert.deepEqual(steps.filter((step) => step.isSelf).map((step) => step.row.key), ['1.2']);
	assert.deepEqual(steps.map((step) => step.isOpen), [true, true, true, false, false]);
});
