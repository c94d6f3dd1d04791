package policy_test

import (
	"context"
	"testing"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
)

// everyStage has all stages on, with room for every call.
func everyStage(mode policy.TimeoutMode) policy.Spec {
	return policy.Spec{
		Timeout:        &policy.TimeoutSpec{Duration: new(time.Second), Total: new(time.Minute), Mode: &mode},
		Retry:          &policy.RetrySpec{},
		CircuitBreaker: &policy.CircuitBreakerSpec{},
		Bulkhead:       &policy.BulkheadSpec{MaxConcurrent: new(1000)},
		RateLimit:      limitSpec(1_000_000_000, time.Second),
		Fallback:       &policy.FallbackSpec{Func: answer},
	}
}

func BenchmarkSuccess(b *testing.B) {
	for name, spec := range map[string]policy.Spec{
		"cooperative":  everyStage(policy.Cooperative),
		"enforced":     everyStage(policy.Enforced),
		"breaker-only": {CircuitBreaker: &policy.CircuitBreakerSpec{}},
	} {
		b.Run(name, func(b *testing.B) {
			p, _ := newPolicy(b, spec)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := policy.Execute(context.Background(), p, succeed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSuccessParallel(b *testing.B) {
	p, _ := newPolicy(b, everyStage(policy.Cooperative))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := policy.Execute(context.Background(), p, succeed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
