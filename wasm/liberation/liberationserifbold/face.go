// Package liberationserifbold stands in for a face that the page does not use.
package liberationserifbold

import "codeberg.org/go-fonts/liberation/measures"

// TTF is linked once whatever the number of names for it.
var TTF = measures.TTF
