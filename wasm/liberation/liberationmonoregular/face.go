// Package liberationmonoregular stands in for a face that the page does not use.
package liberationmonoregular

import "codeberg.org/go-fonts/liberation/measures"

// TTF is linked once whatever the number of names for it.
var TTF = measures.TTF
