package schema

import "github.com/gqlresilience/gqlresilience/policy"

// Settings are what Go code says about one field, for what a directive cannot say or a schema
// that cannot be edited. The zero value says nothing. What a field's directive says must not
// be said here again, not even with the same value.
type Settings struct {
	// Preset names the field's preset. Empty: not given.
	Preset string

	// Idempotent says whether the field may be called again in a mutation or subscription.
	// nil: not given.
	Idempotent *bool

	// Spec sets stages of the field's policy, with precedence over everything else. Its
	// Timeout must not set Duration or Enabled where the field's directive has a timeout, and
	// must be nil where that is "off".
	Spec policy.Spec

	// Origin is what messages call these settings, such as `WithField("Query.orders")`.
	// Empty: the settings are called by their field.
	Origin string
}

// setsStage reports whether the settings mention any stage.
func (s Settings) setsStage() bool {
	return s.Spec != (policy.Spec{})
}
