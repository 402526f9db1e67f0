// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { chainSteps } from '../src/lib/chain';
import type { Activity, ActivityRow } from '../src/lib/types';

const row = (key: string, name: string, program = '/bin/solver', host = 'one'): ActivityRow => ({
	key, function: name, layer: 'POSIX', start_ns: 0, duration_ns: 1, member: 0, process: Number(key.split('.')[0]), thread: 0, program, host,
	file: null, offset: null, size: null, result: null, error: 0, error_text: null,
});

const activityOf = (key: string, name: string, ancestors: ActivityRow[], children: ActivityRow[]): Activity => ({
	key, name, layer: 'MPI', cid_id: Number(key.split('.')[0]), cid_pid_nid: 'one', program: '/bin/solver', file: null, time_start: 0, time_stop: 5,
	duration: 5, error_value: 0, attributes: [], remote_calls: [], parents: [], ancestors, children, opened_by: null,
});

test('a chain lists enclosing calls, the call, and the calls below it in depth', () => {
	const activity = activityOf('1.2', 'MPI_File_write_at_all', [row('1.1', 'H5Dwrite')], [row('1.3', 'pwrite'), row('1.4', 'pwrite')]);
	const children = new Map([['1.2', activity.children], ['1.3', [row('1.5', 'inner')]]]);
	const steps = chainSteps(activity, (key) => children.get(key));

	assert.deepEqual(steps.map((step) => `${step.depth} ${step.row.key}`), ['0 1.1', '1 1.2', '2 1.3', '3 1.5', '2 1.4']);
	assert.deepEqual(steps.filter((step) => step.isSelf).map((step) => step.row.key), ['1.2']);
	assert.deepEqual(steps.map((step) => step.isOpen), [true, true, true, false, false]);
	assert.deepEqual(steps.map((step) => step.place), ['', '', '', '', '']);
});

test('a chain names each change of the process, and hosts if they differ', () => {
	const served = [row('2.5', 'pwrite', '/bin/server'), row('2.6', 'send', '/bin/server')];
	const activity = activityOf('1.2', 'write', [], [row('2.4', 'recv', '/bin/server')]);
	const children = new Map([['1.2', activity.children], ['2.4', served], ['2.6', [row('1.3', 'recv')]]]);
	const steps = chainSteps(activity, (key) => children.get(key));

	assert.deepEqual(steps.map((step) => step.row.key), ['1.2', '2.4', '2.5', '2.6', '1.3']);
	assert.deepEqual(steps.map((step) => step.place), ['solver, process 1', 'server, process 2', '', '', 'solver, process 1']);
	served.forEach((call) => { call.host = 'two'; });
	assert.equal(chainSteps(activity, (key) => children.get(key))[4]?.place, 'solver, process 1 on one');
});
