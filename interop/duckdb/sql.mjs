// Runs the query on standard input by DuckDB and prints its rows as JSON.
//
//   analyze sql RUN | node sql.mjs
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create()).connect();
const reader = await connection.runAndReadAll(readFileSync(0, 'utf8'));
console.log(JSON.stringify(reader.getRowObjects(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
