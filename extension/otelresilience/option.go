package otelresilience

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// Option configures [Observe].
type Option func(*config) error

type config struct {
	provider metric.MeterProvider
	limit    int
}

// defaultLimit keeps an instrument with an outcome, of which there are seven, below the 2,000
// series that an SDK has by default.
const defaultLimit = 250

func configured(options []Option) (config, error) {
	c := config{provider: otel.GetMeterProvider(), limit: defaultLimit}
	var mistakes []error
	for _, option := range options {
		err := errors.New("an option is nil")
		if option != nil {
			err = option(&c)
		}
		mistakes = append(mistakes, err)
	}
	return c, errors.Join(mistakes...)
}

// WithMeterProvider sets what the instruments are made by. By default it is OpenTelemetry's global
// provider, at first one that passes everything on to the provider set later.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(c *config) error {
		if provider == nil {
			return errors.New("WithMeterProvider: the provider is nil")
		}
		c.provider = provider
		return nil
	}
}

// WithCardinalityLimit sets how many pairs of policy and field metrics tell apart, and likewise how
// many breakers, bulkheads and limiters: the first limit of them; by default 250. All others are
// together the field, or the breaker and so on, named _OTHER: nothing goes uncounted. An SDK has a
// limit of its own, often of 2,000 series per instrument, which wants to be some eight times this one.
//
// It does not limit spans.
func WithCardinalityLimit(limit int) Option {
	return func(c *config) error {
		if limit < 1 {
			return fmt.Errorf("WithCardinalityLimit: %d: must be at least 1", limit)
		}
		c.limit = limit
		return nil
	}
}
