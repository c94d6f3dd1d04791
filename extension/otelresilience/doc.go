// Package otelresilience tells OpenTelemetry what the policies of a registry do.
//
//	policy event → counters and histograms, by policy and field
//	             → events and attributes of the span in the event's context
//	collection   → state of breakers, load of bulkheads, tokens of limiters, abandoned attempts
//
// [Observe] is all that it takes. It needs OpenTelemetry's API alone: which SDK and which exporters
// there are, the program decides. docs/observing.md lists every name with its unit and attributes, and
// has a dashboard and alert rules that use them.
//
// Nothing that an error says reaches an attribute: its code, status or Go type does. Values that
// programs choose are bounded in number, see [WithCardinalityLimit], and in length.
package otelresilience
