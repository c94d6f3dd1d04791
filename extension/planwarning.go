package extension

import (
	"fmt"
	"strings"
)

// planWarnings tells of the server's fields that plan for more time than an operation has. What has no limit
// of its own is left to the operation's on purpose, unless that keeps retries from coming. Waits
// that a dependency asks for by Retry-After are not planned.
func (e *Extension) planWarnings(made *server) (warnings []string) {
	if e.budget == nil || e.budget.Timeout == 0 {
		return nil
	}
	limit := e.budget.Timeout
	for _, f := range e.planServer(made) {
		where := f.Origin
		if !strings.Contains(where, f.Coordinate) {
			where += ": " + f.Coordinate
		}
		warn := func(format string, args ...any) {
			warnings = append(warnings, where+": "+fmt.Sprintf(format, args...))
		}
		unbounded, timeout := f.WorstCase.Unbounded != "", f.Description.Timeout
		switch worst := f.WorstCase.WithoutRetryAfter; {
		case worst > limit:
			warn("may take %v, but the operation's budget is %v: what comes last is cut off", worst, limit)
		case unbounded && timeout > limit:
			warn("may take %v and more, but the operation's budget is %v", timeout, limit)
		case unbounded && timeout == 0 && f.retries():
			warn("may take the whole operation's budget of %v with its first attempt, so that no retry comes: it has no timeout.duration", limit)
		}
	}
	return warnings
}

// retries reports whether there may be a second attempt.
func (f PlanField) retries() bool {
	return f.Description.Attempts != 1 && (f.QueryAttempts != 0 || f.Idempotent)
}
