// Package logwriter writes the raw log of a run: rows that are appended one by
// one on the path of the load become Parquet parts in a store.
//
// A row passes three hands. Append copies it into a chunk, without a lock and
// without an allocation. An encoder goroutine for each writer reads along
// behind it and encodes and compresses into a part, which is closed every few
// seconds, so that a killed run loses no more than that. Uploaders store closed
// parts, as long as it takes; until then they lie in a spool folder under the
// names that they have in the store.
//
// The package drops no row and no part while the run lasts. When it cannot
// write (the disk is full), the whole log has failed: Failed tells the runner
// at once, and what was closed before stays readable.
package logwriter
