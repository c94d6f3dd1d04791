package otelresilience

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
)

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

// other is the value of an attribute for all that are not told apart, as in OpenTelemetry's
// conventions.
const other = "_OTHER"

// longest is how many bytes of a name are shown.
const longest = 200

// printable makes a name fit for an attribute. Exporters refuse all that they are to export over one
// value that is not UTF-8.
func printable(name string) string {
	if len(name) > longest {
		end := longest
		for end > longest-utf8.UTFMax && !utf8.RuneStart(name[end]) {
			end--
		}
		name = name[:end]
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

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
