package extension_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/testgraph"
)

// fieldJSON returns the plan's JSON of the field.
func fieldJSON(t testing.TB, plan extension.Plan, coordinate string) string {
	t.Helper()
	encoded, err := json.Marshal(plan)
	require.NoError(t, err)
	var decoded struct{ Fields []json.RawMessage }
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	require.Len(t, decoded.Fields, len(plan.Fields))
	for i, f := range plan.Fields {
		if f.Coordinate == coordinate {
			return string(decoded.Fields[i])
		}
	}
	require.Fail(t, "no field "+coordinate)
	return ""
}

// The order of the keys counts.
func TestThePlanAsJSON(t *testing.T) {
	e := planned(t)
	require.Empty(t, use(t, testgraph.NewGuardedSchema(&testgraph.Stub{}), e))
	for coordinate, want := range map[string]string{
		"Query.timed": `{"field":"Query.timed","origin":"schema.graphqls:N","byType":false,"policy":"Query.timed","hookedIn":"guard",` +
			`"timeout":{"duration":"500ms","mode":"Enforced"},"attempts":{"query":1},"idempotent":false,` +
			`"fallbacks":[{"origin":"WithFallback(\"Query.timed\")","func":"extension_test.noText",` +
			`"when":["the operation timed out","the dependency is down","extension_test.isDown"]}],` +
			`"worstCase":{"duration":"510ms","withoutRetryAfter":"510ms"},` +
			`"settings":[{"path":"timeout.enabled","value":true,"origin":"schema.graphqls:N"},` +
			`{"path":"timeout.duration","value":"500ms","origin":"schema.graphqls:N"},` +
			`{"path":"timeout.mode","value":"Enforced","origin":"built-in default"},` +
			`{"path":"timeout.maxAbandoned","value":1000,"origin":"built-in default"}]}`,
		"Query.strictText": `{"field":"Query.strictText","origin":"WithField(\"Query.strictText\")","byType":false,"policy":"export","hookedIn":"guard",` +
			`"attempts":{"query":1},"idempotent":false,"bulkhead":"export","rateLimit":"export",` +
			`"fallbacks":[{"origin":"preset \"export\"","func":"extension_test.nothing","when":["extension_test.isDown"]}],` +
			`"takesAlong":["the whole response"],"worstCase":{"unbounded":"attempts without timeout.duration"},`,
		"Query.text": `{"field":"Query.text","origin":"WithField(\"Query.text\")","byType":false,"policy":"Query.text","hookedIn":"guard",` +
			`"timeout":{"total":"1m0s","mode":"Enforced"},"attempts":{"query":"unlimited"},`,
		"Mutation.book": `{"field":"Mutation.book","origin":"schema.graphqls:N","byType":false,"policy":"dependency","hookedIn":"guard",` +
			`"timeout":{"duration":"2s","mode":"Cooperative"},"attempts":{"mutation":2},"idempotent":true,"circuitBreaker":"dependency",` +
			`"worstCase":{"duration":"5s","withoutRetryAfter":"4.2s"},`,
		"Query.annotated": `{"field":"Query.annotated","origin":"schema.graphqls:N","byType":false,"policy":"dependency","hookedIn":"guard",` +
			`"timeout":{"duration":"1.5s","mode":"Enforced"},"attempts":{"query":2},"idempotent":false,"circuitBreaker":"dependency",` +
			`"fallbacks":[{"origin":"WithStale(\"Query.annotated\")","maxAge":"1h0m0s","when":["the circuit is open"]},` +
			`{"origin":"WithFallback(\"Query.annotated\")","func":"extension_test.noItems"}],` +
			`"worstCase":{"duration":"4.01s","withoutRetryAfter":"3.22s"},"settings":[{"path":"timeout.enabled",`,
		"Guarded.computed": `{"field":"Guarded.computed","origin":"schema.graphqls:N (type Guarded)","byType":false,"policy":"Guarded.computed","hookedIn":"middleware",`,
	} {
		got := unnumbered(fieldJSON(t, e.Plan(), coordinate))
		assert.Equal(t, want, got[:min(len(want), len(got))], coordinate)
	}
}
