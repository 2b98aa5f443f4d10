// Computes the end-to-end latency of a run by DuckDB, from its Parquet parts
// alone, and compares it with what `analyze summary --json` printed.
//
//   node check.mjs RUN_FOLDER SUMMARY_JSON [--tolerance 0.005]
//
// Counts must be equal, percentiles within the tolerance (a ratio). Exit
// status: 0 equal, 1 different or unreadable, 2 misuse.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

function arguments_() {
  const args = process.argv.slice(2);
  let tolerance = 0.005;
  const at = args.indexOf('--tolerance');
  if (at >= 0) {
    tolerance = Number(args.splice(at, 2)[1]);
  }
  if (args.length !== 2 || !(tolerance >= 0)) {
    console.error('usage: node check.mjs RUN_FOLDER SUMMARY_JSON [--tolerance 0.005]');
    process.exit(2);
  }
  return { run: args[0], summary: args[1], tolerance };
}

// Times in ns since the epoch are beyond what a JavaScript number holds
// exactly, so they stay text between JSON and SQL.
function readJSON(file) {
  const text = readFileSync(file, 'utf8').replace(/("(?:started|warmup)_ns":\s*)(-?\d+)/g, '$1"$2"');
  return JSON.parse(text);
}

const key = (step) => `${step.step}/${step.repeat}`;

async function latencies(run, summary) {
  const started = new Map(readJSON(join(run, 'run.json')).steps.map((s) => [key(s), s.started_ns]));
  const rows = summary.steps.map((s) => {
    if (!started.has(key(s))) throw new Error(`run.json has no step ${s.step}, repeat ${s.repeat}`);
    return `(${Number(s.step)}, ${Number(s.repeat)}, ${BigInt(started.get(key(s)))}, ${BigInt(s.warmup_ns)})`;
  });
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(`SET VARIABLE run = '${run.replaceAll("'", "''")}'`);
  await connection.run('CREATE TABLE steps (step BIGINT, repeat BIGINT, started_ns BIGINT, warmup_ns BIGINT)');
  await connection.run(`INSERT INTO steps VALUES ${rows.join(', ')}`);
  const sql = readFileSync(new URL('percentiles.sql', import.meta.url), 'utf8');
  return (await connection.runAndReadAll(sql)).getRowObjects();
}

// equal compares a percentile: null is one that never came.
function equal(duckdb, percentile, tolerance) {
  if (duckdb === null || percentile.beyond) return duckdb === null && percentile.beyond === true;
  const ours = Number(duckdb);
  return Math.abs(ours - percentile.ns) <= tolerance * Math.abs(ours);
}

const { run, summary: file, tolerance } = arguments_();
const summary = readJSON(file);
if (summary.steps.length === 0) throw new Error('the summary has no steps');
const found = new Map((await latencies(run, summary)).map((row) => [key(row), row]));

const table = [];
let different = 0;
for (const step of summary.steps) {
  const theirs = step.latencies.end_to_end;
  const row = found.get(key(step)) ?? { n: 0n, p50_ns: null, p99_ns: null };
  const ok =
    Number(row.n) === theirs.n &&
    (theirs.n === 0 || ['50', '99'].every((q) => equal(row[`p${q}_ns`], theirs.percentiles[q], tolerance)));
  if (!ok) different++;
  const show = (p) => (p.beyond ? 'never' : p.ns);
  table.push({
    step: step.step, repeat: step.repeat, rate: step.rate,
    n: String(row.n), 'n analyze': String(theirs.n),
    'p50 ns': row.p50_ns === null ? 'never' : String(row.p50_ns), 'p50 analyze': theirs.n ? String(show(theirs.percentiles['50'])) : '-',
    'p99 ns': row.p99_ns === null ? 'never' : String(row.p99_ns), 'p99 analyze': theirs.n ? String(show(theirs.percentiles['99'])) : '-',
    equal: ok,
  });
}
console.table(table);
if (different > 0) {
  console.error(`DuckDB and analyze differ in ${different} of ${summary.steps.length} steps by more than ${tolerance * 100} %`);
  process.exit(1);
}
console.log(`DuckDB and analyze agree within ${tolerance * 100} % in ${summary.steps.length} steps`);
