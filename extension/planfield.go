package extension

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

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

	// ByType: it is annotated by its object type alone, and runs under the policy only if it
	// has a resolver or a bound method. That can't be told from a schema.
	ByType bool

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

	// Description tells the stages, with every setting in force and where it came from.
	Description policy.Description

	// Fallback is who answers for the field when it has failed; nil: nobody.
	Fallback *PlanFallback

	// WorstCase is the longest time that the field may take in any operation it can be part of.
	// An operation's budget is not counted, since it can only shorten that.
	WorstCase policy.WorstCase
}

// PlanFallback tells of a field's fallback.
type PlanFallback struct {
	// Origin is where it was given: `WithFallback("Query.orders")` or `preset "carrier"`.
	Origin string

	// Func is the name of its Go function, with the package.
	Func string

	// Answers lists what it is asked about: errors, and the names of Go functions that decide.
	// nil: every failure but a cancelled request and a client's error.
	Answers []string
}

// planFields returns those of fields that have policies.
func (e *Extension) planFields(s *ast.Schema, fields []schema.Field, made map[fieldKey]*field) []PlanField {
	queried := reachable(s, s.Query)
	mutated := reachable(s, s.Mutation, s.Subscription)
	var list []PlanField
	for _, f := range fields {
		has := made[fieldKey{f.Object, f.Name}]
		if has == nil {
			continue
		}
		told := PlanField{
			Coordinate: f.Coordinate(), Origin: f.Origin, ByType: !f.Explicit,
			Policy: has.policy.Name(), Idempotent: f.Idempotent, Description: has.policy.Describe(),
		}
		told.HookedIn = "middleware"
		if has.guarded {
			told.HookedIn = "guard"
		}
		// No operation's selections lead to Entity, whose fields federation calls in queries.
		if queried[f.Object] || !mutated[f.Object] {
			told.QueryAttempts = told.Description.Attempts
		}
		if mutated[f.Object] {
			told.MutationAttempts = 1
			if f.Idempotent {
				told.MutationAttempts = told.Description.Attempts
			}
		}
		told.WorstCase = told.Description.WorstCase(told.QueryAttempts > 0 || f.Idempotent)
		told.Fallback = e.planFallback(&told)
		list = append(list, told)
	}
	return list
}

// reachable returns the object types that fields of the roots can lead to, the roots included.
func reachable(s *ast.Schema, roots ...*ast.Definition) map[string]bool {
	found := map[string]bool{}
	var visit func(definition *ast.Definition)
	visit = func(definition *ast.Definition) {
		if definition == nil || found[definition.Name] {
			return
		}
		found[definition.Name] = true
		if definition.IsAbstractType() {
			for _, possible := range s.PossibleTypes[definition.Name] {
				visit(possible)
			}
			return
		}
		for _, f := range definition.Fields {
			visit(s.Types[f.Type.Name()])
		}
	}
	for _, root := range roots {
		visit(root)
	}
	return found
}

// planFallback tells of the field's fallback, nil if it has none. In the field's settings it
// puts what was given to WithFallback in place of what that has made of it.
func (e *Extension) planFallback(of *PlanField) *PlanFallback {
	if !of.Description.Fallback {
		return nil
	}
	told := &PlanFallback{}
	given, byOption := e.fallbacks[of.Coordinate]
	for i := range of.Description.Settings {
		setting := &of.Description.Settings[i]
		if byOption && strings.HasPrefix(setting.Path, "fallback.") {
			setting.Origin = `WithFallback("` + of.Coordinate + `")`
		}
		switch setting.Path {
		case "fallback.func":
			if byOption {
				setting.Value = "func " + given.name
			}
			told.Origin = setting.Origin
			told.Func = strings.TrimPrefix(setting.Value.(string), "func ")
		case "fallback.fallbackIf":
			told.Answers = []string{strings.TrimPrefix(setting.Value.(string), "func ")}
			if byOption {
				told.Answers = given.answers
				setting.Value = strings.Join(given.answers, ", or ")
			}
		}
	}
	return told
}
