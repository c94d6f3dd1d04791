package pause_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/example/pause"
)

func TestPauseEndsAfterItsDurationOrWithItsContext(t *testing.T) {
	for behaviour, row := range map[string]struct {
		limit, duration time.Duration
		took            time.Duration
		err             error
	}{
		"no duration":             {time.Minute, 0, 0, nil},
		"the duration ends first": {time.Minute, time.Second, time.Second, nil},
		"the context ends first":  {time.Second, time.Minute, time.Second, context.DeadlineExceeded},
		"the context has ended":   {0, time.Minute, 0, context.DeadlineExceeded},
		"nothing is left of both": {0, 0, 0, context.DeadlineExceeded},
	} {
		t.Run(behaviour, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), row.limit)
				defer cancel()
				start := time.Now()

				assert.Equal(t, row.err, pause.For(ctx, row.duration))
				assert.Equal(t, row.took, time.Since(start))
			})
		})
	}
}
