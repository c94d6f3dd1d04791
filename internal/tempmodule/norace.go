//go:build !race

package tempmodule

const raceDetector = false
