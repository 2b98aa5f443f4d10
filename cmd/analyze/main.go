// Command analyze reads the raw logs that bench recorded, or digests of them,
// and prints, draws and publishes what they say.
package main

import (
	"os"

	"queuebench/internal/command"
)

func main() { os.Exit(command.Process(newApp())) }
