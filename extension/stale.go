package extension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// Stale says which values of a field are kept to answer for it when it fails, and for how long.
// All of it is required.
type Stale struct {
	// MaxAge is how old a value may be that is served. An older one is forgotten. Its age counts
	// from when the call of the field began that returned it, retries included: what it says may
	// have been read that early.
	MaxAge time.Duration

	// MaxEntries is how many values are kept, each of its own key. Beyond that, those that were
	// neither kept nor served for the longest time are forgotten. It does not limit their size.
	MaxEntries int

	// Key tells which value answers for which call: two calls of the same key are shown each
	// other's. So it must name all that the value depends on: of args, which are the field's;
	// of the field's parent, unless the field is a root's (see [Parent]); and of ctx, whoever
	// may not see what others see. ctx is what the policy was called with: in a guard the
	// resolver's, after the field's directives; without one the field's, from before them. So
	// take users from the request, and return false where there is none. With false, the call's
	// value is not kept, and none is served.
	//
	// It is called before each call of the resolver, and its panic is the field's. It must not
	// change args.
	Key func(ctx context.Context, args map[string]any) (key string, ok bool)
}

// WithStale answers for the field at coordinate where it fails: with the last good value that its
// resolver has returned for the key. By default, it answers for every failure but a cancelled
// request and a client's error; see [When]. With [WithFallback], that is asked where there is no
// such value or it is not to answer, each by its own conditions.
//
// A value is good if it came without an error, also one that was only added to the response; it
// may be nil where the field may. A client's error, such as NOT_FOUND or FORBIDDEN, forgets the
// key's value, unless it was answered for, and what operations that are under way return for the
// key is not kept either. Of several calls at a time, the value of the one that began last stays.
// Fields under the value are resolved anew.
//
// What is kept is what the resolver returned, and not a copy: requests share it at the same
// time, so nobody may change it, resolvers of its fields included. Values are kept in
// memory, for each executable schema apart; of those that were made of one schema, an extension
// with stale answers serves one.
//
// It is not for root fields of mutations and subscriptions, for federation's entity finders, nor
// for batch resolvers in a guard, where one call answers for many parents.
func WithStale(coordinate string, spec Stale, options ...FallbackOption) Option {
	return func(e *Extension) {
		if _, ok := e.stale[coordinate]; ok {
			e.mistake("WithStale(%q): given twice", coordinate)
			return
		}
		if spec.MaxAge <= 0 {
			e.mistake("WithStale(%q): MaxAge: %v: must be more than 0", coordinate, spec.MaxAge)
		}
		if spec.MaxEntries < 1 {
			e.mistake("WithStale(%q): MaxEntries: %d: must be at least 1", coordinate, spec.MaxEntries)
		}
		if spec.Key == nil {
			e.mistake("WithStale(%q): Key: is required: a value must not be shown to those who may not see it", coordinate)
		}
		conditions := e.conditionsOf(options, "WithStale", coordinate)
		e.stale[coordinate] = stale{spec, conditions.any(), conditions.names()}
	}
}

// stale is what WithStale gives a field.
type stale struct {
	Stale
	answers func(error) bool // nil: for all but client's errors
	when    []string         // what a [Plan] calls these conditions
}

// before makes one fallback of the stale value and, where that does not answer, of next, which
// may be nil.
func (s stale) before(next *policy.FallbackSpec, registry *policy.Registry) *policy.FallbackSpec {
	asked := func(answers func(error) bool, err error) bool {
		if answers == nil {
			return !registry.IsClientError(err)
		}
		return answers(err)
	}
	return &policy.FallbackSpec{
		Func: func(ctx context.Context, err error) (any, error) {
			if asked(s.answers, err) {
				if value, ok := staleCallOf(ctx).serve(); ok {
					return value, nil
				}
			}
			if next != nil && asked(next.FallbackIf, err) {
				return next.Func(ctx, err)
			}
			return nil, policy.ErrNoFallback
		},
		FallbackIf: func(error) bool { return true }, // each decides for itself
	}
}

// staleMistakes reports stale answers where another fallback would get lost, and where a key
// can't tell calls apart.
func (e *Extension) staleMistakes(g *generated, fields []schema.Field) error {
	var errs []error
	mistake := func(coordinate, format string, args ...any) {
		errs = append(errs, fmt.Errorf("WithStale(%q): "+format, append([]any{coordinate}, args...)...))
	}
	for _, coordinate := range slices.Sorted(maps.Keys(e.stale)) {
		if e.fields[coordinate].Spec.Fallback != nil {
			mistake(coordinate, "the fallback of WithField(%q) would get lost: give it by WithFallback(%[2]q)", coordinate)
		}
	}
	for _, f := range fields {
		coordinate := f.Coordinate()
		if _, ok := e.stale[coordinate]; !ok {
			continue
		}
		switch s := g.es.Schema(); {
		case f.Object == rootName(s.Mutation):
			mistake(coordinate, "what a mutation has done before does not answer for what it has not done now")
		case f.Object == rootName(s.Subscription):
			mistake(coordinate, "a stream can't be kept")
		case isEntityFinder(s, f):
			mistake(coordinate, "is an entity finder, whose arguments a key can't see")
		case g.isBatch(f) && g.guarded[coordinate]:
			mistake(coordinate, "is a batch resolver in a guard: one call answers for many parents, which a key can't tell apart")
		}
		if _, ok := e.fallbacks[coordinate]; !ok && e.hasFallback(f.Preset) {
			mistake(coordinate, "the fallback of preset %q would get lost: give it by WithFallback(%[1]q) too", f.Preset)
		}
	}
	return errors.Join(errs...)
}

// hasFallback reports whether the preset, if there is one of that name, has a fallback.
func (e *Extension) hasFallback(preset string) bool {
	if e.registry == nil || preset == "" {
		return false
	}
	p, err := e.registry.Preset(preset)
	return err == nil && p != nil && p.Describe().Fallback
}
