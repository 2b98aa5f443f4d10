// Times the query on standard input by DuckDB, on one thread, in this process:
// wall and processor time of each of three runs, in seconds.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:', { threads: process.env.THREADS ?? '1' })).connect();
const query = readFileSync(0, 'utf8');
for (let i = 0; i < Number(process.env.RUNS ?? 3); i++) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await connection.runAndReadAll(query);
  const used = process.cpuUsage(cpu);
  console.log(`DuckDB: ${((performance.now() - start) / 1e3).toFixed(2)} s, ${((used.user + used.system) / 1e6).toFixed(2)} cpu-s, ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
}
