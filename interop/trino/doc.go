// Package trino holds the proof that the query of `analyze sql --engine trino`
// runs in Trino as it is printed, and computes what `analyze summary` does. There
// is nothing to import.
package trino
