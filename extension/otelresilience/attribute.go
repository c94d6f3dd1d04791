package otelresilience

import "go.opentelemetry.io/otel/attribute"

// The keys of attributes. docs/observing.md says what they mean.
const (
	policyKey         = attribute.Key("gqlresilience.policy")
	fieldKey          = attribute.Key("gqlresilience.field")
	outcomeKey        = attribute.Key("gqlresilience.outcome")
	reasonKey         = attribute.Key("gqlresilience.reason")
	circuitBreakerKey = attribute.Key("gqlresilience.circuit_breaker")
	stateKey          = attribute.Key("gqlresilience.state")
	bulkheadKey       = attribute.Key("gqlresilience.bulkhead")
	rateLimiterKey    = attribute.Key("gqlresilience.rate_limiter")

	// Of spans and their events alone.
	attemptCountKey  = attribute.Key("gqlresilience.attempt.count")
	attemptNumberKey = attribute.Key("gqlresilience.attempt.number")
	retryDelayKey    = attribute.Key("gqlresilience.retry.delay")
	timeoutLimitKey  = attribute.Key("gqlresilience.timeout.limit")
	errorTypeKey     = attribute.Key("error.type")
)

// identity are the attributes of policy and field. One without a name has none.
func identity(policy, field string) []attribute.KeyValue {
	var all []attribute.KeyValue
	if policy != "" {
		all = append(all, policyKey.String(policy))
	}
	if field != "" {
		all = append(all, fieldKey.String(field))
	}
	return all
}
