//go:build !race

package deltalake

const raceDetector = false
