// Package duckdb holds the proof that a raw log can be read with no code of
// ours: check.mjs lets DuckDB compute a run's percentiles from the Parquet
// parts and compares them with a summary. Its test checks the same SQL against
// rows that it made. There is nothing to import.
package duckdb
