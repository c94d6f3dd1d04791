package policy

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// gates are the breakers, the bulkheads or the limiters of a registry, by name. A gate is
// configured in one place; any number of policies may name it.
type gates[S, G any] struct {
	stage string // as messages name it
	make  func(name string, settings S) G
	same  func(a, b S) bool
	all   map[string]*gate[S, G]
}

// gate is one of them, with the claim that it was made for.
type gate[S, G any] struct {
	claim[S]
	value G
}

// claim is one policy's request for a gate.
type claim[S any] struct {
	name       string
	configures bool // and does not merely name it
	origin     string
	settings   S
	from       merged // what the settings were made from
}

// check reports the claims that contradict what is there or one another. Only where they are
// complete can it tell that a gate which several name is configured by none.
func (g *gates[S, G]) check(claims []claim[S], complete bool) []error {
	owners := map[string]claim[S]{}
	for name, there := range g.all {
		owners[name] = there.claim
	}
	var errs []error
	for _, c := range configuringFirst(claims) {
		owner, owned := owners[c.name]
		switch {
		case !owned:
			owners[c.name] = c
		case c.configures && !owner.configures: // by a policy made earlier
			errs = append(errs, fmt.Errorf("%s %q: %s configures it, but it is already in use by %s, which only names it: configure it there",
				g.stage, c.name, c.origin, owner.origin))
		case c.configures && (c.origin != owner.origin || !g.same(c.settings, owner.settings)):
			errs = append(errs, fmt.Errorf("%s %q: configured by %s and again by %s: configure it in one place and only name it in the other",
				g.stage, c.name, owner.origin, c.origin))
		case complete && !c.configures && !owner.configures && !g.same(c.settings, owner.settings):
			errs = append(errs, fmt.Errorf("%s %q: named by %s and by %s, whose settings for it differ: configure it in one of them",
				g.stage, c.name, owner.origin, c.origin))
		}
	}
	return errs
}

// makeMissing makes the gates that the claims, which check has passed, are the first to ask for.
func (g *gates[S, G]) makeMissing(claims []claim[S]) {
	for _, c := range configuringFirst(claims) {
		if _, ok := g.all[c.name]; !ok {
			g.all[c.name] = &gate[S, G]{claim: c, value: g.make(c.name, c.settings)}
		}
	}
}

// configuringFirst sorts those who configure a gate before those who only name it.
func configuringFirst[S any](claims []claim[S]) []claim[S] {
	return slices.SortedStableFunc(slices.Values(claims), func(a, b claim[S]) int {
		switch {
		case a.configures == b.configures:
			return 0
		case a.configures:
			return -1
		default:
			return 1
		}
	})
}

// byName iterates over the gates that exist when it is called, sorted by name.
func (g *gates[S, G]) byName() iter.Seq2[string, G] {
	names := slices.Sorted(maps.Keys(g.all))
	found := make([]G, len(names))
	for i, name := range names {
		found[i] = g.all[name].value
	}
	return func(yield func(string, G) bool) {
		for i, name := range names {
			if !yield(name, found[i]) {
				return
			}
		}
	}
}
