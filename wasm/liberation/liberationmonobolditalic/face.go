// Package liberationmonobolditalic stands in for a face that the page does not use.
package liberationmonobolditalic

import "codeberg.org/go-fonts/liberation/measures"

// TTF is linked once whatever the number of names for it.
var TTF = measures.TTF
