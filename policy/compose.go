package policy

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// Composition is a policy to be made of several layers of settings. It is for adapters, such
// as the gqlgen extension, that have layers of their own above the presets.
type Composition struct {
	// Name is what runs, such as "Query.shippingQuotes". It names the gates that Layers
	// configure and, where there is no preset, the policy.
	Name string

	// Origin begins the messages about the composition.
	Origin string

	// Layers come before the preset, the first before the second.
	Layers []Layer

	// Preset is the preset that settings are taken from where Layers have none. Its gates are
	// used as they are unless Layers change their settings. "": none.
	Preset string

	// PresetOrigin is where the preset was named. "": Origin.
	PresetOrigin string

	// Mode is the timeout mode where no layer says one. 0: Cooperative.
	Mode TimeoutMode

	// Optional allows a composition with no stage on; its policy is nil.
	Optional bool

	// Bare makes a policy even where no stage is on, for calls that only the time of a [Budget]
	// limits.
	Bare bool

	presetless bool // it can't name a preset
}

// Compose makes a policy of each composition, for adapters. Stage by stage and setting by
// setting the first of these wins: the layers, the preset, Config.Defaults, the built-in
// defaults. A stage is on when the first layer or preset that mentions it does not say Enabled:
// new(false); one that does lends the stage no settings.
//
// A policy is nil where nothing is on because a layer turned it all off, or the composition is
// optional. The error tells all that is wrong at once; then nothing was made.
func (r *Registry) Compose(list ...Composition) ([]*Policy, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.planLocked(list, true)
	if err != nil {
		return nil, err
	}
	return r.makeLocked(all), nil
}

// Check reports what Compose would, and makes nothing.
func (r *Registry) Check(list ...Composition) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.planLocked(list, true)
	return err
}

// composed is a composition on its way to a policy.
type composed struct {
	Composition
	merged
	policyName string
	breaker    *claim[breakerSettings]
	bulkhead   *claim[bulkheadSettings]
	limiter    *claim[rateLimitSettings]
}

// planLocked merges the compositions and checks them, also against what the registry has.
// prefixed says whether errors about a setting, which name the setting's origin in any case,
// begin with the composition's.
func (r *Registry) planLocked(list []Composition, prefixed bool) ([]composed, error) {
	var errs []error
	all := make([]composed, len(list))
	for i, c := range list {
		made, err := r.merge(c, prefixed)
		errs = append(errs, err...)
		all[i] = made
	}
	complete := len(errs) == 0 // are the claims
	errs = append(errs, r.breakers.check(claims(all, composed.breakerClaim), complete)...)
	errs = append(errs, r.bulkheads.check(claims(all, composed.bulkheadClaim), complete)...)
	errs = append(errs, r.limiters.check(claims(all, composed.limiterClaim), complete)...)
	if len(errs) > 0 {
		return nil, distinct(errors.Join(errs...))
	}
	return all, nil
}

// makeLocked makes the policies, and the gates that are missing.
func (r *Registry) makeLocked(all []composed) []*Policy {
	r.breakers.makeMissing(claims(all, composed.breakerClaim))
	r.bulkheads.makeMissing(claims(all, composed.bulkheadClaim))
	r.limiters.makeMissing(claims(all, composed.limiterClaim))
	policies := make([]*Policy, len(all))
	for i, c := range all {
		if c.spec != (Spec{}) || c.Bare {
			policies[i] = r.buildLocked(c)
		}
	}
	return policies
}

func (c composed) breakerClaim() *claim[breakerSettings]   { return c.breaker }
func (c composed) bulkheadClaim() *claim[bulkheadSettings] { return c.bulkhead }
func (c composed) limiterClaim() *claim[rateLimitSettings] { return c.limiter }

// merge merges a composition's layers and finds out which gates it claims.
func (r *Registry) merge(c Composition, prefixed bool) (composed, []error) {
	made := composed{Composition: c, policyName: c.Name}
	layers := c.Layers
	if c.Preset != "" {
		p, err := r.preset(c.Preset)
		if err != nil {
			return made, []error{fmt.Errorf("%s: %w", cmp.Or(c.PresetOrigin, c.Origin), err)}
		}
		layers = append(layers[:len(layers):len(layers)], p.layer)
		made.policyName = c.Preset
	}
	made.merged = merge(layers, r.defaults, builtIn())
	if made.spec == (Spec{}) {
		if c.Optional || c.Bare || made.exempt {
			return made, nil
		}
		remedy := "name a preset or set a timeout"
		if c.presetless {
			remedy = "set a timeout or another stage"
		}
		return made, []error{fmt.Errorf("%s: turns no stage on: %s (Config.Defaults turn none on)", c.Origin, remedy)}
	}
	if err := errors.Join(validate(made.merged), validateComplete(made.merged)); err != nil {
		errs := flatten(err)
		for i, err := range errs {
			if prefixed && !strings.Contains(err.Error(), "("+c.Origin+")") {
				errs[i] = fmt.Errorf("%s: %w", c.Origin, err)
			}
		}
		return made, errs
	}
	made.merged = made.settled(c.Mode)
	if b := made.spec.CircuitBreaker; b != nil {
		made.breaker = newClaim(r, made, "CircuitBreaker", newBreakerSettings(b))
	}
	if b := made.spec.Bulkhead; b != nil {
		made.bulkhead = newClaim(r, made, "Bulkhead", newBulkheadSettings(b))
	}
	if l := made.spec.RateLimit; l != nil {
		made.limiter = newClaim(r, made, "RateLimit", newRateLimitSettings(l))
	}
	return made, nil
}

// newClaim finds out which gate a composition uses for a stage that is on. One that its layers
// name goes by that name; one that they change or bring goes by the composition's; any other
// is the preset's.
func newClaim[S any](r *Registry, c composed, stage string, settings S) *claim[S] {
	changed := changes(c.Layers, stage)
	if name, origin := gateName(c.Layers, stage); name != "" {
		return &claim[S]{name: name, configures: changed, origin: origin, settings: settings, from: c.merged}
	}
	if c.Preset != "" && !changed {
		if layer := r.presets[c.Preset].layer; mentions(layer, stage) {
			name, _ := gateName([]Layer{layer}, stage)
			return &claim[S]{name: cmp.Or(name, c.Preset), origin: layer.Origin, settings: settings, from: c.merged}
		}
	}
	return &claim[S]{name: c.Name, configures: true, origin: c.origins[settingName(stage)], settings: settings, from: c.merged}
}

func claims[S any](all []composed, of func(composed) *claim[S]) []claim[S] {
	var list []claim[S]
	for _, c := range all {
		if claim := of(c); claim != nil {
			list = append(list, *claim)
		}
	}
	return list
}

func (r *Registry) buildLocked(c composed) *Policy {
	abandoned := r.abandonedBy[c.policyName]
	if abandoned == nil {
		abandoned = &abandonedAttempts{}
		r.abandonedBy[c.policyName] = abandoned
	}
	p := newPlan(c.merged, abandoned)
	p.breaker = use(p, &r.breakers, c.breaker, "CircuitBreaker")
	p.bulkhead = use(p, &r.bulkheads, c.bulkhead, "Bulkhead")
	p.limiter = use(p, &r.limiters, c.limiter, "RateLimit")
	handle := &atomic.Pointer[plan]{}
	handle.Store(p)
	return newPolicy(r, c.policyName, c.Name, handle)
}

// use returns the gate that p has a claim on, if it has one, and notes what the gate was made
// from: whoever only names a gate has no say in its settings.
func use[S, G any](p *plan, all *gates[S, G], c *claim[S], stage string) (it G) {
	if c == nil {
		return it
	}
	found := all.all[c.name]
	p.made = p.made.withGate(stage, c.name, c.origin, found.from)
	return found.value
}

// flatten lists the errors that were joined into err, at any depth.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, err := range joined.Unwrap() {
		list = append(list, flatten(err)...)
	}
	return list
}

// distinct is the joined error err without those that say the same as one before: a mistake
// in the defaults is found again in each preset that takes them.
func distinct(err error) error {
	var list []error
	seen := map[string]bool{}
	for _, err := range flatten(err) {
		if !seen[err.Error()] {
			seen[err.Error()] = true
			list = append(list, err)
		}
	}
	return errors.Join(list...)
}
