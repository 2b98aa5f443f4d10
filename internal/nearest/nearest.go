// Package nearest finds the name that was probably meant by one that is not
// known.
//
// It guesses for a message to a person only: nothing may act on its answer.
package nearest

import "fmt"

// Name is the one of names that is at most two edits away from word, the first
// of the nearest; empty where none is near.
func Name(word string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		if max(len(word), len(name))-min(len(word), len(name)) >= distance {
			continue // further away by length alone
		}
		if d := editDistance(word, name); d < distance && d < len(name) {
			best, distance = name, d
		}
	}
	return best
}

// DidYouMean is " (did you mean name?)", or empty where no name is near.
func DidYouMean(word string, names []string) string {
	if best := Name(word, names); best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ""
}

// editDistance is Levenshtein's distance, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
