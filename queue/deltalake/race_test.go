//go:build race

package deltalake

const raceDetector = true
