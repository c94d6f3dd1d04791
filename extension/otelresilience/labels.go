package otelresilience

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// labels are the attributes of a measurement, as the API takes them. They are made once, for there
// are measurements for every attempt.
type labels struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func labelled(attributes ...attribute.KeyValue) labels {
	set := metric.WithAttributeSet(attribute.NewSet(attributes...))
	return labels{[]metric.AddOption{set}, []metric.RecordOption{set}}
}

// labelledEach returns the labels that have base and, under key, each of the values.
func labelledEach[V ~string](base []attribute.KeyValue, key attribute.Key, values ...V) map[V]labels {
	all := make(map[V]labels, len(values))
	for _, value := range values {
		all[value] = labelled(append(base[:len(base):len(base)], key.String(string(value)))...)
	}
	return all
}
