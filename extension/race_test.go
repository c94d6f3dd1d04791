//go:build race

package extension_test

// streamLength is how many events a stream is watched for. The race detector makes each some
// ten times as slow.
const streamLength = 5_000
