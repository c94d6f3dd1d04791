package extension

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// PlanField tells what one field has come to.
type PlanField struct {
	// Coordinate is the field's, such as "Query.shippingQuotes".
	Coordinate string

	// Origin is where its policy comes from: file and line of its annotation or its type's, or
	// the option that names it.
	Origin string

	// ByType: it is annotated by its object type alone, and runs under the policy only if it has
	// a resolver or a bound method, which is not known. See [WithResolvers].
	ByType bool

	// LooksLikeData: it seems to be bound to plain data in Go, and then never runs under the policy.
	// Where guards are generated that is known, and such a field has no place in the plan.
	LooksLikeData bool

	// Policy is the name of the policy: the preset's or, without one, the coordinate.
	Policy string

	// HookedIn is "guard" or "middleware", or "" where it is not known.
	HookedIn string

	// QueryAttempts and MutationAttempts are how many attempts there may be in a query, and in a
	// mutation or subscription, the first included: [policy.Unlimited] if there is no end to
	// them, and 0 if the field can't be part of such an operation.
	QueryAttempts, MutationAttempts int

	// Idempotent: the field may be retried in mutations and subscriptions.
	Idempotent bool

	// Description tells the stages, with every setting in force and where it came from. What
	// [WithFallback] and [WithStale] give is not among the settings but in Fallbacks.
	Description policy.Description

	// Fallbacks are those that answer for the field when it has failed, in the order in which
	// they are asked.
	Fallbacks []PlanFallback

	// TakesAlong is what becomes null when the field fails, which a nullable field alone does:
	// for that it is nil. A non-null field has one for each way that leads to it.
	TakesAlong []schema.Ancestor

	// WorstCase is the longest time that the field may take in any operation it can be part of.
	// An operation's budget is not counted, since it can only shorten that.
	WorstCase policy.WorstCase
}

// retries reports whether there may be a second attempt.
func (f PlanField) retries() bool {
	return f.Description.Attempts != 1 && (f.QueryAttempts != 0 || f.Idempotent)
}

// PlanFallback tells of a field's fallback.
type PlanFallback struct {
	// Origin is where it was given: `WithFallback("Query.orders")` or `preset "carrier"`.
	Origin string

	// Func is the name of its Go function, with the package. "": a stale value answers.
	Func string

	// MaxAge is how old a stale value may be. 0: it is none.
	MaxAge time.Duration

	// When lists what it answers for: errors, and the names of Go functions that decide. nil:
	// every failure but a cancelled request and a client's error.
	When []string
}

// planServer tells of a server whose check is long over.
func (e *Extension) planServer(made *server) []PlanField {
	c, _, _ := e.look(made.executable) // there was no mistake, and warnings were given
	return c.plan(made)
}

// plan tells of the server's fields that have policies, but those that are known to be plain data.
func (c *check) plan(made *server) []PlanField {
	var list []PlanField
	for _, f := range c.fields {
		has, bound := made.fields[fieldKey{f.Object, f.Name}], c.generated.binding(f)
		if has == nil || bound.isData() {
			continue
		}
		planned := PlanField{
			Coordinate: f.Coordinate(), Origin: f.Origin, ByType: !f.Explicit && !bound.callable(),
			LooksLikeData: bound.source == sourceData,
			Policy:        has.policy.Name(), Idempotent: f.Idempotent, Description: has.policy.Describe(),
			TakesAlong: c.ancestry.Nullable(f),
		}
		planned.HookedIn = "middleware"
		if has.guarded {
			planned.HookedIn = "guard"
		}
		if c.reach.inQueries(f.Object) {
			planned.QueryAttempts = planned.Description.Attempts
		}
		if c.reach.mutated[f.Object] {
			planned.MutationAttempts = 1
			if f.Idempotent {
				planned.MutationAttempts = planned.Description.Attempts
			}
		}
		planned.WorstCase = planned.Description.WorstCase(planned.retries())
		if planned.Description.Fallback {
			c.planFallbacks(&planned)
		}
		list = append(list, planned)
	}
	return list
}

// planFallbacks fills in the fallbacks.
func (e *Extension) planFallbacks(f *PlanField) {
	if kept, ok := e.stale[f.Coordinate]; ok {
		f.Fallbacks = append(f.Fallbacks, PlanFallback{
			Origin: fmt.Sprintf("WithStale(%q)", f.Coordinate), MaxAge: kept.MaxAge, When: kept.when,
		})
	}
	if given, ok := e.fallbacks[f.Coordinate]; ok {
		f.Fallbacks = append(f.Fallbacks, PlanFallback{
			Origin: fmt.Sprintf("WithFallback(%q)", f.Coordinate), Func: given.name, When: given.when,
		})
	}
	if len(f.Fallbacks) > 0 {
		f.Description.Settings = slices.DeleteFunc(f.Description.Settings, isFallback)
		return
	}
	var ofPolicy PlanFallback
	for _, s := range f.Description.Settings {
		name := strings.TrimPrefix(fmt.Sprint(s.Value), "func ")
		switch s.Path {
		case "fallback.func":
			ofPolicy.Origin, ofPolicy.Func = s.Origin, name
		case "fallback.fallbackIf":
			ofPolicy.When = []string{name}
		}
	}
	f.Fallbacks = []PlanFallback{ofPolicy}
}

func isFallback(s policy.Setting) bool { return strings.HasPrefix(s.Path, "fallback.") }
