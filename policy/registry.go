package policy

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gqlresilience/gqlresilience/internal/nearest"
)

// Registry holds the policies of a process, and the breakers, bulkheads and limiters that
// they share. It is safe for concurrent use.
type Registry struct {
	defaults Layer
	presets  map[string]*preset

	events    bus
	abandoned abandonedAttempts

	mu sync.Mutex
	// All below is guarded by mu.
	breakers    gates[breakerSettings, *CircuitBreaker]
	bulkheads   gates[bulkheadSettings, *Bulkhead]
	limiters    gates[rateLimitSettings, *RateLimiter]
	abandonedBy map[string]*abandonedAttempts // by policy name

	clientErrors atomic.Pointer[[]func(error) bool] // replaced under mu
}

type preset struct {
	layer  Layer
	policy *Policy
}

// NewRegistry makes a registry of config's presets. Its error tells all that is wrong with
// config at once, each mistake by setting, value and origin. The specs are copied: changing one
// afterwards changes nothing.
func NewRegistry(config Config) (*Registry, error) {
	r := &Registry{
		defaults:    Layer{Origin: defaultsOrigin, Spec: clone(config.Defaults)},
		presets:     map[string]*preset{},
		abandonedBy: map[string]*abandonedAttempts{},
	}
	r.breakers = gates[breakerSettings, *CircuitBreaker]{
		stage: "circuitBreaker", all: map[string]*gate[breakerSettings, *CircuitBreaker]{}, same: sameBreaker,
		make: func(name string, s breakerSettings) *CircuitBreaker { return newCircuitBreaker(name, s, &r.events) },
	}
	r.bulkheads = gates[bulkheadSettings, *Bulkhead]{
		stage: "bulkhead", all: map[string]*gate[bulkheadSettings, *Bulkhead]{}, same: equal[bulkheadSettings], make: newBulkhead,
	}
	r.limiters = gates[rateLimitSettings, *RateLimiter]{
		stage: "rateLimit", all: map[string]*gate[rateLimitSettings, *RateLimiter]{}, same: equal[rateLimitSettings], make: newRateLimiter,
	}
	if config.IsClientError != nil {
		r.AddClientErrorClassifier(config.IsClientError)
	}

	errs := []error{validateDefaults(config.Defaults)}
	names := slices.Sorted(maps.Keys(config.Presets))
	var list []Composition
	for _, name := range names {
		origin := fmt.Sprintf("preset %q", name)
		if mistake := nameMistake(name); mistake != "" {
			errs = append(errs, fmt.Errorf("%s: its name %s", origin, mistake))
		}
		layer := Layer{Origin: origin, Spec: clone(config.Presets[name])}
		r.presets[name] = &preset{layer: layer}
		list = append(list, Composition{Name: name, Origin: origin, Layers: []Layer{layer}, presetless: true})
	}
	all, err := r.planLocked(list, false) // nobody else has r yet
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("policy.NewRegistry:\n%w", distinct(err))
	}
	for i, p := range r.makeLocked(all) {
		r.presets[names[i]].policy = p.WithSource("")
	}
	return r, nil
}

// Preset returns the policy of a preset of the config. Its gates are those of every field
// that uses the preset. An unknown name is an error that tells the nearest one.
func (r *Registry) Preset(name string) (*Policy, error) {
	p, err := r.preset(name)
	if err != nil {
		return nil, err
	}
	return p.policy, nil
}

func (r *Registry) preset(name string) (*preset, error) {
	if p, ok := r.presets[name]; ok {
		return p, nil
	}
	if near := nearest.Name(name, slices.Sorted(maps.Keys(r.presets))); near != "" {
		return nil, fmt.Errorf("unknown preset %q: did you mean %q?", name, near)
	}
	if len(r.presets) == 0 {
		return nil, fmt.Errorf("unknown preset %q: the registry has none", name)
	}
	known := slices.Sorted(maps.Keys(r.presets))
	return nil, fmt.Errorf("unknown preset %q: known are %s", name, strings.Join(known, ", "))
}

// Presets iterates over the presets and their policies, sorted by name.
func (r *Registry) Presets() iter.Seq2[string, *Policy] {
	return func(yield func(string, *Policy) bool) {
		for _, name := range slices.Sorted(maps.Keys(r.presets)) {
			if !yield(name, r.presets[name].policy) {
				return
			}
		}
	}
}

// New makes a policy of spec, beside the presets: for code that has its settings at hand. Its
// gates go by name, unless spec names others.
func (r *Registry) New(name string, spec Spec) (*Policy, error) {
	origin := fmt.Sprintf("policy %q", name)
	if mistake := nameMistake(name); mistake != "" {
		return nil, fmt.Errorf("policy.Registry.New: %s: its name %s", origin, mistake)
	}
	policies, err := r.Compose(Composition{
		Name: name, Origin: origin, Layers: []Layer{{Origin: origin, Spec: spec}}, presetless: true,
	})
	if err != nil {
		return nil, err
	}
	return policies[0].WithSource(""), nil
}

// AddClientErrorClassifier makes errors for which is reports true the caller's fault, beside those
// that Config.IsClientError and earlier calls say. It panics if is is nil.
func (r *Registry) AddClientErrorClassifier(is func(error) bool) {
	if is == nil {
		panic("policy: Registry.AddClientErrorClassifier: the function is nil")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []func(error) bool
	if old := r.clientErrors.Load(); old != nil {
		all = slices.Clone(*old)
	}
	all = append(all, is)
	r.clientErrors.Store(&all)
}

// IsClientError reports whether the registry's policies take err for the caller's fault: it is
// not retried, no breaker counts it, and by default no fallback hides it.
func (r *Registry) IsClientError(err error) bool {
	return classify(err, r.isClassified) == classClientError
}

// isClassified reports whether a classifier says of err itself that it is the caller's fault.
func (r *Registry) isClassified(err error) bool {
	all := r.clientErrors.Load()
	return all != nil && slices.ContainsFunc(*all, func(is func(error) bool) bool { return is(err) })
}

// CircuitBreaker returns the breaker of that name, if a policy has one.
func (r *Registry) CircuitBreaker(name string) (*CircuitBreaker, bool) {
	return find(r, &r.breakers, name)
}

// Bulkhead returns the bulkhead of that name, if a policy has one.
func (r *Registry) Bulkhead(name string) (*Bulkhead, bool) { return find(r, &r.bulkheads, name) }

// RateLimiter returns the limiter of that name, if a policy has one.
func (r *Registry) RateLimiter(name string) (*RateLimiter, bool) {
	return find(r, &r.limiters, name)
}

// CircuitBreakers iterates over the breakers, sorted by name.
func (r *Registry) CircuitBreakers() iter.Seq2[string, *CircuitBreaker] {
	return iterate(r, &r.breakers)
}

// Bulkheads iterates over the bulkheads, sorted by name.
func (r *Registry) Bulkheads() iter.Seq2[string, *Bulkhead] { return iterate(r, &r.bulkheads) }

// RateLimiters iterates over the limiters, sorted by name.
func (r *Registry) RateLimiters() iter.Seq2[string, *RateLimiter] { return iterate(r, &r.limiters) }

func find[S, G any](r *Registry, all *gates[S, G], name string) (it G, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := all.all[name]; ok {
		return found.value, true
	}
	return it, false
}

func iterate[S, G any](r *Registry, all *gates[S, G]) iter.Seq2[string, G] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return all.byName()
}

func equal[S comparable](a, b S) bool { return a == b }

func sameBreaker(a, b breakerSettings) bool {
	sameFunc := reflect.ValueOf(a.recordIf).Pointer() == reflect.ValueOf(b.recordIf).Pointer()
	a.recordIf, b.recordIf = nil, nil
	return sameFunc && reflect.DeepEqual(a, b)
}
