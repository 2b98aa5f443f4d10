//go:build race

package compare

// raced: this is slow, and one goroutine races with none.
const raced = true
