// Runs the two queries of docs/raw-log.md as they stand there and prints the
// rows as JSON.
//
//   node query.mjs RUN_FOLDER
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

if (process.argv.length !== 3) {
  console.error('usage: node query.mjs RUN_FOLDER');
  process.exit(2);
}
const sql = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const connection = await (await DuckDBInstance.create()).connect();
await connection.run(`SET VARIABLE run = '${process.argv[2].replaceAll("'", "''")}'`);
await connection.run(sql('steps.sql'));
const reader = await connection.runAndReadAll(sql('percentiles.sql'));
console.log(JSON.stringify(reader.getRowObjects(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
