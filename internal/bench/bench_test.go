package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The benchmarks are the cases, by the first word of their names; BenchmarkRival has what they are
// compared with.

func BenchmarkField(b *testing.B)     { benchmark(b, "field") }
func BenchmarkIntercept(b *testing.B) { benchmark(b, "intercept") }
func BenchmarkPolicy(b *testing.B)    { benchmark(b, "policy") }
func BenchmarkQuery(b *testing.B)     { benchmark(b, "query") }
func BenchmarkGrowth(b *testing.B)    { benchmark(b, "growth") }
func BenchmarkParallel(b *testing.B)  { benchmark(b, "parallel") }
func BenchmarkPresets(b *testing.B)   { benchmark(b, "presets") }
func BenchmarkMemory(b *testing.B)    { benchmark(b, "memory") }

func benchmark(b *testing.B, group string) {
	for _, c := range allCases() {
		if name, ok := strings.CutPrefix(c.name, group+"/"); ok {
			b.Run(name, func(b *testing.B) { benchmarkOne(b, c.ours) })
		}
	}
}

func BenchmarkRival(b *testing.B) {
	for _, c := range allCases() {
		for _, r := range c.rivals {
			b.Run(c.name+"/"+r.name, func(b *testing.B) { benchmarkOne(b, r.setUp) })
		}
	}
}

func benchmarkOne(b *testing.B, set setUp) {
	var s stand
	l, err := set(&s)
	require.NoError(b, err)
	defer func() { require.NoError(b, s.close()) }()
	if l.held != nil {
		held, err := l.held()
		require.NoError(b, err)
		b.ReportMetric(held, "B-held")
		b.ReportMetric(0, "ns/op") // says nothing
		return
	}
	b.ReportAllocs()
	b.ResetTimer()
	require.NoError(b, l.calls(b.N))
	if l.fields > 0 {
		b.ReportMetric(float64(l.fields), "fields/op")
	}
}
