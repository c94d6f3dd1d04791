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
		"Query.timed": `{"field":"Query.timed","origin":"schema.graphqls:33","byType":false,"policy":"Query.timed","hookedIn":"guard",` +
			`"timeout":{"duration":"500ms","mode":"Enforced"},"attempts":{"query":1},"idempotent":false,` +
			`"fallbacks":[{"origin":"WithFallback(\"Query.timed\")","func":"extension_test.noText",` +
			`"answers":["the operation timed out","the dependency is down","extension_test.isDown"]}],` +
			`"worstCase":{"duration":"510ms","withoutRetryAfter":"510ms"},` +
			`"settings":[{"path":"timeout.enabled","value":true,"origin":"schema.graphqls:33"},` +
			`{"path":"timeout.duration","value":"500ms","origin":"schema.graphqls:33"},` +
			`{"path":"timeout.mode","value":"Enforced","origin":"built-in default"},` +
			`{"path":"timeout.maxAbandoned","value":1000,"origin":"built-in default"}]}`,
		"Query.strictText": `{"field":"Query.strictText","origin":"WithField(\"Query.strictText\")","byType":false,"policy":"export","hookedIn":"guard",` +
			`"attempts":{"query":1},"idempotent":false,"bulkhead":"export","rateLimit":"export",` +
			`"fallbacks":[{"origin":"preset \"export\"","func":"extension_test.nothing","answers":["extension_test.isDown"]}],` +
			`"takesAlong":["the whole response"],"worstCase":{"unbounded":"attempts without timeout.duration"},`,
		"Query.text": `{"field":"Query.text","origin":"WithField(\"Query.text\")","byType":false,"policy":"Query.text","hookedIn":"guard",` +
			`"timeout":{"total":"1m0s","mode":"Enforced"},"attempts":{"query":"unlimited"},`,
		"Mutation.book": `{"field":"Mutation.book","origin":"schema.graphqls:41","byType":false,"policy":"dependency","hookedIn":"guard",` +
			`"timeout":{"duration":"2s","mode":"Cooperative"},"attempts":{"mutation":2},"idempotent":true,"circuitBreaker":"dependency",` +
			`"worstCase":{"duration":"5s","withoutRetryAfter":"4.2s"},`,
		"Guarded.plain": `{"field":"Guarded.plain","origin":"schema.graphqls:97 (type Guarded)","byType":true,"policy":"Guarded.plain","hookedIn":"middleware",`,
	} {
		got := fieldJSON(t, e.Plan(), coordinate)
		assert.Equal(t, want, got[:min(len(want), len(got))], coordinate)
	}
}
