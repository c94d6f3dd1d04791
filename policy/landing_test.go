package policy_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

// sprungContext calls something whenever it is asked for its error.
type sprungContext struct {
	context.Context
	spring func()
}

func (c sprungContext) Err() error {
	c.spring()
	return c.Context.Err()
}

// The attempt returns, and is asked for its end, between the moment of its abandonment and the verdict.
func TestAnAttemptThatReturnsJustAfterItWasAbandonedStillEndedForTheReasonThatItWasAbandonedFor(t *testing.T) {
	for name, c := range map[string]struct {
		caller time.Duration
		want   error
	}{
		"its time was up":          {time.Minute, policy.ErrTimeout},
		"the caller's time was up": {500 * time.Millisecond, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, registry := newPolicy(t, policy.Spec{Timeout: timeoutSpec(time.Second, policy.Enforced)})
				caller, cancel := context.WithTimeout(t.Context(), c.caller)
				defer cancel()
				land, kept := make(chan struct{}), make(chan context.Context, 1)
				landed := false
				err := run(sprungContext{caller, func() {
					if registry.Abandoned() == 0 || landed {
						return
					}
					landed = true
					close(land)
					require.NoError(t, registry.Wait(context.Background()))
					_ = (<-kept).Err()
				}}, p, func(ctx context.Context) (string, error) {
					kept <- ctx
					<-land
					return "late", nil
				})
				assert.ErrorIs(t, err, c.want)
				if !landed {
					close(land)
				}
			})
		})
	}
}
