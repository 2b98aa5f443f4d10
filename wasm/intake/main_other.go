//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this program runs in the page: build it with site/build.sh, and use analyze on the command line")
	os.Exit(2)
}
