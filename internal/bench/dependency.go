package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gqlresilience/gqlresilience/internal/bench/graph"
)

var errDown = errors.New("connection refused")

// dependency is what the resolvers of a case ask. Its answer tells that it was really asked.
type dependency struct {
	answer *int
	ask    func(context.Context) (*int, error)

	derives bool // contexts, from the attempt's

	asked, attempts int // how often a call has asked it, and has to. attempts 0: nobody counts, for several may call
}

// A newDependency gives what undoes it to the stand.
type newDependency func(*stand) *dependency

// resolver returns one that has n items and asks the dependency.
func (d *dependency) resolver(n int) *graph.Resolver {
	r := graph.NewResolver(n)
	r.Guarded, r.Resolved = d.ask, d.ask
	return r
}

// check is an error unless the dependency's answer came back, after as many attempts as it takes.
func (d *dependency) check(value any, err error) error {
	if err != nil {
		return err
	}
	if answer, ok := value.(*int); !ok || answer != d.answer {
		return fmt.Errorf("the answer is %v, not the dependency's", value)
	}
	if d.attempts == 0 {
		return nil
	}
	if d.asked != d.attempts {
		return fmt.Errorf("the dependency was asked %d times, not %d", d.asked, d.attempts)
	}
	d.asked = 0
	return nil
}

// idle does nothing.
func idle(*stand) *dependency {
	d := &dependency{answer: new(7)}
	d.ask = func(context.Context) (*int, error) { return d.answer, nil }
	return d
}

// deep uses the stack as what calls anything does: gqlgen's goroutines have a small one, which grows
// then, with or without a policy.
func deep(*stand) *dependency {
	d := &dependency{answer: new(7)}
	d.ask = func(context.Context) (*int, error) {
		if useStack(byte(*d.answer)) == 0 {
			return nil, errDown
		}
		return d.answer, nil
	}
	return d
}

//go:noinline
func useStack(b byte) (sum byte) {
	var used [2048]byte
	for i := range used {
		used[i] = b
	}
	for _, b := range used {
		sum |= b
	}
	return sum
}

// flaky fails once in each call.
func flaky(*stand) *dependency {
	d := &dependency{answer: new(7), attempts: 2}
	d.ask = func(context.Context) (*int, error) {
		if d.asked++; d.asked == 1 {
			return nil, errDown
		}
		return d.answer, nil
	}
	return d
}

// cancels derives a context, as what has work to give up does.
func cancels(*stand) *dependency { return deriving(context.WithCancel) }

// deadlines derives a context with a time limit, as many clients do for themselves.
func deadlines(*stand) *dependency {
	return deriving(func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Minute)
	})
}

func deriving(derive func(context.Context) (context.Context, context.CancelFunc)) *dependency {
	d := &dependency{answer: new(7), derives: true}
	d.ask = func(ctx context.Context) (*int, error) {
		ctx, cancel := derive(ctx)
		defer cancel()
		return d.answer, ctx.Err()
	}
	return d
}

// overHTTP is on loopback, behind a connection that is kept alive.
func overHTTP(t *stand) *dependency {
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "7")
	}))
	t.cleanup(func() error { remote.Close(); return nil })
	d := &dependency{answer: new(7), derives: true}
	d.ask = func(ctx context.Context) (*int, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, remote.URL, nil)
		if err != nil {
			return nil, err
		}
		response, err := remote.Client().Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != "7" {
			return nil, fmt.Errorf("the body is %q: %w", body, err)
		}
		return d.answer, nil
	}
	return d
}

// untouched must not be asked.
func untouched(*stand) *dependency {
	return &dependency{ask: func(context.Context) (*int, error) {
		return nil, errors.New("the dependency was asked")
	}}
}
