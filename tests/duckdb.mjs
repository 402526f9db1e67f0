// SPDX-License-Identifier: BSD-3-Clause
// Runs the SQL statements of a file in DuckDB and writes one JSON array of rows per statement and line. A statement ends
// with a semicolon at the end of a line. Integers are written as strings, because JavaScript would round large ones.
// node duckdb.mjs NODE_MODULES FILE.sql
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [modules, file] = process.argv.slice(2)
const { DuckDBInstance } = createRequire(modules + '/')('@duckdb/node-api')
const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
for (const statement of readFileSync(file, 'utf8').split(/;[ \t]*(?:\n|$)/)) {
	if (!statement.trim())
		continue
	const reader = await connection.runAndReadAll(statement)
	console.log(JSON.stringify(reader.getRowObjectsJson()))
}
