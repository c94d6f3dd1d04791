package extension

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gqlresilience/gqlresilience/schema"
)

// warnOfSettings warns about annotations and options that have no effect.
func (c *check) warnOfSettings() {
	for _, f := range c.fields {
		retry := c.Extension.fields[f.Coordinate()].Spec.Retry
		if retry != nil && isOn(retry.Enabled) && !c.isRetried(f) {
			c.warn("WithField(%q): retry has no effect: the field is not idempotent", f.Coordinate())
		}
	}
	c.warnEach(func(f schema.Field) string { return c.idle(f, false) })
	c.guessEach(func(f schema.Field) string { return c.idle(f, true) })
	c.warnOfDataTypes()
	c.warnOfFallbackTypes()
}

// idle tells of a field whose own annotation or option never has an effect, be that known or
// guessed.
func (c *check) idle(f schema.Field, guessed bool) string {
	bound := c.generated.binding(f)
	if !f.Explicit || bound.source != sourceData || bound.guessed != guessed {
		return ""
	}
	looks := ""
	if guessed {
		looks = "looks like "
	}
	return looks + plainData + "annotation or option does nothing; " + resolverFor(f.Object, f.Name)
}

// plainData is why what follows it is idle.
const plainData = "plain data in Go, without a resolver or bound method: no policy runs, so the "

// resolverFor tells what makes a policy run.
func resolverFor(object, field string) string {
	return fmt.Sprintf("remove it, or have a resolver generated, in gqlgen.yml by models: {%s: {fields: {%s: {resolver: true}}}}", object, field)
}

// warnOfDataTypes warns about annotations of types that have nothing but plain data.
func (c *check) warnOfDataTypes() {
	origins, served, guessed := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, f := range c.fields {
		if !f.Explicit {
			origins[f.Object] = f.Origin
		}
		switch bound := c.generated.binding(f); {
		case bound.source != sourceData:
			served[f.Object] = true
		case bound.guessed:
			guessed[f.Object] = true
		}
	}
	for _, object := range slices.Sorted(maps.Keys(origins)) {
		switch {
		case served[object]:
		case guessed[object]:
			c.guess("%s: all fields look like %sannotation does nothing; %s", origins[object], plainData, resolverFor(object, "…"))
		default:
			c.warn("%s: all fields are %sannotation does nothing; %s", origins[object], plainData, resolverFor(object, "…"))
		}
	}
}

// warnOfPolicies warns about what fields with a policy do that is rarely meant.
func (c *check) warnOfPolicies(made *server) {
	c.protect(made)
	c.warnOfForgottenGuards()
	c.warnEach(func(f schema.Field) string {
		if policy, ok := c.protected[f.Coordinate()]; !ok || policy.Fallback || f.Object == rootName(c.schema.Subscription) {
			return "" // a stream that does not start is all of its response, nullable or not
		}
		ancestors := c.ancestry.Nullable(f)
		if len(ancestors) == 0 {
			return ""
		}
		return fmt.Sprintf("non-null without a fallback: a failure makes null of %s; make it nullable, or add WithFallback",
			listed(ancestors))
	})
	c.warnEach(c.limits)
	if c.budget == nil || c.budget.Retries == nil {
		nesting := newNesting(c)
		c.warnEach(func(f schema.Field) string { return c.multiplied(nesting, f) })
	}
	if c.budget != nil && c.budget.Timeout > 0 {
		c.warnEach(c.overBudget(made))
	}
}

// warnOfForgottenGuards warns if resolvers that have guards generated for them were given to the
// server without.
func (c *check) warnOfForgottenGuards() {
	resolved := func(f schema.Field) bool {
		_, ok := c.protected[f.Coordinate()]
		return ok && c.generated.binding(f).source == sourceResolver
	}
	if c.generated.lacksGuards() && slices.ContainsFunc(c.fields, resolved) {
		c.warn("guards are generated, but the server's resolvers have none, so policies run in the field middleware: " +
			"give NewExecutableSchema what Guard returns")
	}
}

// limits tells of a field without a guard what would be otherwise in one.
func (c *check) limits(f schema.Field) string {
	if _, ok := c.protected[f.Coordinate()]; !ok || c.generated.guarded[f.Coordinate()] || c.withoutCode() {
		return ""
	}
	bound := c.generated.binding(f)
	switch {
	case c.generated.hasGuards && bound.source == sourceMethod && f.Explicit:
		return "bound to a Go method, which can't have a guard as other fields have: the policy runs in the field middleware; give it a resolver to have it guarded"
	case c.generated.hasGuards && bound.source == sourceResolver:
		return "without the guard that other fields have: the policy runs in the field middleware; generate guards anew, with -guard for a field without annotation"
	case c.generated.isBatch(f):
		return "a batch field without a guard: a batch of n items is n calls of the policy, and a retry gets the batch's first answer again; guard it"
	}
	if names := c.generated.runtimeDirectives(f); len(names) > 0 {
		return fmt.Sprintf("@%s runs inside each attempt, where a denial without a client error's code is retried and counted as the resolver's failure; guard the field, or give denials a code such as FORBIDDEN",
			strings.Join(names, ", @"))
	}
	return ""
}

func (c *check) warn(format string, args ...any) {
	c.warnings = append(c.warnings, warning{text: fmt.Sprintf(format, args...)})
}

// guess warns about what may be otherwise, so that [Strict] makes no error of it.
func (c *check) guess(format string, args ...any) {
	c.warnings = append(c.warnings, warning{text: fmt.Sprintf(format, args...), guessed: true})
}

// texts are those of the warnings, nil if there are none.
func (c *check) texts() (texts []string) {
	for _, w := range c.warnings {
		texts = append(texts, w.text)
	}
	return texts
}

// warnEach adds a warning for each field that text says something about; for fields that have
// the annotation of their type and the text in common, one.
func (c *check) warnEach(text func(schema.Field) string) { c.each(text, c.warn) }

// guessEach is warnEach for what may be otherwise.
func (c *check) guessEach(text func(schema.Field) string) { c.each(text, c.guess) }

func (c *check) each(text func(schema.Field) string, warn func(format string, args ...any)) {
	type group struct{ origin, text string }
	var order []group
	names := map[group][]string{}
	for _, f := range c.fields {
		says := text(f)
		if says == "" {
			continue
		}
		g := group{f.Origin, says}
		if names[g] == nil {
			order = append(order, g)
		}
		names[g] = append(names[g], f.Coordinate())
	}
	for _, g := range order {
		warn("%s: %s", located(g.origin, names[g]...), g.text)
	}
}

// located is the origin with the fields that it is about, but an option names its field itself.
func located(origin string, coordinates ...string) string {
	if strings.Contains(origin, strconv.Quote(coordinates[0])) {
		return origin
	}
	return origin + ": " + listed(coordinates)
}

// mostListed is how many names a warning lists.
const mostListed = 3

// listed is such as "Order.a, Order.b, and 3 more".
func listed[T any](all []T) string {
	var names []string
	for i, each := range all {
		if i == mostListed {
			names = append(names, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		names = append(names, fmt.Sprint(each))
	}
	return strings.Join(names, ", ")
}
