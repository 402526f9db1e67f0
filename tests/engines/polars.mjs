// SPDX-License-Identifier: BSD-3-Clause
// node polars.mjs NODE_MODULES PLANS.json
// Makes the calls that polars.py has recorded in the real engine, and writes {"name": [row, ...], ...} as JSON. Names
// and the form of some arguments differ between the interfaces for Python and JavaScript.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [modules, file] = process.argv.slice(2)
const pl = createRequire(modules + '/')('nodejs-polars')
const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())

// Comparisons take a text for the name of a column.
const literal = (value) => typeof value === 'object' ? value : pl.lit(value)

const forms = {
	eq: (expression, [value]) => expression.eq(literal(value)),
	neq: (expression, [value]) => expression.neq(literal(value)),
	filter: (frame, predicates) => predicates.reduce((result, predicate) => result.filter(predicate), frame),
	groupBy: (frame, columns) => frame.groupBy(columns),
	sort: (frame, by, options) => frame.sort({ by, descending: false, nullsLast: false, ...options }),
}

function make(value) {
	if (Array.isArray(value))
		return value.map(make)
	if (value === null || typeof value !== 'object')
		return value
	if (!('call' in value))
		return Object.fromEntries(Object.entries(value).map(([name, item]) => [camel(name), make(item)]))
	const name = camel(value.call), on = make(value.on) ?? pl, values = make(value.arguments), options = make(value.options)
	if (typeof on[name] !== 'function')
		throw new Error(`Polars has no ${name}`)
	if (name in forms && value.on)
		return forms[name](on, values, options)
	return on[name](...values, ...(Object.keys(options).length ? [options] : []))
}

const results = {}
for (const [name, plan] of Object.entries(JSON.parse(readFileSync(file, 'utf8'))))
	results[name] = (await make(plan)).toRecords()
console.log(JSON.stringify(results, (_, value) => typeof value === 'bigint' ? value.toString() : value))
