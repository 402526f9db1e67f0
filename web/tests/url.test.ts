// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeQuery, filterQuery, filterSpan, parseFilter, spanChanges } from '../src/lib/filter';
import { parseRoute, routePath, type Route } from '../src/lib/route';

test('a filter survives its address', () => {
	const search = '?from_ns=5&to_ns=90&level=storage&layer=MPI&function=H5Dwrite&file=%2Fa+b%26c&member=3&errors=1&min_ns=1000';
	const filter = parseFilter(search);

	assert.equal(filter.file, '/a b&c');
	assert.deepEqual(parseFilter(`?${filterQuery(filter)}`), filter);
});

test('the default filter has no parameters, and nonsense is ignored', () => {
	assert.equal(filterQuery(parseFilter('')).toString(), '');
	assert.equal(filterQuery(parseFilter('?level=evil&member=-1&from_ns=x&errors=yes&layer=')).toString(), '');
});

test('changing a query keeps the other parameters', () => {
	assert.equal(changeQuery('?a=1&b=2', { b: '3' }), '?a=1&b=3');
	assert.equal(changeQuery('?a=1', { a: null }), '');
	assert.equal(changeQuery('', { a: '' }), '');
});

test('the window of a filter is within the run', () => {
	const whole = { from: 0, to: 100 };

	assert.deepEqual(filterSpan(parseFilter('?from_ns=10&to_ns=500'), whole), { from: 10, to: 100 });
	assert.deepEqual(filterSpan(parseFilter('?from_ns=60&to_ns=50'), whole), whole);
	assert.deepEqual(spanChanges(whole, whole), { from_ns: null, to_ns: null, offset: null });
	assert.deepEqual(spanChanges({ from: 10, to: 100 }, whole), { from_ns: '10', to_ns: null, offset: null });
});

test('every route survives its address', () => {
	const routes: Route[] = [
		{ page: 'runs' }, { page: 'compare' }, { page: 'settings' }, { page: 'run', id: 'a88c77c6' }, { page: 'window', id: 'a/b' },
		{ page: 'execution', id: 'x' }, { page: 'activities', id: 'x' }, { page: 'activity', id: 'x', key: '5.1960' },
		{ page: 'storage' }, { page: 'node' }, { page: 'model' },
	];

	for (const route of routes)
		assert.deepEqual(parseRoute(routePath(route)), route);
	assert.deepEqual(parseRoute('/'), { page: 'runs' });
	assert.deepEqual(parseRoute('/nonsense/1'), { page: 'missing', path: '/nonsense/1' });
	assert.deepEqual(parseRoute('/runs/%zz'), { page: 'run', id: '%zz' });
});
