package dashboard_test

import (
	"fmt"
	"testing"

	"github.com/gqlresilience/gqlresilience/policy"
)

// What a call costs that is watched, beside one that is not.
func BenchmarkCall(b *testing.B) {
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprintf("watched=%t", watched), func(b *testing.B) {
			registry := newRegistry(b, map[string]policy.Spec{"carrier": carrier})
			if watched {
				newDashboard(b, registry)
			}
			p := preset(b, registry, "carrier")
			b.ReportAllocs()
			for b.Loop() {
				call(p, 1, succeed)
			}
		})
	}
}

// What a rejected call costs, which is told in the journal too.
func BenchmarkRejection(b *testing.B) {
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprintf("watched=%t", watched), func(b *testing.B) {
			registry := newRegistry(b, map[string]policy.Spec{"carrier": carrier})
			breaker, _ := registry.CircuitBreaker("carrier")
			breaker.Trip()
			if watched {
				newDashboard(b, registry)
			}
			p := preset(b, registry, "carrier")
			b.ReportAllocs()
			for b.Loop() {
				call(p, 1, succeed)
			}
		})
	}
}

// What a second costs while somebody looks.
func BenchmarkSnapshot(b *testing.B) {
	for _, policies := range []int{3, 250} {
		b.Run(fmt.Sprintf("policies=%d", policies), func(b *testing.B) {
			presets := map[string]policy.Spec{}
			for i := range policies {
				presets[fmt.Sprint("carrier", i)] = carrier
			}
			registry := newRegistry(b, presets)
			d := newDashboard(b, registry)
			for name := range presets {
				call(preset(b, registry, name), 20, fail)
			}
			b.ReportAllocs()
			for b.Loop() {
				d.Encoded()
			}
		})
	}
}
