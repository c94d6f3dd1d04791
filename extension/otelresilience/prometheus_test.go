package otelresilience_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/gqlresilience/gqlresilience/extension/otelresilience"
	"github.com/gqlresilience/gqlresilience/policy"
)

// exported are the values of labels, by metric and label.
type exported map[string]map[string][]string

// exportAll returns what Prometheus gets when everything has happened that the dashboard and the
// alerts ask about.
func exportAll(t *testing.T) exported {
	t.Helper()
	all := exported{}
	synctest.Test(t, func(t *testing.T) {
		collectors := prometheus.NewRegistry()
		exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(collectors))
		require.NoError(t, err)
		registry := newRegistry(t, policy.Spec{
			Retry:          retry(2),
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(1)},
			Fallback:       &policy.FallbackSpec{Func: func(context.Context, error) (any, error) { return new("flat"), nil }},
		})
		_, err = otelresilience.Observe(registry, otelresilience.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))))
		require.NoError(t, err)
		execute(t.Context(), dependency(t, registry), fail)
		for name, spec := range map[string]policy.Spec{
			"full":      {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1)}},
			"queue":     {Bulkhead: &policy.BulkheadSpec{MaxConcurrent: new(1), MaxQueue: new(1), QueueTimeout: new(time.Second)}},
			"abandoned": {Timeout: &policy.TimeoutSpec{Duration: new(time.Second), Mode: new(policy.Enforced), MaxAbandoned: new(1)}},
			"limited":   {RateLimit: &policy.RateLimitSpec{Limit: new(1), Interval: new(time.Hour)}},
		} {
			p, err := registry.New(name, spec)
			require.NoError(t, err)
			p = p.WithSource("Job.run")
			go execute(t.Context(), p, deaf)
			time.Sleep(2 * time.Second)
			execute(t.Context(), p, succeed)
		}
		time.Sleep(time.Minute)
		families, err := collectors.Gather()
		require.NoError(t, err)
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				labels := map[string]string{}
				for _, label := range metric.GetLabel() {
					labels[label.GetName()] = label.GetValue()
				}
				if metric.GetHistogram() == nil {
					all.add(family.GetName(), labels)
					continue
				}
				all.add(family.GetName()+"_count", labels)
				all.add(family.GetName()+"_sum", labels)
				labels["le"] = "+Inf"
				all.add(family.GetName()+"_bucket", labels)
			}
		}
	})
	return all
}

func (e exported) add(metric string, labels map[string]string) {
	if e[metric] == nil {
		e[metric] = map[string][]string{}
	}
	for label, value := range labels {
		e[metric][label] = append(e[metric][label], value)
	}
}

// What of PromQL and of templates is looked at. Nothing else in our files names a metric or a label.
var (
	selectors = regexp.MustCompile(`\b(gqlresilience_\w+)(?:\{([^}]*)\})?`)
	matchers  = regexp.MustCompile(`(\w+)(?:=~|=)"([^"]*)"`)
	groupings = regexp.MustCompile(`\bby \(([^)]*)\)`)
	templates = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}`)
)

// check holds an expression, and the templates that show its result, against what is exported.
func (e exported) check(t *testing.T, expression string, shown ...string) (metrics []string) {
	t.Helper()
	grouped := []string{}
	for _, by := range groupings.FindAllStringSubmatch(expression, -1) {
		grouped = append(grouped, strings.Split(by[1], ", ")...)
	}
	for _, selector := range selectors.FindAllStringSubmatch(groupings.ReplaceAllString(expression, ""), -1) {
		metric := selector[1]
		metrics = append(metrics, metric)
		if !assert.Contains(t, e, metric, expression) {
			continue
		}
		for _, matcher := range matchers.FindAllStringSubmatch(selector[2], -1) {
			label, values := matcher[1], strings.Split(matcher[2], "|")
			assert.Contains(t, e[metric], label, expression)
			for _, value := range values {
				if !strings.HasPrefix(value, "$") {
					assert.Contains(t, e[metric][label], value, expression)
				}
			}
		}
		for _, label := range grouped {
			if label != "job" { // which Prometheus adds
				assert.Contains(t, e[metric], label, expression)
			}
		}
	}
	assert.NotEmpty(t, metrics, expression)
	for _, template := range shown {
		for _, label := range templates.FindAllStringSubmatch(template, -1) {
			assert.Contains(t, grouped, label[1], "%s of %s", template, expression)
		}
	}
	return metrics
}

func TestTheDashboardShowsWhatIsExported(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	all := exportAll(t)
	used := map[string]bool{}
	for _, panel := range dashboard.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			for _, metric := range all.check(t, target.Expr, target.LegendFormat) {
				used[strings.TrimSuffix(metric, "_bucket")] = true
			}
		}
	}
	for metric := range all {
		if metric == "target_info" || strings.HasSuffix(metric, "_count") || strings.HasSuffix(metric, "_sum") {
			continue
		}
		assert.Contains(t, used, strings.TrimSuffix(metric, "_bucket"), "no panel shows it")
	}
	for _, variable := range dashboard.Templating.List {
		if values, ok := strings.CutPrefix(variable.Query, "label_values("); ok {
			metric, label, _ := strings.Cut(strings.TrimSuffix(values, ")"), ", ")
			assert.Contains(t, all[metric], label, variable.Query)
		}
	}
}

func TestTheAlertsAskAboutWhatIsExported(t *testing.T) {
	text, err := os.ReadFile("alerts.yml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Len(t, file.Groups, 1)
	all := exportAll(t)
	var names []string
	for _, rule := range file.Groups[0].Rules {
		names = append(names, rule.Alert)
		all.check(t, rule.Expr, slices.Collect(maps.Values(rule.Annotations))...)
		_, err := time.ParseDuration(rule.For)
		assert.NoError(t, err)
	}
	assert.Equal(t, []string{"CircuitBreakerOpen", "BulkheadRejecting", "FallbackRatioHigh"}, names)
}

var rows = regexp.MustCompile("(?m)^\\| `(gqlresilience[.a-z_]+)` \\| (counter|gauge|histogram), `([^`]+)` \\|([^|]*)\\|")

func TestTheDocumentedMetricsAreThoseThatAreExported(t *testing.T) {
	text, err := os.ReadFile("../../docs/observing.md")
	require.NoError(t, err)
	documented := map[string][]string{"target_info": {"service_name"}}
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		labels := []string{}
		for attribute := range strings.SplitSeq(strings.TrimSpace(row[4]), ", ") {
			if attribute != "" {
				labels = append(labels, "gqlresilience_"+attribute)
			}
		}
		slices.Sort(labels)
		switch name := strings.ReplaceAll(row[1], ".", "_"); row[2] {
		case "counter":
			documented[name+"_total"] = labels
		case "gauge":
			documented[name] = labels
		case "histogram":
			assert.Equal(t, "s", row[3])
			documented[name+"_seconds_count"], documented[name+"_seconds_sum"] = labels, labels
			documented[name+"_seconds_bucket"] = append(labels, "le")
		}
	}
	found := map[string][]string{}
	for metric, labels := range exportAll(t) {
		found[metric] = []string{}
		for _, label := range slices.Sorted(maps.Keys(labels)) {
			if !strings.HasPrefix(label, "otel_") && !strings.HasPrefix(label, "telemetry_") {
				found[metric] = append(found[metric], label)
			}
		}
	}
	assert.Equal(t, documented, found)
}

func TestTheDocumentedUnitsAreThoseOfTheInstruments(t *testing.T) {
	text, err := os.ReadFile("../../docs/observing.md")
	require.NoError(t, err)
	documented := map[string]string{}
	for _, row := range rows.FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[3]
	}
	found := map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t, policy.Spec{
			Timeout:        timeout(time.Second, policy.Enforced),
			Retry:          retry(2),
			CircuitBreaker: &policy.CircuitBreakerSpec{MinimumCalls: new(2)},
			Bulkhead:       &policy.BulkheadSpec{},
			RateLimit:      &policy.RateLimitSpec{Limit: new(2), Interval: new(time.Hour)},
			Fallback:       &policy.FallbackSpec{Func: func(context.Context, error) (any, error) { return new("flat"), nil }},
		})
		metrics := observe(t, registry)
		execute(t.Context(), dependency(t, registry), deaf)
		execute(t.Context(), dependency(t, registry), succeed)
		for name, metric := range metrics.all() {
			found[name] = metric.Unit
			assert.NotEmpty(t, metric.Description, name)
		}
		require.NoError(t, registry.Wait(t.Context()))
	})
	assert.Equal(t, documented, found)
}
