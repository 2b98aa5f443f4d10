// Package spark holds the proof that the query of `analyze sql --engine spark`
// computes what `analyze summary` does. There is nothing to import.
package spark
