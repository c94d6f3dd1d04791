package extension

import (
	"fmt"
	"strings"

	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// exampleItems is how many items a warning calculates with, in however many lists.
const exampleItems = 100

// multiplied tells how many calls one query may make of a field with retries that lies under
// others with retries. A field's retries don't repeat what lies under it, which runs once the
// field has its value: attempts add up, and it is the lists in between that multiply them.
func (c *check) multiplied(n *nesting, f schema.Field) string {
	own := c.attempts(f)
	if own == 1 {
		return ""
	}
	// One call of a batch resolver answers for the whole list that it is right under, in its guard.
	above := n.above(f, c.generated.isBatch(f) && (c.generated.guarded[f.Coordinate()] || c.withoutCode()))
	if len(above) == 0 {
		return ""
	}
	calls, listed := 0, false
	var places []string
	for i, retried := range above {
		place, times := "under", 1
		if retried.listed {
			place, times, listed = "for each item under", exampleItems, true
		}
		if retried.attempts == policy.Unlimited || own == policy.Unlimited {
			calls = policy.Unlimited
		} else if calls != policy.Unlimited {
			calls = max(calls, retried.attempts+times*own)
		}
		if i < mostListed {
			places = append(places, fmt.Sprintf("%s %s, with up to %s", place, n.fields[retried.field].Coordinate(), count(retried.attempts)))
		}
	}
	if more := len(above) - len(places); more > 0 {
		places = append(places, fmt.Sprintf("%d more", more))
	}
	with := ""
	if listed {
		with = fmt.Sprintf(" with %d such items in all", exampleItems)
	}
	return fmt.Sprintf("up to %s attempts, %s: one query%s may make %s calls; WithOperationBudget can limit the retries",
		count(own), strings.Join(places, ", and "), with, count(calls))
}

// attempts is how many attempts at the field there may be in operations that may retry it.
func (c *check) attempts(f schema.Field) int {
	made, ok := c.protected[f.Coordinate()]
	if !ok || !c.isRetried(f) {
		return 1
	}
	return made.Attempts
}

// isRetried reports whether there are operations that may retry the field.
func (c *check) isRetried(f schema.Field) bool { return f.Idempotent || c.reach.inQueries(f.Object) }

// count is n in words of a message.
func count(n int) string {
	if n == policy.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}
