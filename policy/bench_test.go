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
		"cooperative":      everyStage(policy.Cooperative),
		"enforced":         everyStage(policy.Enforced),
		"breaker-only":     {CircuitBreaker: &policy.CircuitBreakerSpec{}},
		"four-cooperative": four(policy.Cooperative),
		"four-enforced":    four(policy.Enforced),
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

// The floor of enforced mode: what it costs to have a goroutine make the call.
func BenchmarkHandOff(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		done := make(chan struct{})
		go func() {
			_, _ = succeed(context.Background())
			close(done)
		}()
		<-done
	}
}

func BenchmarkRejectionByOpenBreaker(b *testing.B) {
	spec := everyStage(policy.Enforced)
	spec.Timeout, spec.Fallback = &policy.TimeoutSpec{Duration: new(time.Second)}, nil
	spec.CircuitBreaker.OpenDuration = new(time.Hour)
	p, registry := newPolicy(b, spec)
	breaker, _ := registry.CircuitBreaker("carrier")
	breaker.Trip()
	fn := func(context.Context) (string, error) { return "", nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.Execute(context.Background(), p, fn); err == nil {
			b.Fatal("the call was let through")
		}
	}
}

func four(mode policy.TimeoutMode) policy.Spec {
	s := everyStage(mode)
	s.Timeout.Total, s.RateLimit, s.Fallback = nil, nil, nil
	return s
}
