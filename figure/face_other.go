//go:build !js

package figure

import "golang.org/x/image/font/gofont/goregular"

var faceBytes = goregular.TTF
