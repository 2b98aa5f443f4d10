//go:build !race

package analysis

const raced = false
