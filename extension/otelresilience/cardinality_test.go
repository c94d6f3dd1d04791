package otelresilience_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension/otelresilience"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestFieldsBeyondTheLimitAreCountedTogether(t *testing.T) {
	registry := newRegistry(t, policy.Spec{Retry: retry(1)})
	metrics := observe(t, registry, otelresilience.WithCardinalityLimit(3))
	p := dependency(t, registry)
	for i := range 10 {
		for range 2 { // the first of them keep their names
			execute(t.Context(), p.WithSource(fmt.Sprint("Job.", i)), succeed)
		}
	}
	other, err := registry.New("other", policy.Spec{Retry: retry(1)})
	require.NoError(t, err)
	execute(t.Context(), other, succeed)
	success := ",outcome=success,policy=dependency"
	assert.Equal(t, points{
		"field=Job.0" + success: 2, "field=Job.1" + success: 2, "field=Job.2" + success: 2, "field=_OTHER" + success: 14,
		"field=_OTHER,outcome=success,policy=_OTHER": 1,
	}, metrics.points("calls"))
}

func TestByDefaultAnSDKHasRoomForAllSeries(t *testing.T) {
	registry := newRegistry(t, policy.Spec{Retry: retry(1)})
	metrics := observe(t, registry)
	p := dependency(t, registry)
	for i := range 1000 {
		execute(t.Context(), p.WithSource(fmt.Sprint("Job.", i)), succeed)
		execute(t.Context(), p.WithSource(fmt.Sprint("Job.", i)), fail)
	}
	calls := metrics.points("calls")
	assert.Len(t, calls, 2*(250+1))
	assert.Equal(t, 750.0, calls["field=_OTHER,outcome=failure,policy=dependency"])
}

func TestHostileNamesAreMadeFitForExporters(t *testing.T) {
	registry := newRegistry(t, policy.Spec{Retry: retry(1)})
	metrics := observe(t, registry)
	p := dependency(t, registry)
	execute(t.Context(), p.WithSource("a\xffb"), succeed)
	execute(t.Context(), p.WithSource(strings.Repeat("x", 199)+"ü and more"), succeed)
	assert.Equal(t, points{
		"field=a\uFFFDb,outcome=success,policy=dependency":                         1,
		"field=" + strings.Repeat("x", 199) + ",outcome=success,policy=dependency": 1,
	}, metrics.points("calls"))
}

func TestCallsFromManyGoroutinesAreAllCounted(t *testing.T) {
	registry := newRegistry(t, policy.Spec{Retry: retry(1)})
	metrics := observe(t, registry, otelresilience.WithCardinalityLimit(20))
	p := dependency(t, registry)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for i := range 100 {
				execute(t.Context(), p.WithSource(fmt.Sprint("Job.", i%40)), succeed)
			}
		})
	}
	callers.Wait()
	calls := metrics.points("calls")
	assert.Len(t, calls, 20+1)
	total := 0.0
	for _, count := range calls {
		total += count
	}
	assert.Equal(t, 800.0, total)
}
