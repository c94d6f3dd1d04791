package dashboard

import (
	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/internal/label"
	"github.com/gqlresilience/gqlresilience/policy"
)

// got is what a caller got.
type got int

const (
	gotAnswer got = iota
	gotFallback
	gotTimeout
	gotCircuitOpen
	gotBulkheadFull
	gotRateLimited
	gotError // of another sort
	gotClientError
	gotCancelled
	sorts // how many there are
)

// gotNames are what the snapshot calls them: those of errors with a code by the code, as it is unless
// extension.WithErrorCodes sets another.
var gotNames = [sorts]string{
	"answer", "fallback", gqlerrors.CodeTimeout, gqlerrors.CodeCircuitOpen, gqlerrors.CodeBulkheadFull,
	gqlerrors.CodeRateLimited, "error", "clientError", "cancelled",
}

func (g got) String() string { return gotNames[g] }

// problem reports whether the dependency, or the policy that protects it, is why the caller got no answer of it.
func (g got) problem() bool { return g >= gotFallback && g <= gotError }

// gotBy is what the caller got whose call has ended.
func gotBy(e policy.Event) got {
	switch e.Outcome {
	case policy.OutcomeSuccess:
		return gotAnswer
	case policy.OutcomeFallback:
		return gotFallback
	case policy.OutcomeClientError:
		return gotClientError
	case policy.OutcomeCancelled:
		return gotCancelled
	}
	code := label.Code(e.Err)
	for g := gotTimeout; g < gotError; g++ {
		if code == gotNames[g] {
			return g
		}
	}
	return gotError
}
