//go:build !race

package extension_test

// streamLength is how many events a stream is watched for.
const streamLength = 60_000
