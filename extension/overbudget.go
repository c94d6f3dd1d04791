package extension

import (
	"fmt"

	"github.com/gqlresilience/gqlresilience/schema"
)

// overBudget tells of a field with a policy that plans for more time than an operation has. What has
// no limit of its own is left to the operation's on purpose, unless that keeps retries from coming.
// Waits that a dependency asks for by Retry-After are not planned.
func (c *check) overBudget(made *server) func(schema.Field) string {
	planned := map[string]PlanField{}
	for _, f := range c.plan(made) {
		planned[f.Coordinate] = f
	}
	limit := c.budget.Timeout
	return func(f schema.Field) string {
		if _, ok := c.protected[f.Coordinate()]; !ok {
			return ""
		}
		p := planned[f.Coordinate()]
		unbounded, timeout := p.WorstCase.Unbounded != "", p.Description.Timeout
		switch worst := p.WorstCase.WithoutRetryAfter; {
		case worst > limit:
			return fmt.Sprintf("may take %v, but the operation's budget is %v: what comes last is cut off", worst, limit)
		case unbounded && timeout > limit:
			return fmt.Sprintf("may take %v and more, but the operation's budget is %v", timeout, limit)
		case unbounded && timeout == 0 && p.retries():
			return fmt.Sprintf("may take the whole operation's budget of %v with its first attempt, so that no retry comes: it has no timeout.duration", limit)
		default:
			return ""
		}
	}
}
