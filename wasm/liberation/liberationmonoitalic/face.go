// Package liberationmonoitalic stands in for a face that the page does not use.
package liberationmonoitalic

import "golang.org/x/image/font/gofont/goregular"

// TTF is Go Regular, which is linked once whatever the number of names for it.
var TTF = goregular.TTF
