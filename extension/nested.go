package extension

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// exampleItems is how many items a warning calculates with, in however many lists.
const exampleItems = 100

// multiplied tells how many calls one query may make of a field with retries that lies under
// others with retries. A field's retries don't repeat what lies under it, which runs once the
// field has its value: attempts add up, and it is the lists in between that multiply them.
func (c *check) multiplied(ancestry *schema.Ancestry, f schema.Field) string {
	own := c.attempts(f)
	if own == 1 {
		return ""
	}
	above := c.retriedAbove(ancestry, f)
	if len(above) == 0 {
		return ""
	}
	calls, listed := 0, false
	var places []string
	for _, coordinate := range slices.Sorted(maps.Keys(above)) {
		retried := above[coordinate]
		place, times := "under", 1
		if retried.listed {
			place, times, listed = "for each item under", exampleItems, true
		}
		if retried.attempts == policy.Unlimited || own == policy.Unlimited {
			calls = policy.Unlimited
		} else if calls != policy.Unlimited {
			calls = max(calls, retried.attempts+times*own)
		}
		places = append(places, fmt.Sprintf("%s %s, with up to %s", place, coordinate, count(retried.attempts)))
	}
	with := ""
	if listed {
		with = fmt.Sprintf(" with %d such items in all", exampleItems)
	}
	return fmt.Sprintf("up to %s attempts, %s: one query%s may make %s calls; WithOperationBudget can limit the retries",
		count(own), strings.Join(places, ", and "), with, count(calls))
}

// retried is a field with retries above another.
type retried struct {
	attempts int
	listed   bool // there is a list in between: the lower field may run many times
}

// retriedAbove returns the nearest fields with retries above f, by coordinate.
func (c *check) retriedAbove(ancestry *schema.Ancestry, f schema.Field) map[string]retried {
	type step struct {
		object string
		listed bool
		far    bool // from f: there is another field in between
	}
	fields := map[string]schema.Field{}
	for _, protected := range c.fields {
		fields[protected.Coordinate()] = protected
	}
	// One call of a batch resolver answers for the whole list that it is right under, in its guard.
	batched := c.generated.isBatch(f) && (c.generated.guarded[f.Coordinate()] || c.withoutCode())
	found, seen := map[string]retried{}, map[step]bool{}
	var climb func(step)
	climb = func(at step) {
		if seen[at] || at.far && at.object == f.Object { // not once around a circle of types
			return
		}
		seen[at] = true
		for _, parent := range ancestry.Parents(at.object) {
			list := parent.Definition.Type
			if batched && !at.far && list.Elem != nil {
				list = list.Elem
			}
			listed := at.listed || list.Elem != nil
			above, protected := fields[parent.Coordinate()]
			attempts := 1
			if protected {
				attempts = c.attempts(above)
			}
			switch {
			case attempts == 1:
				climb(step{parent.Object, listed, true})
			case isMutating(c.schema, above) && !f.Idempotent: // then f has no retries
			default:
				known := found[parent.Coordinate()]
				found[parent.Coordinate()] = retried{attempts, listed || known.listed}
			}
		}
	}
	climb(step{object: f.Object})
	return found
}

// attempts is how many attempts at the field there may be in operations that may retry it.
func (c *check) attempts(f schema.Field) int {
	made, ok := c.protected[f.Coordinate()]
	if !ok || isMutating(c.schema, f) && !f.Idempotent {
		return 1
	}
	return made.Attempts
}

// count is n in words of a message.
func count(n int) string {
	if n == policy.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}
